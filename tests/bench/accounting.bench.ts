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

const FILLS = Number(process.env.BENCH_FILLS ?? 400_000);
const BLOCKS = Math.ceil(FILLS / FILLS_PER_BLOCK);
const TARGET = 50_000;
const logger = silentLogger();
const codec = createCodec();

interface Line {
  readonly stage: string;
  readonly records: string;
  readonly 'records/s': string;
  readonly 'CPU us per record': string;
}

/**
 * chain.final -> wallet.activity -> positions and pnl.events on the embedded log, one process: 20,000 wallets, 3,000 tokens. Measures the stream
 * processors with log, local state and every sync to disk, then the arithmetic alone.
 */
export async function run(): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'oddstream-bench-accounting-'));
  const log = await openLog(`lmdb:${join(dir, 'log')}`, { logger, maintenance: false });
  const stores = openStateStores(join(dir, 'state'));
  try {
    await log.ensureTopics(allTopics);
    await fillLog(log);
    const lines: Line[] = [];
    const timed = async (stage: string, work: () => number | Promise<number>): Promise<number> => {
      const cpu = process.cpuUsage();
      const startedAt = performance.now();
      const records = await work();
      const ms = performance.now() - startedAt;
      const { user, system } = process.cpuUsage(cpu);
      lines.push({
        stage,
        records: records.toLocaleString('en'),
        'records/s': Math.round(records / (ms / 1000)).toLocaleString('en'),
        'CPU us per record': ((user + system) / records).toFixed(1),
      });
      return records / (ms / 1000);
    };
    await timed('chain.final to wallet.activity', () => processAll(log, stores, 'activity'));
    const rate = await timed('wallet.activity to positions and pnl.events', () => processAll(log, stores, 'positions'));
    const activity = await readActivity(log);
    await timed('arithmetic alone', () => applyAll(activity));
    console.table(lines);
    let positions = 0;
    for (let partition = 0; partition < topics.positions.partitions; partition++)
      positions += (await log.bounds(topics.positions.name, partition)).next;
    console.log(`position records per activity record: ${(positions / activity.length).toFixed(2)}`);
    console.log(`resident memory: ${Math.round(process.memoryUsage().rss / 1024 ** 2)} MB`);
    console.log(
      `accounting at ${Math.round(rate).toLocaleString('en')} activity records/s, target ${TARGET.toLocaleString('en')}`,
    );
  } finally {
    await stores.close();
    await log.close();
    rmSync(dir, { recursive: true, force: true });
  }
}

async function fillLog(log: Log): Promise<void> {
  const encode = createBlockEncoder({ codec, decoder: { decodeBlock, blockEvent, decodePending } });
  for (let first = 1; first <= BLOCKS; first += 50) {
    const blocks = Array.from({ length: Math.min(50, BLOCKS - first + 1) }, (_, i) => encode(fillBlock(first + i)));
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
          createPositionsProcessor({ ...depsOf(`positions-${partition}`), partition }),
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
