import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import WebSocket from 'ws';
import { createClickHouse } from '../../infra/clickhouse/client.js';
import { openLog } from '../../infra/log/open-log.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { createMetrics } from '../../infra/telemetry/metrics.js';
import { ensureDevKey } from '../../infra/up/dev-key.js';
import { blockEvent, decodeBlock, decodePending } from '../../ingest/chain/decode/index.js';
import { runChain } from '../../ingest/chain/run-chain.js';
import { createDeadLetters } from '../../ingest/shared/dead-letters.js';
import { createOwnedLog } from '../../ingest/shared/owned-log.js';
import { createSourceStatus } from '../../ingest/shared/source-status.js';
import { createCodec } from '../../schemas/codec.js';
import { allTopics, topicsOnOneMachine } from '../../schemas/topics.js';
import { startTestKafka, whyNoKafka } from '../support/kafka.js';
import { freePorts } from '../support/ports.js';
import { eventually } from '../support/product.js';
import { createLatencySource, measuredType, type Shape, shapes } from './latency-source.js';
import { quantile } from './measure.js';
import type { Figure } from './report/figure.js';

/** Defaults; ODDSTREAM_BENCH_RATES and ODDSTREAM_BENCH_SHAPES (comma-separated) select some. */
const listed = (name: string, defaults: readonly string[]) => process.env[name]?.split(',') ?? defaults;
/** A rate whose double is listed, too, shows both in its figures. */
const RATES = listed('ODDSTREAM_BENCH_RATES', ['150', '300', '1000', '2000', '5000', '10000', '20000']).map(Number);
const SHAPES = shapes.filter((shape) => listed('ODDSTREAM_BENCH_SHAPES', shapes).includes(shape));
/**
 * A system that has just started is slower: ClickHouse merges the parts that the migrations wrote, and the broker's JVM, which shares the two cores
 * of a small machine, compiles its hot code (C2 takes a fifth of a core for the first minute).
 */
const WARM_UP_S = { LMDB: 30, Kafka: 90 } as const;
const MEASURED_S = 20;
/** The measured time is divided into so many parts, each with a p99 of its own. */
const PARTS = 5;
/** Time to deliver what the measured time left behind. */
const CATCH_UP_S = 120;
/** Goals of p99 in ms, by events per second. */
const GOALS: Record<'LMDB' | 'Kafka', Readonly<Record<number, number>>> = {
  LMDB: { 150: 10, 5000: 250 },
  Kafka: { 150: 40, 5000: 500 },
};
type Engine = keyof typeof GOALS;
const QUERY_EVERY_MS = 100;

const percentile = (sorted: readonly number[], share: number) =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * Latency from an event leaving the source to the frame at a subscriber, and from the announcement of a finalized block to its rows in `fills`, through
 * the real log and the processes clickhouse, processors, stream and stream-gateway. Ingest runs in the bench.
 */
export async function measureLatency(engine: Engine): Promise<readonly Figure[]> {
  const missing = engine === 'Kafka' ? await whyNoKafka() : null;
  if (missing !== null) throw new Error(`No Kafka broker can run here: ${missing}`);
  const figures: Figure[] = [];
  console.log(
    'Subscriber: ms from the source to the frame. Table: s from the finalized block to its rows in `fills`.\n',
  );
  console.log(
    '| log | shape | events/s | frames | p50 | p90 | p99 | max | p99 goal | table p50 s | max s | caught up after s | lost |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|',
  );
  for (const shape of SHAPES) {
    const byRate = new Map<number, Measured>();
    for (const rate of RATES) {
      const kafka = engine === 'Kafka' ? await startTestKafka({ quickStart: false }) : null;
      try {
        const measured = await measure(engine, kafka?.url, shape, rate);
        console.log(measured.row);
        byRate.set(rate, measured);
      } catch (error) {
        if (!(error instanceof SubscriberClosed)) throw error;
        console.log(`| ${engine} | ${shape} | ${rate} | ${error.message} |`);
      } finally {
        await kafka?.stop();
      }
    }
    for (const [rate, measured] of byRate)
      figures.push(...figuresOf(engine, shape, rate, measured, byRate.get(2 * rate)));
  }
  return figures;
}

/** The gateway does not deliver this rate to one subscriber on this machine. */
class SubscriberClosed extends Error {}

interface Measured {
  /** Row of the table. */
  readonly row: string;
  /** Latencies of each part of the measured time, ms; only parts with frames. */
  readonly parts: readonly (readonly number[])[];
  readonly tableDelaysS: readonly number[];
}

function figuresOf(
  engine: Engine,
  shape: Shape,
  rate: number,
  measured: Measured,
  twice: Measured | undefined,
): readonly Figure[] {
  const of = `on ${engine}, ${rate.toLocaleString('en')} events/s, ${shape}`;
  const figure = (name: string, unit: string, values: (of: Measured) => readonly number[]): Figure[] => {
    const [once, doubled] = [values(measured), twice === undefined ? [] : values(twice)];
    if (once.length === 0) return [];
    const work = `${(2 * rate).toLocaleString('en')} events/s`;
    return [
      {
        name: `${name} ${of}`,
        unit,
        better: 'less',
        values: once,
        ...(doubled.length === 0 ? {} : { twice: { work, values: doubled } }),
      },
    ];
  };
  const quantiles = (share: number) => (of: Measured) => of.parts.map((part) => quantile(part, share));
  return [
    ...figure('p50 from the source to a subscriber', 'ms', quantiles(0.5)),
    ...figure('p99 from the source to a subscriber', 'ms', quantiles(0.99)),
    ...figure('final block to rows', 's', (of) => of.tableDelaysS),
  ];
}

/** `kafkaUrl` undefined: the log is in the data directory. */
async function measure(
  engine: Engine,
  kafkaUrl: string | undefined,
  shape: Shape,
  eventsPerSecond: number,
): Promise<Measured> {
  const dataDir = mkdtempSync(join(tmpdir(), 'oddstream-latency-'));
  const [clickhouse, api, gateway, ...admin] = await freePorts(9);
  const dist = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
  const env = {
    ...process.env,
    ODDSTREAM_DATA: dataDir,
    LOG_LEVEL: 'error',
    CLICKHOUSE_EMBEDDED_PORT: String(clickhouse),
    API_PORT: String(api),
    GATEWAY_PORT: String(gateway),
    ORDERBOOK_PORT: '0',
    ADMIN_PORT_CLICKHOUSE: String(admin[0]),
    ADMIN_PORT_PROCESSORS: String(admin[1]),
    ADMIN_PORT_GATEWAY: String(admin[2]),
    ADMIN_PORT_STREAM: String(admin[3]),
    UV_THREADPOOL_SIZE: '16',
    ...(kafkaUrl === undefined ? {} : { LOG_URL: kafkaUrl }),
  };
  const commands = [['infra/clickhouse'], ['processors', 'tables'], ['processors', 'stream'], ['stream-gateway']];
  const children = commands.map(([folder = '', ...args]) =>
    spawn(process.execPath, ['--disable-warning=ExperimentalWarning', join(dist, folder, 'main.js'), ...args], {
      env,
      stdio: ['ignore', 'inherit', 'inherit'],
    }),
  );
  const stop = new AbortController();
  try {
    const codec = createCodec();
    const logger = silentLogger();
    const metrics = createMetrics({ process: 'bench', defaults: false });
    const log = await openLog(kafkaUrl ?? `lmdb:${join(dataDir, 'log')}`, { logger });
    await log.ensureTopics(kafkaUrl === undefined ? topicsOnOneMachine : allTopics);
    const key = await ensureDevKey({ dataDir, loopback: true, log, codec, nowMs: Date.now });
    const emittedAt = new Map<string, number>();
    const latencies: number[] = [];
    const parts = Array.from({ length: PARTS }, (): number[] => []);
    let measuringSinceMs = 0;
    const type = measuredType(shape);
    let received = 0;
    let subscribed = false;
    let measuring = false;
    let stopped = false;
    const socket = await eventually('the socket', async () => {
      const candidate = new WebSocket(`ws://127.0.0.1:${gateway}/ws?key=${key}`, { perMessageDeflate: false });
      return new Promise<WebSocket>((resolve, reject) => {
        candidate.once('open', () => resolve(candidate));
        candidate.once('error', reject);
      });
    });
    socket.on('message', (data) => {
      const nowMs = performance.now();
      const frame = JSON.parse(data.toString()) as { type: string; data?: { tx_hash?: string } };
      if (frame.type === 'subscribed') subscribed = true;
      if (frame.type !== type) return;
      const sentMs = emittedAt.get(frame.data?.tx_hash ?? '');
      if (sentMs === undefined) return;
      emittedAt.delete(frame.data?.tx_hash ?? '');
      received += 1;
      if (!measuring) return;
      latencies.push(nowMs - sentMs);
      const part = Math.floor(((nowMs - measuringSinceMs) / (MEASURED_S * 1000)) * PARTS);
      parts[Math.min(PARTS - 1, part)]?.push(nowMs - sentMs);
    });
    const closed = new Promise<never>((_, reject) =>
      socket.once('close', (code, reason) => {
        if (!stop.signal.aborted) reject(new SubscriberClosed(`the gateway closed the socket: ${code} ${reason}`));
      }),
    );
    closed.catch(() => undefined);
    socket.send(JSON.stringify({ action: 'subscribe', type: `${type}s`, filters: { snapshot_count: 0 } }));
    const owned = await createOwnedLog(log, ['chain.head', 'chain.final']);
    const status = createSourceStatus({ log, codec, logger, source: 'chain', mode: 'live' });
    const deadLetters = createDeadLetters({ log, codec, metrics, logger });
    const source = createLatencySource({
      shape,
      eventsPerSecond,
      emittedAt,
      ready: () => subscribed,
      stopped: () => stopped,
    });
    const chain = runChain({
      source,
      log: owned,
      codec,
      decoder: { decodeBlock, blockEvent, decodePending },
      deadLetters,
      status,
      metrics,
      logger,
      signal: stop.signal,
    });
    chain.catch((error: unknown) => {
      if (!stop.signal.aborted) throw error;
    });
    const tableDelaysS: number[] = [];
    const table = watchTable(clickhouse as number, dataDir, source.finalizedBlocks, () => measuring, tableDelaysS);
    let caughtUpS = Number.NaN;
    try {
      await Promise.race([closed, sleep(WARM_UP_S[engine] * 1000)]);
      measuring = true;
      measuringSinceMs = performance.now();
      await Promise.race([closed, sleep(MEASURED_S * 1000)]);
      measuring = false;
      stopped = true;
      const endMs = performance.now();
      while (received < source.emitted && performance.now() - endMs < CATCH_UP_S * 1000)
        await Promise.race([closed, sleep(50)]);
      caughtUpS = (performance.now() - endMs) / 1000;
    } finally {
      stopped = true;
      stop.abort();
      await chain.catch(() => undefined);
      await table.stop();
      socket.close();
      await status.close();
      await log.close();
    }
    const lost = source.emitted - received;
    latencies.sort((a, b) => a - b);
    tableDelaysS.sort((a, b) => a - b);
    const figures = [0.5, 0.9, 0.99, 1].map((share) => percentile(latencies, share).toFixed(1));
    const goal = GOALS[engine][eventsPerSecond];
    const tables = [0.5, 1].map((share) => percentile(tableDelaysS, share).toFixed(1));
    const row = `| ${[engine, shape, eventsPerSecond, latencies.length, ...figures, goal === undefined ? '' : `<= ${goal}`, ...tables, caughtUpS.toFixed(1), lost].join(' | ')} |`;
    return { row, parts: parts.filter((part) => part.length > 0), tableDelaysS };
  } finally {
    for (const child of children) child.kill('SIGTERM');
    await Promise.all(
      children.map((child) => (child.exitCode === null ? new Promise((resolve) => child.once('exit', resolve)) : null)),
    );
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/** Adds to `delaysS` how long after its announcement as finalized each block was queryable, to the resolution of QUERY_EVERY_MS. */
function watchTable(
  port: number,
  dataDir: string,
  finalized: readonly { readonly number: number; readonly atMs: number }[],
  measuring: () => boolean,
  delaysS: number[],
): { stop(): Promise<void> } {
  let stopped = false;
  let next = 0;
  let wasMeasuring = false;
  const watch = async () => {
    const password = readFileSync(join(dataDir, 'clickhouse-password'), 'utf8').trim();
    const client = createClickHouse(
      { url: `http://127.0.0.1:${port}`, user: 'oddstream', password, database: 'oddstream', requestTimeoutMs: 30_000 },
      { logger: silentLogger() },
    );
    await eventually('the table of fills', () => client.query('SELECT 1 FROM fills LIMIT 1'));
    while (!stopped) {
      const [row] = await client.query<{ newest: string }>('SELECT toString(max(block_number)) AS newest FROM fills');
      const nowMs = performance.now();
      for (let block = finalized[next]; block !== undefined; block = finalized[next]) {
        if (block.number > Number(row?.newest ?? 0)) break;
        if (measuring()) delaysS.push((nowMs - block.atMs) / 1000);
        next += 1;
      }
      // The oldest block that is still missing at the end counts with its age.
      const overdue = finalized[next];
      if (wasMeasuring && !measuring() && overdue !== undefined) delaysS.push((nowMs - overdue.atMs) / 1000);
      wasMeasuring = measuring();
      await sleep(QUERY_EVERY_MS);
    }
    await client.close();
  };
  const done = watch();
  done.catch(() => undefined);
  return {
    async stop() {
      stopped = true;
      await done;
    },
  };
}
