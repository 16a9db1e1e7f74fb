import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { runCommand } from '../../infra/run-command.js';
import { freePorts } from '../support/ports.js';
import { eventually, type Product, sumOfSeries } from '../support/product.js';
import { shortHistory } from '../support/short-recording.js';
import { docker, run } from './docker.js';
import type { Images } from './images.js';
import { composeFile, type ServerName } from './settings.js';

export const servers = ['kafka', 'schema-registry', 'clickhouse', 'redis'] as const;
export const processes = ['processors', 'ingest', 'api', 'stream-gateway'] as const;
export type Service = (typeof servers)[number] | (typeof processes)[number];

const PROJECT = 'oddstream-test';
const WRITER = { user: 'oddstream', password: 'password of the writer' };
const ADMIN_PORT_PROCESSORS = 9102;
const FEW_FILES = { nofile: { soft: 4096, hard: 4096 } };
const KEY_NAME = 'first-client';

/** The system of infra/deploy/compose.yaml without Prometheus and Grafana, on free ports of this machine. */
export interface ComposeSystem extends Pick<Product, 'get' | 'sql' | 'readyz' | 'metric'> {
  readonly socket: string;
  /** Variables of compose.yaml, which the next `compose` reads. */
  readonly variables: Record<string, string>;
  /** Runs Docker Compose with the project's files. */
  compose(...args: string[]): Promise<string>;
  /** `up` of all services, or of some of them without those that they need; resolves when Compose has started them. */
  up(...only: Service[]): Promise<void>;
  /** Runs another program of the image with the settings of a service; its output. */
  program(service: Service, ...command: string[]): Promise<string>;
  /** Id of the service's container. */
  container(service: Service): Promise<string>;
  untilHealthy(): Promise<void>;
  /** A key of the growth plan, created by the first call. */
  key(): Promise<string>;
  /** Removes containers, networks and volumes. */
  dispose(): Promise<void>;
}

/**
 * The command of Docker Compose: the plugin, or version 1 of some distributions, which rejects the line `name:` only.
 */
async function composeCommand(): Promise<{
  readonly command: readonly string[];
  readonly edit: (text: string) => string;
}> {
  if ((await runCommand('docker', ['compose', 'version'])).code === 0)
    return { command: ['docker', 'compose'], edit: (text) => text };
  if ((await runCommand('docker-compose', ['version'])).code === 0)
    return { command: ['docker-compose'], edit: (text) => text.replace(/^name: .*$/m, '') };
  throw new Error('Docker Compose is needed: the plugin of docker, or docker-compose');
}

export async function createComposeSystem(images: Images): Promise<ComposeSystem> {
  const { command, edit } = await composeCommand();
  const [api, gateway, orderbook, clickhouse, admin] = (await freePorts(5)) as [number, number, number, number, number];
  const of = async (name: ServerName) => images.server(name);
  const [kafka, registry, store, redis] = await Promise.all([
    of('kafka'),
    of('schema-registry'),
    of('clickhouse'),
    of('redis'),
  ]);
  const variables: Record<string, string> = {
    ODDSTREAM_IMAGE: await images.product(),
    KAFKA_IMAGE: kafka.name,
    SCHEMA_REGISTRY_IMAGE: registry.name,
    CLICKHOUSE_IMAGE: store.name,
    REDIS_IMAGE: redis.name,
    ...(registry.isStandIn && { SCHEMA_REGISTRY_URL: 'http://schema-registry:8081/apis/ccompat/v7' }),
    API_HOST_PORT: String(api),
    GATEWAY_HOST_PORT: String(gateway),
    ORDERBOOK_HOST_PORT: String(orderbook),
    CLICKHOUSE_HOST_PORT: String(clickhouse),
    ODDSTREAM_WRITER_PASSWORD: WRITER.password,
    ODDSTREAM_READER_PASSWORD: 'password of the reader',
    ODDSTREAM_ANALYST_PASSWORD: 'password of the analyst',
    GRAFANA_PASSWORD: 'password of grafana',
    ADDRESS_SECRET: 'a secret of some length',
    RECORDED_HISTORY_ONLY: '1',
  };
  const recording = shortHistory().RECORDED_DIR;
  // The user of the image reads it.
  chmodSync(recording, 0o755);
  const folder = mkdtempSync(join(tmpdir(), 'oddstream-compose-'));
  const engine = ['chdb', '@chdb'].map((name) => `${resolve('node_modules', name)}:/app/node_modules/${name}:ro`);
  // Services that others wait for.
  const soon = { healthcheck: { interval: '3s' } };
  // What the tests change: a shorter recording, a port for the readiness of processors, shorter waits, and the files of stand-ins.
  const override = {
    services: {
      kafka: soon,
      ingest: {
        environment: { RECORDED_DIR: '/recording' },
        volumes: [`${recording}:/recording:ro`],
      },
      processors: { ports: [`127.0.0.1:${admin}:${ADMIN_PORT_PROCESSORS}`] },
      // More open files than a daemon may allow that was started here.
      'stream-gateway': { ulimits: FEW_FILES },
      clickhouse: { ...soon, ulimits: FEW_FILES, ...(store.isStandIn && { init: true, volumes: engine }) },
      'schema-registry': { ...soon, ...(registry.isStandIn && { volumes: ['registry:/var/lib/registry'] }) },
    },
    volumes: { registry: {} },
  };
  const files = [
    ['compose.yaml', edit(readFileSync(composeFile, 'utf8'))],
    ['override.yaml', JSON.stringify(override)],
  ].map(([name, text]) => {
    const path = join(folder, name as string);
    writeFileSync(path, text as string);
    return path;
  });
  const [program, ...first] = [...command, '--project-name', PROJECT, '--project-directory', dirname(composeFile)];
  const options = files.flatMap((file) => ['--file', file]);
  let createdKey: Promise<string> | undefined;

  const system: ComposeSystem = {
    socket: `ws://127.0.0.1:${gateway}/ws`,
    variables,
    compose: (...args) => run(program as string, [...first, ...options, ...args], variables),
    async up(...only) {
      const services = only.length === 0 ? [...servers, ...processes] : ['--no-deps', ...only];
      await system.compose('up', '-d', '--no-build', ...services);
    },
    program: (service, ...args) => system.compose('run', '--rm', '-T', '--no-deps', service, ...args),
    container: (service) => system.compose('ps', '--quiet', service),
    async untilHealthy() {
      for (const service of [...servers, ...processes]) {
        await eventually(
          `${service} to be healthy`,
          async () => {
            const id = await system.container(service);
            return (await docker('inspect', '--format', '{{.State.Health.Status}}', id)) === 'healthy';
          },
          120_000,
        );
      }
    },
    async get(path) {
      const response = await fetch(`http://127.0.0.1:${api}${path}`, { headers: { 'x-api-key': await system.key() } });
      return { status: response.status, headers: response.headers, body: await response.json() };
    },
    async sql<T>(query: string) {
      const response = await fetch(`http://127.0.0.1:${clickhouse}/?database=oddstream&default_format=JSONEachRow`, {
        method: 'POST',
        body: query,
        headers: { 'x-clickhouse-user': WRITER.user, 'x-clickhouse-key': WRITER.password },
      });
      const text = await response.text();
      if (!response.ok) throw new Error(text);
      return text
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as T);
    },
    async readyz() {
      const response = await fetch(`http://127.0.0.1:${admin}/readyz`, { signal: AbortSignal.timeout(5_000) });
      return (await response.json()) as Awaited<ReturnType<Product['readyz']>>;
    },
    async metric(_, name) {
      return sumOfSeries(await (await fetch(`http://127.0.0.1:${admin}/metrics`)).text(), name);
    },
    key() {
      createdKey ??= createKey(`http://127.0.0.1:${api}`).then(async (key) => {
        // The free plan cannot read trades.
        const [row] =
          (await system.program('processors', 'dist/infra/admin/main.js', 'find', KEY_NAME)).match(/^.*free.*$/m) ?? [];
        await system.program('processors', 'dist/infra/admin/main.js', 'set-plan', row?.split(/\s/)[0] ?? '', 'growth');
        return key;
      });
      return createdKey;
    },
    async dispose() {
      await system.compose('down', '--volumes', '--timeout', '5');
      rmSync(folder, { recursive: true, force: true });
    },
  };
  return system;
}

/** A key of the free plan, as the first client of the API creates it. */
async function createKey(api: string): Promise<string> {
  return eventually(
    'a key',
    async () => {
      const response = await fetch(`${api}/v1/keys`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ name: KEY_NAME }),
      });
      const { api_key: key, ...rest } = (await response.json()) as { api_key?: string };
      if (key === undefined) throw new Error(`${response.status} ${JSON.stringify(rest)}`);
      return key;
    },
    120_000,
  );
}
