import { type Config, reachableHost } from '../config/config.js';
import { type Child, createChild } from './child.js';
import type { Console } from './console.js';
import { portInUse, probe, waitFor } from './probe.js';
import { fatalMessage, parseReadiness, type ReadinessSummary, summarizeReadiness } from './readiness-summary.js';

export interface Service {
  readonly name:
    | 'clickhouse'
    | 'ingest'
    | 'processors'
    | 'stream'
    | 'api'
    | 'stream-gateway'
    | `stream-gateway-${number}`;
  readonly script: string;
  /** Arguments of the script. */
  readonly args?: readonly string[];
  readonly adminPort: number;
  /** Ports other than the admin port that must be free before it starts. */
  readonly ports: readonly { readonly host: string; readonly port: number; readonly variable: string }[];
  readonly env?: Readonly<Record<string, string>>;
}

/** The processes of the product in start order. With CLICKHOUSE_URL the tables are in an external server, and none is started. */
export function servicesOf(config: Config, dist: string): readonly Service[] {
  const { embedded } = config.clickhouse;
  const admin = config.ports.admin;
  const store: readonly Service[] =
    embedded === null
      ? []
      : [
          {
            name: 'clickhouse',
            script: `${dist}/infra/clickhouse/main.js`,
            adminPort: admin.clickhouse,
            ports: [{ host: embedded.host, port: embedded.port, variable: 'CLICKHOUSE_EMBEDDED_PORT' }],
            // libuv reads it once, before application code runs: one thread per engine session.
            env: { UV_THREADPOOL_SIZE: String(config.clickhouse.threads ?? 16) },
          },
        ];
  return [
    ...store,
    {
      name: 'processors',
      script: `${dist}/processors/main.js`,
      args: ['tables'],
      adminPort: admin.processors,
      ports: [],
      // glibc would keep the freed memory of a loaded history between smaller allocations: buffers of this size and larger are returned to the kernel.
      env: { MALLOC_MMAP_THRESHOLD_: '32768' },
    },
    // In a process of its own, subscribers do not wait for the tables.
    { name: 'stream', script: `${dist}/processors/main.js`, args: ['stream'], adminPort: admin.stream, ports: [] },
    { name: 'ingest', script: `${dist}/ingest/main.js`, adminPort: admin.ingest, ports: [] },
    {
      name: 'api',
      script: `${dist}/api/main.js`,
      adminPort: admin.api,
      ports: [{ host: config.host, port: config.ports.api, variable: 'API_PORT' }],
    },
    ...Array.from({ length: config.gatewayProcesses }, (_, index): Service => {
      const adminPort = admin.gateway === 0 ? 0 : admin.gateway + index;
      return {
        name: index === 0 ? 'stream-gateway' : `stream-gateway-${index + 1}`,
        script: `${dist}/stream-gateway/main.js`,
        adminPort,
        ports:
          index > 0
            ? []
            : [
                { host: config.host, port: config.ports.gateway, variable: 'GATEWAY_PORT' },
                { host: config.host, port: config.ports.orderbook, variable: 'ORDERBOOK_PORT' },
              ],
        env: { ADMIN_PORT_GATEWAY: String(adminPort) },
      };
    }),
  ];
}

interface PortUse {
  readonly host: string;
  readonly port: number;
  readonly variable: string;
  readonly service: Service['name'];
}

/** Every port that the processes listen on. */
const portsOf = (config: Config, services: readonly Service[]): readonly PortUse[] =>
  services.flatMap((service) => [
    ...service.ports.map((entry) => ({ ...entry, service: service.name })),
    { host: config.host, port: service.adminPort, variable: adminPortVariable(service.name), service: service.name },
  ]);

/** Whether two hosts cannot have the same port: one is the other, or all of them. */
function overlap(a: string, b: string): boolean {
  const [one, other] = [reachableHost(a), reachableHost(b)];
  return one === other || [a, b].some((host) => ['0.0.0.0', '::', '[::]'].includes(host));
}

/** One message per port that two processes would need, or that the others could not know (0), with the variables that change it. */
export function portProblems(config: Config, services: readonly Service[]): readonly string[] {
  const entries = portsOf(config, services);
  const unknown = entries.filter(({ port }) => port < 1 || port > 65_535);
  const twice = entries.flatMap((entry, index) => {
    const first = entries.slice(0, index).find((other) => other.port === entry.port && overlap(other.host, entry.host));
    return first === undefined || unknown.includes(entry) ? [] : [{ first, second: entry }];
  });
  return [
    ...unknown.map(
      ({ port, service, variable }) => `port ${port} (${service}) is not from 1 to 65535; set ${variable}`,
    ),
    ...twice.map(
      ({ first, second }) =>
        `port ${second.port} is that of ${first.service} and of ${second.service}; set ${first.variable} or ${second.variable}`,
    ),
  ];
}

/** One message per port in use, with the variable that changes it. */
export async function findPortsInUse(config: Config, services: readonly Service[]): Promise<readonly string[]> {
  const taken = await Promise.all(
    portsOf(config, services).map(async (entry) => ((await portInUse(entry.host, entry.port)) ? entry : null)),
  );
  return taken.flatMap((entry) =>
    entry === null ? [] : [`port ${entry.port} (${entry.service}) is in use; free it or set ${entry.variable}`],
  );
}

function adminPortVariable(name: Service['name']): string {
  return `ADMIN_PORT_${name.startsWith('stream-gateway') ? 'GATEWAY' : name.toUpperCase()}`;
}

const FIX_INSTRUCTION = 'Fix this, then stop Oddstream (Ctrl-C) and start it again.';

export interface Supervisor {
  /**
   * Starts the embedded table store if there is one, waits until it is healthy, then the rest, and waits until all are alive or stay down. After a
   * minute it stops waiting for a process: the others run without it, and its restarts continue.
   */
  startAll(signal: AbortSignal): Promise<void>;
  /** Readiness of all processes, from their `/readyz`. */
  readReadiness(): Promise<ReadinessSummary>;
  /** Ends the named processes and starts them with the code as it is now. */
  restart(names: readonly string[], graceMs: number): Promise<void>;
  stopAll(graceMs: number): Promise<void>;
}

export function createSupervisor(deps: {
  config: Config;
  services: readonly Service[];
  nodeFlags: readonly string[];
  env: Readonly<Record<string, string | undefined>>;
  view: Console;
}): Supervisor {
  const { config, services, view } = deps;
  /** The last fatal log line of each process. */
  const reasons = new Map<string, string>();
  const reasonOf = (name: string) => reasons.get(name) ?? 'see its last lines above';
  const children = new Map<string, Child>(
    services.map((service) => [
      service.name,
      createChild({
        spec: {
          name: service.name,
          args: [...deps.nodeFlags, service.script, ...(service.args ?? [])],
          env: { ...deps.env, ...service.env },
        },
        onLine: (line) => {
          const reason = fatalMessage(line);
          if (reason !== null) reasons.set(service.name, reason);
          view.printProcessLine(service.name, line);
        },
        onState: (state, detail) => {
          if (state === 'starting') reasons.delete(service.name);
          if (state === 'failed') {
            view.printProcessLine(service.name, `DOWN (${detail}): ${reasonOf(service.name)}`);
            view.printProcessLine(service.name, `It is not restarted. ${FIX_INSTRUCTION}`);
          } else if (detail !== '') view.printProcessLine(service.name, `${state}: ${detail}`);
        },
      }),
    ]),
  );
  let stopped = false;
  let restarting: Promise<unknown> = Promise.resolve();
  const alive = (service: Service) => async () =>
    (await probe(`http://${reachableHost(config.host)}:${service.adminPort}/healthz`))?.status === 200;
  const awaitHealth = async (service: Service, signal: AbortSignal) => {
    const healthy = await waitFor(
      async () => children.get(service.name)?.state() === 'failed' || (await alive(service)()),
      { timeoutMs: 60_000, signal },
    );
    if (!healthy && !signal.aborted)
      view.printProcessLine(service.name, 'has not responded within 60 s; the start continues without it');
  };

  return {
    async startAll(signal) {
      const store = services.find(({ name }) => name === 'clickhouse');
      const rest = services.filter((service) => service !== store);
      if (store !== undefined) {
        children.get(store.name)?.start();
        await awaitHealth(store, signal);
        if (signal.aborted) return;
      }
      for (const service of rest) children.get(service.name)?.start();
      await Promise.all(rest.map((service) => awaitHealth(service, signal)));
    },
    async readReadiness() {
      const down = services.filter(({ name }) => children.get(name)?.state() === 'failed');
      const responses = await Promise.all(
        services
          .filter((service) => !down.includes(service))
          .map(async (service) => {
            const response = await probe(`http://${reachableHost(config.host)}:${service.adminPort}/readyz`, {}, 4_000);
            return [service.name, response === null ? null : parseReadiness(response.body)] as const;
          }),
      );
      return summarizeReadiness(new Map(responses), new Map(down.map(({ name }) => [name, reasonOf(name)])));
    },
    async restart(names, graceMs) {
      if (stopped) return;
      const named = [...children.values()].filter((child) => names.includes(child.name));
      // One restart after the other, so that none starts what another one is stopping. A restart in progress when stopAll begins must not start its process again.
      restarting = restarting.then(async () => {
        if (!stopped) await Promise.all(named.map((child) => child.restart(graceMs)));
      });
      await restarting;
    },
    async stopAll(graceMs) {
      stopped = true;
      await restarting;
      // Writers first: the table store stops last, so that a drain can still finish its insert.
      const store = children.get('clickhouse');
      const others = [...children.values()].filter((child) => child !== store);
      const started = Date.now();
      await Promise.all(others.map((child) => child.stop(graceMs * 0.7)));
      await store?.stop(Math.max(500, graceMs - (Date.now() - started)));
    },
  };
}
