import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Readiness } from '../../infra/telemetry/readiness.js';
import { freePorts } from './ports.js';
import { childOf } from './processes.js';

/** This file runs from tests/ (vitest) and from dist/tests/ (benchmarks): the project is the nearest folder with a package.json. */
function projectRoot(from: string): string {
  return existsSync(join(from, 'package.json')) ? from : projectRoot(dirname(from));
}
const root = projectRoot(dirname(fileURLToPath(import.meta.url)));
export const processNames = ['clickhouse', 'ingest', 'processors', 'stream', 'api', 'stream-gateway'] as const;
export type ProcessName = (typeof processNames)[number];

/** Output of the products of the running test by data directory, and whether they have ended. */
export const outputs = new Map<string, { text(): string; isStopped(): boolean }>();

/** Interval of requests that wait for the history: with 0.1 s, loading it takes 4 s of processor time more. */
export const LOADING_INTERVAL_MS = 1000;

/** Repeats until the result is not null, undefined or false; fails with the last result. */
export async function eventually<T>(
  what: string,
  check: () => Promise<T | null | undefined | false>,
  timeoutMs = 60_000,
  intervalMs = 100,
): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  let last: unknown;
  while (Date.now() < deadline) {
    try {
      const value = await check();
      if (value !== null && value !== undefined && value !== false) return value;
      last = value;
    } catch (error) {
      last = error;
    }
    await new Promise((resolve) => setTimeout(resolve, intervalMs));
  }
  throw new Error(
    `${what}: not within ${timeoutMs} ms (last: ${last instanceof Error ? last.message : JSON.stringify(last)})`,
  );
}

/** Labels and value of each series of the metric in the text of a metrics endpoint. */
function seriesIn(text: string, metric: string): [labels: string, value: number][] {
  const lines = text.split('\n').filter((line) => line.startsWith(`${metric}{`) || line.startsWith(`${metric} `));
  return lines.map((line) => {
    const space = line.lastIndexOf(' ');
    return [line.slice(metric.length, space), Number(line.slice(space + 1))];
  });
}

/** Sum over all labels of the metric; throws if the text has no series of that name. */
export function sumOfSeries(text: string, metric: string): number {
  const series = seriesIn(text, metric);
  if (series.length === 0) throw new Error(`there is no series of the metric ${metric}`);
  return series.reduce((sum, [, value]) => sum + value, 0);
}

export interface Product {
  readonly api: string;
  readonly socket: string;
  readonly orderbook: string;
  readonly clickhouse: string;
  /** Password of the embedded ClickHouse's user `oddstream`. */
  clickhousePassword(): string;
  readonly dataDir: string;
  readonly output: () => string;
  key(): string;
  /** Rows of a query over ClickHouse's HTTP interface. */
  sql<T = Record<string, unknown>>(query: string): Promise<T[]>;
  get(path: string): Promise<{ status: number; headers: Headers; body: unknown }>;
  pid(name: ProcessName): number | null;
  /** The supervisor process. */
  readonly supervisorPid: number;
  adminPort(name: ProcessName): number;
  /** Sum over all labels of a metric of that process; rejects while the process has no series of that name. */
  metric(name: ProcessName, metric: string): Promise<number>;
  /** Labels and value of each series of the metric; none if the process has not counted anything. */
  series(name: ProcessName, metric: string): Promise<[labels: string, value: number][]>;
  /** Response of `/readyz` of the admin server; rejects while the process is unreachable. */
  readyz(name: ProcessName): Promise<Readiness>;
  exited(): number | null;
  /** Sends SIGINT; resolves with the exit code. */
  stop(): Promise<{ code: number | null }>;
  /** Stops the product, and removes its data directory unless the test provided it. */
  dispose(): Promise<void>;
}

/**
 * Starts the product as `npm start` does after the build: the supervisor and its six processes, on free ports, with a separate data
 * directory. Needs `dist/` (the test command builds it).
 */
export async function startProduct(
  options: {
    env?: Record<string, string>;
    dataDir?: string;
    /** An external ClickHouse server instead of the embedded one. */
    clickhouse?: { readonly url: string; readonly user: string; readonly password: string };
  } = {},
): Promise<Product> {
  const [api, gateway, orderbook, clickhouse, ...admin] = await freePorts(10);
  const outside = options.clickhouse;
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), 'oddstream-e2e-'));
  const script = join(root, 'dist', 'infra', 'up', 'main.js');
  if (!existsSync(script)) throw new Error('dist/ is missing: run `npm run build` first');
  const child: ChildProcess = spawn(
    process.execPath,
    ['--enable-source-maps', '--disable-warning=ExperimentalWarning', script],
    {
      cwd: root,
      env: {
        ...process.env,
        ODDSTREAM_DATA: dataDir,
        ...(outside === undefined
          ? { CLICKHOUSE_EMBEDDED_PORT: String(clickhouse) }
          : { CLICKHOUSE_URL: outside.url, CLICKHOUSE_USER: outside.user, CLICKHOUSE_PASSWORD: outside.password }),
        API_PORT: String(api),
        GATEWAY_PORT: String(gateway),
        ORDERBOOK_PORT: String(orderbook),
        ADMIN_PORT_CLICKHOUSE: String(admin[0]),
        ADMIN_PORT_INGEST: String(admin[1]),
        ADMIN_PORT_PROCESSORS: String(admin[2]),
        ADMIN_PORT_STREAM: String(admin[3]),
        ADMIN_PORT_API: String(admin[4]),
        ADMIN_PORT_GATEWAY: String(admin[5]),
        ...options.env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  let output = '';
  child.stdout?.on('data', (chunk) => {
    output += chunk;
  });
  child.stderr?.on('data', (chunk) => {
    output += chunk;
  });
  outputs.set(dataDir, { text: () => output, isStopped: () => child.exitCode !== null || child.signalCode !== null });
  const apiUrl = `http://127.0.0.1:${api}`;
  const clickhouseUrl = outside?.url ?? `http://127.0.0.1:${clickhouse}`;
  const metricsOf = async (name: ProcessName) =>
    (await fetch(`http://127.0.0.1:${product.adminPort(name)}/metrics`)).text();
  const password = () => readFileSync(join(dataDir, 'clickhouse-password'), 'utf8').trim();
  const product: Product = {
    api: apiUrl,
    socket: `ws://127.0.0.1:${gateway}/ws`,
    orderbook: `ws://127.0.0.1:${orderbook}/ws`,
    clickhouse: clickhouseUrl,
    clickhousePassword: password,
    dataDir,
    output: () => output,
    key: () => readFileSync(join(dataDir, 'dev-key'), 'utf8').trim(),
    async sql<T>(query: string) {
      const response = await fetch(`${clickhouseUrl}/?database=oddstream&default_format=JSONEachRow`, {
        method: 'POST',
        body: query,
        headers: {
          'x-clickhouse-user': outside?.user ?? 'oddstream',
          'x-clickhouse-key': outside?.password ?? password(),
        },
      });
      const text = await response.text();
      if (response.status !== 200) throw new Error(text);
      return text
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as T);
    },
    async get(path) {
      const response = await fetch(apiUrl + path, { headers: { 'x-api-key': product.key() } });
      const text = await response.text();
      const json = response.headers.get('content-type')?.includes('json') === true;
      return { status: response.status, headers: response.headers, body: json ? JSON.parse(text) : text };
    },
    pid(name) {
      const scripts: Partial<Record<ProcessName, string>> = {
        clickhouse: 'infra/clickhouse/main.js',
        processors: 'processors/main.js tables',
        stream: 'processors/main.js stream',
      };
      return childOf(child.pid ?? -1, `/dist/${scripts[name] ?? `${name}/main.js`}`);
    },
    supervisorPid: child.pid ?? -1,
    adminPort: (name) => admin[processNames.indexOf(name)] ?? 0,
    metric: async (name, metric) => sumOfSeries(await metricsOf(name), metric),
    series: async (name, metric) => seriesIn(await metricsOf(name), metric),
    async readyz(name) {
      const response = await fetch(`http://127.0.0.1:${product.adminPort(name)}/readyz`, {
        signal: AbortSignal.timeout(5_000),
      });
      const state = (await response.json()) as Readiness;
      if (state.ready !== (response.status === 200)) throw new Error(`${response.status} for ${JSON.stringify(state)}`);
      return state;
    },
    exited: () => child.exitCode,
    async stop() {
      if (child.exitCode === null && child.signalCode === null) {
        const ended = new Promise((resolve) => child.once('exit', resolve));
        child.kill('SIGINT');
        await ended;
      }
      return { code: child.exitCode };
    },
    async dispose() {
      await product.stop();
      if (options.dataDir === undefined) rmSync(dataDir, { recursive: true, force: true });
    },
  };
  return product;
}

/** Resolves when the start-up text is printed; fails with the output when the supervisor ends before. */
export async function untilUp(product: Product, timeoutMs = 180_000): Promise<void> {
  await eventually(
    'the start-up text',
    async () => {
      if (product.exited() !== null) throw new Error(`the supervisor ended:\n${product.output()}`);
      return product.output().includes('Oddstream is up.');
    },
    timeoutMs,
  ).catch((error: unknown) => {
    throw new Error(`${error instanceof Error ? error.message : String(error)}\n${product.output().slice(-4000)}`);
  });
}

/** Resolves when the tables contain the complete history. */
export async function untilLoaded(product: Product, timeoutMs = 240_000): Promise<void> {
  await eventually('the history', async () => (await fetch(`${product.api}/readyz`)).status === 200, timeoutMs);
}
