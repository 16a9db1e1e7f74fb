import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openLog } from '../../infra/log/open-log.js';
import type { Log } from '../../infra/log/port.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { createMetrics } from '../../infra/telemetry/metrics.js';
import { createBlockEncoder } from '../../ingest/chain/block-records.js';
import { blockEvent, decodeBlock, decodePending } from '../../ingest/chain/decode/index.js';
import { createActivityProcessor } from '../../processors/activity/processor.js';
import { applyActivity } from '../../processors/positions/apply-activity.js';
import { createPositionsProcessor } from '../../processors/positions/processor.js';
import { openStateStores, type StateStores } from '../../processors/stateful/state-store.js';
import type { StatefulProcessor } from '../../processors/stateful/stateful-processor.js';
import { createHolding, type Holding } from '../../schemas/accounting/holding.js';
import { createCodec } from '../../schemas/codec.js';
import { allTopics, topics } from '../../schemas/topics.js';
import type { WalletActivity } from '../../schemas/types.gen.js';
import { FILLS_PER_BLOCK, fillBlock } from './fill-blocks.js';
import { median } from './measure.js';
import { type Figure, PER_MILLION } from './report/figure.js';

/** Fills of a round. */
const FILLS = Number(process.env.BENCH_FILLS ?? 60_000);
const ROUNDS = 5;
const TARGET = 50_000;
const logger = silentLogger();
const codec = createCodec();

const STAGES = {
  activity: 'chain.final to wallet.activity',
  positions: 'wallet.activity to positions and pnl.events',
  arithmetic: 'arithmetic alone',
} as const;
interface Measured {
  readonly records: number;
  readonly perSecond: number;
  readonly cpuSPerMillion: number;
}
type Round = Record<keyof typeof STAGES, Measured>;

/**
 * chain.final -> wallet.activity -> positions and pnl.events on the embedded log, one process: 20,000 wallets, 3,000 tokens. Measures the stream
 * processors with log, local state and every sync to disk, then the arithmetic alone.
 */
export async function run(): Promise<readonly Figure[]> {
  const once: Round[] = [];
  const twice: Round[] = [];
  for (let n = 0; n < ROUNDS; n++) {
    once.push(await measure(FILLS));
    twice.push(await measure(2 * FILLS));
  }
  const stages = Object.entries(STAGES) as [keyof Round, string][];
  const of = (rounds: readonly Round[], stage: keyof Round, field: 'perSecond' | 'cpuSPerMillion') =>
    rounds.map((round) => round[stage][field]);
  console.table(
    stages.map(([stage, name]) => ({
      stage: name,
      records: once[0]?.[stage].records.toLocaleString('en'),
      'records/s': Math.round(median(of(once, stage, 'perSecond'))).toLocaleString('en'),
      'CPU us per record': median(of(once, stage, 'cpuSPerMillion')).toFixed(1),
    })),
  );
  console.log(`resident memory: ${Math.round(process.memoryUsage().rss / 1024 ** 2)} MB`);
  const rate = median(of(once, 'positions', 'perSecond'));
  console.log(
    `accounting at ${Math.round(rate).toLocaleString('en')} activity records/s, target ${TARGET.toLocaleString('en')}`,
  );
  const work = `${(2 * FILLS).toLocaleString('en')} fills`;
  return stages.flatMap(([stage, name]): Figure[] => {
    const baselineOf = (field: 'perSecond' | 'cpuSPerMillion') =>
      stage === 'positions'
        ? { baseline: { name: STAGES.arithmetic, values: of(once, 'arithmetic', field) } }
        : undefined;
    const both = (field: 'perSecond' | 'cpuSPerMillion') => ({
      values: of(once, stage, field),
      twice: { work, values: of(twice, stage, field) },
      ...baselineOf(field),
    });
    const input = stage === 'activity' ? 'fills and blocks' : 'activity records';
    return [
      { name, unit: `${input}/s`, better: 'more', ...both('perSecond') },
      { name, unit: `${PER_MILLION} ${input}`, better: 'less', ...both('cpuSPerMillion') },
    ];
  });
}

async function measure(fills: number): Promise<Round> {
  const dir = mkdtempSync(join(tmpdir(), 'oddstream-bench-accounting-'));
  const log = await openLog(`lmdb:${join(dir, 'log')}`, { logger, maintenance: false });
  const stores = openStateStores(join(dir, 'state'), 'bench');
  try {
    await log.ensureTopics(allTopics);
    await fillLog(log, Math.ceil(fills / FILLS_PER_BLOCK));
    const timed = async (work: () => number | Promise<number>): Promise<Measured> => {
      const cpu = process.cpuUsage();
      const startedAt = performance.now();
      const records = await work();
      const ms = performance.now() - startedAt;
      const { user, system } = process.cpuUsage(cpu);
      return { records, perSecond: records / (ms / 1000), cpuSPerMillion: (user + system) / records };
    };
    const activity = await timed(() => processAll(log, stores, 'activity'));
    const positions = await timed(() => processAll(log, stores, 'positions'));
    const records = await readActivity(log);
    return { activity, positions, arithmetic: await timed(() => applyAll(records)) };
  } finally {
    await stores.close();
    await log.close();
    rmSync(dir, { recursive: true, force: true });
  }
}

async function fillLog(log: Log, blockCount: number): Promise<void> {
  const encode = createBlockEncoder({ codec, decoder: { decodeBlock, blockEvent, decodePending } });
  for (let first = 1; first <= blockCount; first += 50) {
    const blocks = Array.from({ length: Math.min(50, blockCount - first + 1) }, (_, i) => encode(fillBlock(first + i)));
    await log.append(
      topics.chainFinal.name,
      blocks.flatMap(({ eventRecords, block }) => [...eventRecords, block]),
    );
  }
}

async function processAll(log: Log, stores: StateStores, which: 'activity' | 'positions'): Promise<number> {
  const metrics = createMetrics({ process: 'bench', defaults: false });
  const depsOf = (name: string) => ({ log, codec, store: stores.open(name), logger, metrics });
  const processors: StatefulProcessor[] =
    which === 'activity'
      ? [createActivityProcessor(depsOf('activity'))]
      : Array.from({ length: topics.positions.partitions }, (_, partition) =>
          createPositionsProcessor({
            ...depsOf(`positions-${partition}`),
            partition,
            pnlPartitions: topics.pnlEvents.partitions,
          }),
        );
  const done = new AbortController();
  const running = processors.map((processor) => processor.run(done.signal));
  for (;;) {
    const states = await Promise.all(processors.map((processor) => processor.state()));
    if (states.every((state) => state.loaded && state.lag === 0)) break;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  done.abort();
  await Promise.all(running);
  const input = which === 'activity' ? topics.chainFinal : topics.walletActivity;
  let records = 0;
  for (let partition = 0; partition < input.partitions; partition++)
    records += (await log.bounds(input.name, partition)).next;
  return records;
}

async function readActivity(log: Log): Promise<WalletActivity[]> {
  const all: WalletActivity[] = [];
  for (let partition = 0; partition < topics.walletActivity.partitions; partition++) {
    const read = { topic: topics.walletActivity.name, partition, from: 'earliest', follow: false } as const;
    for await (const batch of log.read(read)) {
      for (const { value } of batch.records) {
        const event = value === null ? null : codec.decode(value);
        if (event?.kind === 'wallet_activity') all.push(event.value);
      }
    }
  }
  return all;
}

function applyAll(activity: readonly WalletActivity[]): number {
  const holdings = new Map<string, Holding>();
  for (const one of activity) {
    const keyOf = (token: string) => `${one.wallet}:${token}`;
    applyActivity(one, {
      get: (token) => holdings.get(keyOf(token)),
      getOrCreate(token) {
        const holding = holdings.get(keyOf(token)) ?? createHolding(one.wallet, token, one.timestamp_ms);
        holdings.set(keyOf(token), holding);
        return holding;
      },
    });
  }
  return activity.length;
}
