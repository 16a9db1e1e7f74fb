import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ClientCommand, ClientResult } from './gateway-client.child.js';
import type { ServerCommand, ServerResult } from './gateway-server.child.js';
import { median } from './measure.js';
import { type Figure, PER_MILLION } from './report/figure.js';
import { loopback } from './report/probes.js';

const SUBSCRIBERS = 200;
const MANY_SUBSCRIBERS = 2_000;
const ROUNDS = 5;
const FRAME_BYTES = 500;
const BURSTS = 8;
const BURST_EVENTS = 1_000;
const MEASURED_S = 5;
const folder = dirname(fileURLToPath(import.meta.url));
const ALL = JSON.stringify({ action: 'subscribe', type: 'trades', filters: { snapshot_count: 0 } });

interface Bench {
  readonly port: number;
  server(command: ServerCommand): Promise<ServerResult>;
  client(command: ClientCommand): Promise<ClientResult>;
  end(): Promise<void>;
}

function request<T>(child: ChildProcess, command?: object): Promise<T> {
  return new Promise((resolve, reject) => {
    const onExit = (code: number | null) => reject(new Error(`benchmark process exited with code ${code}`));
    child.once('exit', onExit);
    child.once('message', (message) => {
      child.off('exit', onExit);
      resolve(message as T);
    });
    if (command !== undefined) child.send(command);
  });
}

async function start(kind: 'uws' | 'ws' | 'gateway'): Promise<Bench> {
  const dataDir = mkdtempSync(join(tmpdir(), 'oddstream-gateway-'));
  const execArgv = ['--disable-warning=ExperimentalWarning'];
  const server = fork(join(folder, 'gateway-server.child.js'), [kind, dataDir], { execArgv });
  const client = fork(join(folder, 'gateway-client.child.js'), [], { execArgv });
  const [{ port = 0 }] = await Promise.all([request<ServerResult>(server), request(client)]);
  return {
    port,
    server: (command) => request(server, command),
    client: (command) => request(client, command),
    async end() {
      for (const child of [client, server]) {
        child.kill('SIGKILL');
        await once(child, 'exit');
      }
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

const connectAll = (bench: Bench, message: string | null, count = SUBSCRIBERS) =>
  bench.client({ do: 'connect', port: bench.port, count, items: 0, spread: 0, message });

/** CPU seconds of the server per million delivered frames. */
async function fanOut(kind: 'uws' | 'ws' | 'gateway', subscribers = SUBSCRIBERS): Promise<number> {
  const bench = await start(kind);
  try {
    await connectAll(bench, kind === 'gateway' ? ALL : null, subscribers);
    let cpuS = 0;
    for (let burst = 0; burst <= BURSTS; burst++) {
      const frames = (burst + 1) * BURST_EVENTS * subscribers;
      const arrived = bench.client({ do: 'await', frames });
      const { cpuS: burstCpuS } = await bench.server({ do: 'burst', events: BURST_EVENTS, bytes: FRAME_BYTES });
      await arrived;
      // The first burst is the warm-up.
      if (burst > 0) cpuS += burstCpuS;
    }
    return (cpuS / (BURSTS * BURST_EVENTS * subscribers)) * 1e6;
  } finally {
    await bench.end();
  }
}

type Reading = 'all read' | 'one stalled' | 'bare uWS publish';

async function pacedLatency(reading: Reading): Promise<ClientResult & { readonly cpu: number }> {
  const bench = await start(reading === 'bare uWS publish' ? 'uws' : 'gateway');
  const paced = { do: 'paced', perSecond: 1_500, bytes: FRAME_BYTES, spread: 0 } as const;
  try {
    await connectAll(bench, reading === 'bare uWS publish' ? null : ALL);
    await bench.server({ ...paced, seconds: 2 });
    await bench.client({ do: 'measure' });
    if (reading === 'one stalled') await bench.client({ do: 'stall' });
    const { cpuS } = await bench.server({ ...paced, seconds: MEASURED_S });
    return { ...(await bench.client({ do: 'measure' })), cpu: cpuS / MEASURED_S };
  } finally {
    await bench.end();
  }
}

async function filtered(
  perSecond: number,
  count = SUBSCRIBERS,
): Promise<{ cpu: number; frames: number; rssMb: number }> {
  const bench = await start('gateway');
  try {
    const spread = 500_000;
    await bench.client({ do: 'connect', port: bench.port, count, items: 1_000, spread, message: null });
    await bench.server({ do: 'paced', perSecond, seconds: 2, bytes: FRAME_BYTES, spread });
    await bench.client({ do: 'measure' });
    const { cpuS, rssMb } = await bench.server({
      do: 'paced',
      perSecond,
      seconds: MEASURED_S,
      bytes: FRAME_BYTES,
      spread,
    });
    return { cpu: cpuS / MEASURED_S, frames: (await bench.client({ do: 'measure' })).frames / MEASURED_S, rssMb };
  } finally {
    await bench.end();
  }
}

async function idle(count: number): Promise<{ rssMb: number; perConnectionKb: number }> {
  const bench = await start('gateway');
  try {
    const before = await bench.server({ do: 'total' });
    const filters = { snapshot_count: 0, wallets: ['0xaa'] };
    await connectAll(bench, JSON.stringify({ action: 'subscribe', type: 'wallets', filters }), count);
    const { rssMb } = await bench.server({ do: 'total' });
    return { rssMb, perConnectionKb: ((rssMb - before.rssMb) * 1000) / count };
  } finally {
    await bench.end();
  }
}

async function replay(events: number): Promise<{ perSecond: number; perCpuS: number }> {
  const bench = await start('gateway');
  try {
    await bench.server({ do: 'fill', events, bytes: FRAME_BYTES });
    const before = await bench.server({ do: 'total' });
    const started = performance.now();
    await connectAll(bench, JSON.stringify({ action: 'subscribe', type: 'trades', filters: { since_seq: 0 } }), 1);
    await bench.client({ do: 'await', frames: events });
    const perSecond = (events / (performance.now() - started)) * 1000;
    return { perSecond, perCpuS: events / ((await bench.server({ do: 'total' })).cpuS - before.cpuS) };
  } finally {
    await bench.end();
  }
}

const row = (...cells: readonly (string | number)[]) => console.log(`| ${cells.join(' | ')} |`);
const ms = (value: number) => value.toFixed(2);

export async function run(): Promise<readonly Figure[]> {
  const load = () =>
    loadavg()
      .map((value) => value.toFixed(1))
      .join(' ');
  console.log(`load average at the start: ${load()}\n`);
  const { senderCpuSPerGb } = await loopback();
  const costs = { uws: [] as number[], ws: [] as number[], gateway: [] as number[] };
  const twice: number[] = [];
  // The servers alternate, so that other load on the machine affects all alike.
  for (let round = 0; round < ROUNDS; round++) {
    for (const kind of ['uws', 'gateway', 'ws'] as const) costs[kind].push(await fanOut(kind));
    twice.push(await fanOut('gateway', 2 * SUBSCRIBERS));
  }
  const [bare, loop, gateway] = [median(costs.uws), median(costs.ws), median(costs.gateway)];
  console.log(`Fan-out of ${FRAME_BYTES}-byte frames to ${SUBSCRIBERS} unfiltered subscribers, medians of ${ROUNDS}\n`);
  row('server', 'CPU s per million deliveries', 'deliveries per CPU s');
  row('---', '---', '---');
  for (const [name, cpuS] of [
    ['bare uWS publish', bare],
    ['ws loop', loop],
    ['gateway', gateway],
  ] as const) {
    row(name, cpuS.toFixed(3), Math.round(1e6 / cpuS).toLocaleString('en-US'));
  }
  console.log(
    `\ngateway / bare uWS ${(bare / gateway).toFixed(2)} (goal 0.7), gateway / ws loop ${(loop / gateway).toFixed(1)} (goal 5)\n`,
  );

  console.log(
    `1,500 events/s to ${SUBSCRIBERS} subscribers (300,000 deliveries/s), ms from the event's creation to its frame (goal p99 15)\n`,
  );
  row('', 'p50', 'p99', 'max', 'deliveries/s', 'core');
  row('---', '---', '---', '---', '---', '---');
  const p99: Record<Reading, number[]> = { 'bare uWS publish': [], 'all read': [], 'one stalled': [] };
  for (let round = 0; round < ROUNDS; round++)
    for (const reading of ['bare uWS publish', 'all read', 'one stalled'] as const) {
      const result = await pacedLatency(reading);
      p99[reading].push(result.p99);
      const rate = Math.round(result.frames / MEASURED_S).toLocaleString('en-US');
      row(reading, ms(result.p50), ms(result.p99), ms(result.max), rate, `${(result.cpu * 100).toFixed(0)} %`);
    }
  const FILTERED_PER_S = 5_000;
  const selective: number[] = [];
  const selectiveTwice: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const once = await filtered(FILTERED_PER_S);
    selective.push((once.cpu / FILTERED_PER_S) * 1e6);
    selectiveTwice.push(((await filtered(2 * FILTERED_PER_S)).cpu / (2 * FILTERED_PER_S)) * 1e6);
    console.log(
      `${round === 0 ? '\n' : ''}5,000 events/s against ${SUBSCRIBERS} connections with 1,000 items each: ${(once.cpu * 100).toFixed(1)} % of a core (goal 25), ${Math.round(once.frames)} deliveries/s, ${once.rssMb.toFixed(0)} MB`,
    );
  }
  const selectiveMany: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const { cpu, frames, rssMb } = await filtered(FILTERED_PER_S, MANY_SUBSCRIBERS);
    selectiveMany.push((cpu / FILTERED_PER_S) * 1e6);
    console.log(
      `5,000 events/s against ${MANY_SUBSCRIBERS} connections with 1,000 items each: ${(cpu * 100).toFixed(1)} % of a core (goal 50), ${Math.round(frames)} deliveries/s, ${rssMb.toFixed(0)} MB`,
    );
  }
  const idleKb: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const { rssMb, perConnectionKb } = await idle(10_000);
    idleKb.push(perConnectionKb);
    console.log(
      `10,000 idle connections: ${rssMb.toFixed(0)} MB in total (goal 300), ${perConnectionKb.toFixed(1)} kB each`,
    );
  }
  const replays: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const { perSecond, perCpuS } = await replay(300_000);
    replays.push(perSecond);
    console.log(
      `since_seq replay from the log to one client: ${Math.round(perSecond).toLocaleString('en-US')} messages/s (goal 150,000), ${Math.round(perCpuS).toLocaleString('en-US')} per CPU s of the server`,
    );
  }
  console.log(`\nload average at the end: ${load()}`);
  const name = `${FRAME_BYTES}-byte frames to ${SUBSCRIBERS} subscribers`;
  const unit = `${PER_MILLION} deliveries`;
  const work = `${2 * SUBSCRIBERS} subscribers`;
  const limit = { name: 'loopback TCP, the same bytes', value: (senderCpuSPerGb * FRAME_BYTES) / 1000 };
  const p99Name = `p99 of 1,500 events/s to ${SUBSCRIBERS} subscribers`;
  const bareP99 = { name: 'bare uWebSockets', values: p99['bare uWS publish'] };
  return [
    {
      name,
      unit,
      better: 'less',
      values: costs.gateway,
      baseline: { name: 'bare uWebSockets', values: costs.uws },
      limit,
      twice: { work, values: twice },
    },
    { name, unit, better: 'less', values: costs.gateway, baseline: { name: '`ws` loop', values: costs.ws } },
    { name: p99Name, unit: 'ms', better: 'less', values: p99['all read'], baseline: bareP99 },
    { name: `${p99Name}, one stalled`, unit: 'ms', better: 'less', values: p99['one stalled'], baseline: bareP99 },
    {
      name: `events against ${SUBSCRIBERS} connections with 1,000 items each`,
      unit: `${PER_MILLION} events`,
      better: 'less',
      values: selective,
      twice: { work: `${2 * FILTERED_PER_S} events/s`, values: selectiveTwice },
    },
    {
      name: `events against ${MANY_SUBSCRIBERS.toLocaleString('en-US')} connections with 1,000 items each`,
      unit: `${PER_MILLION} events`,
      better: 'less',
      values: selectiveMany,
    },
    {
      name: 'memory of 10,000 idle connections',
      unit: 'kB each',
      better: 'less',
      values: idleKb,
    },
    { name: 'replay from the log to one client', unit: 'messages/s', better: 'more', values: replays },
  ];
}
