import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openLog } from '../../infra/log/open-log.js';
import type { Log } from '../../infra/log/port.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { ensureDevKey } from '../../infra/up/dev-key.js';
import { createCodec } from '../../schemas/codec.js';
import { allTopics, topics } from '../../schemas/topics.js';
import type { ClickHouseProcess } from '../support/clickhouse-process.js';
import { headFill } from '../support/head-fill.js';
import { freePorts } from '../support/ports.js';
import { eventually } from '../support/product.js';
import { startFollower } from './follower.js';
import type { ClientCommand } from './gateway-client.child.js';
import { median } from './measure.js';
import { type Figure, PER_MILLION } from './report/figure.js';
import { COUNTS, measureCounts } from './scaling.js';
import { type StartedProcess, startProcess } from './started-process.js';

const SUBSCRIBERS = 200;
/** Fills that are appended at once, and how often. */
const FILLS = 1_500;
const ROUNDS = 5;
const KILLS = 5;
/** Between the fills that are appended while processes are killed. */
const FILL_EVERY_MS = 40;
const WAIT_MS = 120_000;
const codec = createCodec();
const logger = silentLogger();

interface Measured {
  readonly perSecond: number[];
  /** Of all gateways, s per million deliveries. */
  readonly gatewayCost: number[];
  /** Of all stream processors, s per million fills. */
  readonly streamCost: number[];
  readonly gatewayRecoveryS: number[];
  readonly streamRecoveryS: number[];
}

/**
 * 1, 2 and 4 stream processors and as many gateways on one Kafka broker: deliveries per second from the append to chain.head to the last of 200 subscribers,
 * and the time from SIGKILL until a fill that was appended after it is at a subscriber that follows, of the subscriber's gateway and of the process that
 * has the task `stream`. Throws if a fill is lost or doubled.
 */
export async function run(): Promise<readonly Figure[]> {
  console.log(
    '| processes of each role | deliveries/s | gateways, CPU s per million deliveries | stream, CPU s per million fills | gateway killed, s | stream killed, s |\n|---|---|---|---|---|---|',
  );
  const results = await measureCounts(measure, (count, result) => {
    const seconds = (values: readonly number[]) => values.map((value) => value.toFixed(1)).join(', ');
    const cells = [
      Math.round(median(result.perSecond)).toLocaleString('en'),
      median(result.gatewayCost).toFixed(2),
      median(result.streamCost).toFixed(1),
    ];
    console.log(
      `| ${[count, ...cells, seconds(result.gatewayRecoveryS), seconds(result.streamRecoveryS)].join(' | ')} |`,
    );
  });
  return figuresOf(results);
}

function figuresOf(results: readonly Measured[]): Figure[] {
  const [single] = results as [Measured];
  return results.flatMap((result, n): Figure[] => {
    const name = COUNTS[n] === 1 ? '1 process' : `${COUNTS[n]} processes`;
    const restarted = n === 0 ? ' (restarted)' : '';
    const figure = (field: keyof Measured, title: string, unit: string, better: 'more' | 'less' = 'less'): Figure => ({
      name: title,
      unit,
      better,
      values: result[field],
      ...(n === 0 ? {} : { baseline: { name: '1 process', values: single[field] } }),
    });
    return [
      figure('perSecond', `chain.head to ${SUBSCRIBERS} subscribers, ${name}`, 'deliveries/s', 'more'),
      figure('gatewayCost', `gateways, ${name}`, `${PER_MILLION} deliveries`),
      figure('streamCost', `stream processors, ${name}`, `${PER_MILLION} fills`),
      figure('gatewayRecoveryS', `SIGKILL of a gateway to its subscriber's next fill, ${name}${restarted}`, 's'),
      figure('streamRecoveryS', `SIGKILL of the stream processor to the next fill, ${name}${restarted}`, 's'),
    ];
  });
}

async function measure(count: number, logUrl: string, clickhouse: ClickHouseProcess): Promise<Measured> {
  const dataDir = mkdtempSync(join(tmpdir(), 'oddstream-scaling-'));
  const env = {
    LOG_URL: logUrl,
    CLICKHOUSE_URL: clickhouse.url,
    CLICKHOUSE_USER: clickhouse.user,
    CLICKHOUSE_PASSWORD: clickhouse.password,
    ORDERBOOK_PORT: '0',
  };
  const log = await openLog(logUrl, { logger, maintenance: false });
  await log.ensureTopics(allTopics);
  const ports = await freePorts(count);
  const streams: StartedProcess[] = [];
  const gateways: StartedProcess[] = [];
  const client = fork(fileURLToPath(new URL('./gateway-client.child.js', import.meta.url)));
  try {
    await once(client, 'message');
    const stream = { script: 'processors', args: ['stream'], adminVariable: 'ADMIN_PORT_STREAM', env };
    for (let n = 0; n < count; n++) streams.push(await startProcess(stream));
    for (const port of ports)
      gateways.push(
        await startProcess({
          script: 'stream-gateway',
          args: [],
          adminVariable: 'ADMIN_PORT_GATEWAY',
          env: { ...env, GATEWAY_PORT: String(port) },
        }),
      );
    const key = (await ensureDevKey({ dataDir, loopback: true, log, codec, nowMs: Date.now })) ?? '';
    const ready = async () =>
      (await Promise.all(gateways.map((one) => one.readiness()))).every((state) => state.ready) &&
      (await sharesAreEqual(streams));
    await eventually('all processes', ready, WAIT_MS);
    const appender = createAppender(log);
    const addresses = ports.map((port) => `ws://127.0.0.1:${port}/ws?key=${key}`);
    const result: Measured = {
      perSecond: [],
      gatewayCost: [],
      streamCost: [],
      gatewayRecoveryS: [],
      streamRecoveryS: [],
    };
    const follower = startFollower(addresses);
    await eventually('the subscription', async () => follower.subscribed(), WAIT_MS);
    const [firstFill = ''] = await appender.append(1);
    await eventually('a fill', async () => follower.times.has(firstFill), WAIT_MS);
    await rates(result, client, { ports, key, appender, streams, gateways });
    await recoveries(result, { follower, appender, streams, gateways });
    follower.stop();
    return result;
  } finally {
    client.kill('SIGKILL');
    await Promise.all([...gateways, ...streams].map((one) => one.dispose()));
    await log.close();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

type Appender = ReturnType<typeof createAppender>;

async function rates(
  result: Measured,
  client: ChildProcess,
  options: {
    readonly ports: readonly number[];
    readonly key: string;
    readonly appender: Appender;
    readonly streams: readonly StartedProcess[];
    readonly gateways: readonly StartedProcess[];
  },
): Promise<void> {
  const { ports, key, appender, streams, gateways } = options;
  const request = async (command: ClientCommand) => {
    const reply = once(client, 'message', { signal: AbortSignal.timeout(WAIT_MS) });
    client.send(command);
    await reply;
  };
  const message = JSON.stringify({ action: 'subscribe', type: 'trades', filters: { snapshot_count: 0 } });
  for (const port of ports)
    await request({ do: 'connect', port, count: SUBSCRIBERS / ports.length, items: 0, spread: 0, message, key });
  const cpuS = (processes: readonly StartedProcess[]) => processes.reduce((sum, one) => sum + one.cpuS(), 0);
  for (let round = 0; round <= ROUNDS; round++) {
    await request({ do: 'measure' });
    const before = [cpuS(gateways), cpuS(streams)] as const;
    const arrived = request({ do: 'await', frames: FILLS * SUBSCRIBERS });
    const startedMs = performance.now();
    await appender.append(FILLS);
    await arrived;
    // The first round is the warm-up.
    if (round === 0) continue;
    const deliveries = FILLS * SUBSCRIBERS;
    result.perSecond.push(deliveries / ((performance.now() - startedMs) / 1000));
    result.gatewayCost.push(((cpuS(gateways) - before[0]) / deliveries) * 1e6);
    result.streamCost.push(((cpuS(streams) - before[1]) / FILLS) * 1e6);
  }
}

async function recoveries(
  result: Measured,
  options: {
    readonly follower: ReturnType<typeof startFollower>;
    readonly appender: Appender;
    readonly streams: readonly StartedProcess[];
    readonly gateways: readonly StartedProcess[];
  },
): Promise<void> {
  const { follower, appender, streams, gateways } = options;
  const arrived = (hash: string) => eventually('a fill', async () => follower.times.has(hash), WAIT_MS);
  const recovery = async (victim: StartedProcess, alone: boolean): Promise<number> => {
    const killedMs = performance.now();
    await victim.kill();
    const [next = ''] = await appender.append(1);
    const feeding = new AbortController();
    const fed = (async () => {
      while (!feeding.signal.aborted) {
        await appender.append(1);
        await sleep(FILL_EVERY_MS);
      }
    })();
    if (alone) await victim.restart();
    await arrived(next);
    feeding.abort();
    await fed;
    if (!alone) await victim.restart();
    return ((follower.times.get(next) ?? Number.NaN) - killedMs) / 1000;
  };
  for (let kill = 0; kill < KILLS; kill++) {
    const gateway = gateways[follower.address()] as StartedProcess;
    result.gatewayRecoveryS.push(await recovery(gateway, gateways.length === 1));
    await eventually('the gateway', async () => (await gateway.readiness()).ready, WAIT_MS);
    const owners = await Promise.all(streams.map(tasksOf));
    const stream = streams[owners.findIndex((tasks) => tasks.includes('stream'))] as StartedProcess;
    result.streamRecoveryS.push(await recovery(stream, streams.length === 1));
    await eventually('equal shares of the tasks', () => sharesAreEqual(streams), WAIT_MS);
  }
  const all = async () => appender.hashes.every((hash) => follower.times.has(hash));
  await eventually('all fills at the subscriber', all, WAIT_MS);
  if (follower.doubled() > 0) throw new Error(`${follower.doubled()} fills were delivered twice`);
}

const tasksOf = async (one: StartedProcess): Promise<readonly string[]> =>
  Object.keys((await one.readiness()).checks).filter((name) => name === 'stream' || name === 'accounts');

/** Both tasks have one owner, and different ones where there are several processes. */
async function sharesAreEqual(streams: readonly StartedProcess[]): Promise<boolean> {
  const owned = await Promise.all(streams.map(tasksOf));
  return owned.flat().length === 2 && (streams.length === 1 || owned.every(({ length }) => length <= 1));
}

/** Appends fills to chain.head; returns their transaction hashes. */
function createAppender(log: Log) {
  const hashes: string[] = [];
  return {
    hashes,
    async append(count: number): Promise<readonly string[]> {
      const fills = Array.from({ length: count }, (_, n) => headFill(hashes.length + n));
      const added = fills.map(({ tx_hash }) => tx_hash);
      hashes.push(...added);
      await log.append(
        topics.chainHead.name,
        fills.map((fill) => ({
          key: String(fill.block_number),
          value: codec.encode('trade', fill),
          timestampMs: fill.timestamp_ms,
        })),
      );
      return added;
    },
  };
}
