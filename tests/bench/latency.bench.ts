import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import WebSocket from 'ws';
import { openLog } from '../../infra/log/open-log.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { createMetrics } from '../../infra/telemetry/metrics.js';
import { ensureDevKey } from '../../infra/up/dev-key.js';
import { blockEvent, decodeBlock, decodePending } from '../../ingest/chain/decode/index.js';
import { runChain } from '../../ingest/chain/run-chain.js';
import type { ChainSource, Hex, LiveEvent, RpcLog, SourceBlock } from '../../ingest/chain/source.js';
import { createDeadLetters } from '../../ingest/shared/dead-letters.js';
import { createOwnedLog } from '../../ingest/shared/owned-log.js';
import { createSourceStatus } from '../../ingest/shared/source-status.js';
import { createCodec } from '../../schemas/codec.js';
import { allTopics } from '../../schemas/topics.js';
import { startTestKafka, whyNoKafka } from '../support/kafka.js';
import { freePorts } from '../support/ports.js';
import { eventually } from '../support/product.js';

const RATES = [150, 5_000] as const;
const FILLS_PER_BLOCK = 5;
/**
 * A system that has just started is slower: ClickHouse merges the parts that the migrations wrote, and the broker's JVM, which shares the two cores
 * of a small machine, compiles its hot code (C2 takes a fifth of a core for the first minute).
 */
const WARM_UP_S = { LMDB: 30, Kafka: 90 } as const;
const MEASURED_S = 20;
/** p99 in ms at 150 events per second. */
const GOALS = { LMDB: 50, Kafka: 100 } as const;
type Engine = keyof typeof GOALS;
const EXCHANGE_V2: Hex = '0xe111180000d2663c0091e4f400237545b87b996b';
const ORDER_FILLED_V2: Hex = '0xd543adfd945773f1a62f74f0ee55a5e3b9b1a28262980ba90b1a89f2ea84d8ee';

const word = (value: bigint | number) => BigInt(value).toString(16).padStart(64, '0');
const hash = (prefix: string, value: number): Hex =>
  `0x${prefix}${value.toString(16).padStart(64 - prefix.length, '0')}`;

function fill(block: number, index: number): RpcLog {
  const serial = block * FILLS_PER_BLOCK + index;
  return {
    address: EXCHANGE_V2,
    topics: [ORDER_FILLED_V2, hash('0d', serial), `0x${word(0xa11ce + (serial % 500))}`, `0x${word(0xb0b)}`],
    data: `0x${[0, 777 + (serial % 50), 5_000_000, 10_000_000, 0, 0, 0].map(word).join('')}`,
    blockNumber: `0x${block.toString(16)}`,
    blockHash: hash('bb', block),
    transactionHash: hash('7e', serial),
    transactionIndex: `0x${index.toString(16)}`,
    logIndex: `0x${index.toString(16)}`,
  };
}

function blockAt(number: number): SourceBlock {
  return {
    number,
    hash: hash('bb', number),
    parentHash: hash('bb', number - 1),
    timestampS: Math.floor(Date.now() / 1000),
    txCount: FILLS_PER_BLOCK,
    logs: Array.from({ length: FILLS_PER_BLOCK }, (_, index) => fill(number, index)),
  };
}

/** Blocks at a constant rate; `emittedAt` receives the time at which each transaction left the source. */
function scriptedSource(eventsPerSecond: number, emittedAt: Map<string, number>, ready: () => boolean): ChainSource {
  const first = 90_000_000;
  return {
    mode: 'live',
    description: 'latency benchmark',
    shiftDays: null,
    recordedFromMs: null,
    historyRange: async () => null,
    // biome-ignore lint/correctness/useYield: this source has no history
    history: async function* () {
      return;
    },
    live: async function* (signal): AsyncGenerator<LiveEvent> {
      while (!ready()) await new Promise((resolve) => setTimeout(resolve, 50));
      const started = performance.now();
      for (let n = 0; !signal.aborted; n++) {
        const dueMs = started + (n * FILLS_PER_BLOCK * 1000) / eventsPerSecond;
        const waitMs = dueMs - performance.now();
        if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
        const block = blockAt(first + n);
        const now = performance.now();
        for (const log of block.logs) emittedAt.set(log.transactionHash, now);
        yield { type: 'head', block, seenAtMs: Date.now() };
        if (n % 8 === 0 && n > 8) yield { type: 'finalized', number: block.number - 4 } as LiveEvent;
      }
    },
    blockByHash: async () => null,
    blockByNumber: async (number) => blockAt(number),
    finalizedNumber: async () => first,
    close: async () => undefined,
  };
}

const percentile = (sorted: readonly number[], share: number) =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] as number;

/**
 * Latency from a block leaving the source to the frame at a subscriber, through the real log (LMDB, and a Kafka broker where one can run), stream
 * processor and gateway processes.
 */
export async function run(): Promise<void> {
  const rows: string[] = [];
  for (const rate of RATES) rows.push(await measure('LMDB', undefined, rate));
  const missing = await whyNoKafka();
  if (missing !== null) console.log(`Kafka was not measured: ${missing}`);
  for (const rate of missing === null ? RATES : []) {
    const kafka = await startTestKafka({ quickStart: false });
    try {
      rows.push(await measure('Kafka', kafka.url, rate));
    } finally {
      await kafka.stop();
    }
  }
  console.log('ms from source to subscriber\n');
  console.log('| log | events/s | frames | p50 | p90 | p99 | max | p99 goal |\n|---|---|---|---|---|---|---|---|');
  for (const row of rows) console.log(row);
}

/** Returns one row of the table. `kafkaUrl` undefined: the log is in the data directory. */
async function measure(engine: Engine, kafkaUrl: string | undefined, eventsPerSecond: number): Promise<string> {
  const dataDir = mkdtempSync(join(tmpdir(), 'oddstream-latency-'));
  const [clickhouse, api, gateway, ...admin] = await freePorts(8);
  const dist = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
  const env = {
    ...process.env,
    ODDSTREAM_DATA: dataDir,
    LOG_LEVEL: 'warn',
    CLICKHOUSE_EMBEDDED_PORT: String(clickhouse),
    API_PORT: String(api),
    GATEWAY_PORT: String(gateway),
    ORDERBOOK_PORT: '0',
    ADMIN_PORT_CLICKHOUSE: String(admin[0]),
    ADMIN_PORT_PROCESSORS: String(admin[1]),
    ADMIN_PORT_GATEWAY: String(admin[2]),
    UV_THREADPOOL_SIZE: '16',
    ...(kafkaUrl === undefined ? {} : { LOG_URL: kafkaUrl }),
  };
  const children = ['infra/clickhouse', 'processors', 'stream-gateway'].map((folder) =>
    spawn(process.execPath, ['--disable-warning=ExperimentalWarning', join(dist, folder, 'main.js')], {
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
    await log.ensureTopics(allTopics);
    const key = await ensureDevKey({ dataDir, loopback: true, log, codec, nowMs: Date.now });
    const emittedAt = new Map<string, number>();
    const latencies: number[] = [];
    let subscribed = false;
    let measuring = false;
    const socket = await eventually('the socket', async () => {
      const candidate = new WebSocket(`ws://127.0.0.1:${gateway}/ws?key=${key}`, { perMessageDeflate: false });
      return new Promise<WebSocket>((resolve, reject) => {
        candidate.once('open', () => resolve(candidate));
        candidate.once('error', reject);
      });
    });
    socket.on('message', (data) => {
      const now = performance.now();
      const frame = JSON.parse(data.toString()) as { type: string; data?: { tx_hash?: string } };
      if (frame.type === 'subscribed') subscribed = true;
      const sent = frame.type === 'trade' ? emittedAt.get(frame.data?.tx_hash ?? '') : undefined;
      if (sent !== undefined && measuring) latencies.push(now - sent);
    });
    socket.send(JSON.stringify({ action: 'subscribe', type: 'trades', filters: { snapshot_count: 0 } }));
    const owned = await createOwnedLog(log, ['chain.head', 'chain.final']);
    const status = createSourceStatus({ log, codec, logger, source: 'chain', mode: 'live' });
    const deadLetters = createDeadLetters({ log, codec, metrics, logger });
    const chain = runChain({
      source: scriptedSource(eventsPerSecond, emittedAt, () => subscribed),
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
    await new Promise((resolve) => setTimeout(resolve, WARM_UP_S[engine] * 1000));
    measuring = true;
    await new Promise((resolve) => setTimeout(resolve, MEASURED_S * 1000));
    measuring = false;
    stop.abort();
    await chain.catch(() => undefined);
    socket.close();
    await status.close();
    await log.close();
    latencies.sort((a, b) => a - b);
    const figures = [0.5, 0.9, 0.99, 1].map((share) => percentile(latencies, share).toFixed(2));
    const goal = eventsPerSecond === 150 ? `<= ${GOALS[engine]}` : '';
    return `| ${[engine, eventsPerSecond, latencies.length, ...figures, goal].join(' | ')} |`;
  } finally {
    for (const child of children) child.kill('SIGTERM');
    await Promise.all(
      children.map((child) => (child.exitCode === null ? new Promise((resolve) => child.once('exit', resolve)) : null)),
    );
    rmSync(dataDir, { recursive: true, force: true });
  }
}
