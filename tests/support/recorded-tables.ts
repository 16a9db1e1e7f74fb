import path from 'node:path';
import type { ClickHouse } from '../../infra/clickhouse/client.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { createMetrics } from '../../infra/telemetry/metrics.js';
import { createRecordedCatalogSource } from '../../ingest/catalog/recorded/recorded-source.js';
import { blockEvent, decodeBlock } from '../../ingest/chain/decode/index.js';
import { createRecordedChainSource } from '../../ingest/chain/recorded/recorded-source.js';
import { createSteppingClock, openRecording } from '../../ingest/shared/recorded/index.js';
import { computeBlockActivity } from '../../processors/activity/block-activity.js';
import { createTokens } from '../../processors/activity/tokens.js';
import { catalogSink } from '../../processors/catalog/sink.js';
import { chainSink } from '../../processors/chain/sink.js';
import { fillsSink } from '../../processors/fills/sink.js';
import { createLeaderboardRefresher } from '../../processors/leaderboards/leaderboard-refresher.js';
import { walletEventsSink } from '../../processors/wallet-events/sink.js';
import type { AnyEvent } from '../../schemas/codec.js';
import type { ActivityState, WalletActivity } from '../../schemas/types.gen.js';
import { insertAccounts, insertRecords } from './positions.js';

/** After the last recorded block. */
export const RECORDED_NOW_MS = Date.UTC(2026, 7, 1);

/** Content of the recording at its original times: the events of each block in chain order, and the catalogue. */
export interface RecordedHistory {
  readonly blocks: readonly (readonly AnyEvent[])[];
  readonly catalog: readonly AnyEvent[];
}

export async function readRecordedHistory(): Promise<RecordedHistory> {
  const recording = openRecording(path.join(import.meta.dirname, '../recorded/set'));
  const { signal } = new AbortController();
  const source = await createRecordedChainSource({
    recording,
    logger: silentLogger(),
    clock: createSteppingClock(RECORDED_NOW_MS),
    historyOnly: true,
  });
  const range = await source.historyRange(null, signal);
  if (range === null) throw new Error('the recording has no history');
  const blocks: AnyEvent[][] = [];
  for await (const block of source.history(range, signal)) {
    const { events, problems } = decodeBlock(block);
    if (problems.length > 0) throw new Error(`block ${block.number}: ${problems.length} problems`);
    blocks.push([...events, { kind: 'block', value: blockEvent(block, events) }]);
  }
  const catalog: AnyEvent[] = [];
  const onRejected = (reason: string) => {
    throw new Error(reason);
  };
  const rows = createRecordedCatalogSource({
    recording,
    lastWrittenMs: null,
    historyOnly: true,
    onRejected,
    nowMs: () => RECORDED_NOW_MS,
  });
  for await (const update of rows.load(signal)) if (update.type === 'rows') catalog.push(...update.rows);
  return { blocks, catalog };
}

/** What every wallet of the blocks did, in chain order. */
export function activityOfBlocks(blocks: RecordedHistory['blocks']): readonly WalletActivity[] {
  const tokens = createTokens();
  const memory = new Map<string, ActivityState>();
  const state = {
    get: (id: string) => memory.get(id),
    set: (id: string, value: ActivityState) => void memory.set(id, value),
  };
  return blocks.flatMap((events) => computeBlockActivity(events, tokens, state).activity);
}

/** Fills every table of the history that the views of money read, with the rows that the sinks make of its events. */
export async function insertRecordedTables(
  clickhouse: ClickHouse,
  { blocks, catalog }: RecordedHistory,
): Promise<void> {
  const events = blocks.flat();
  await insertRecords(clickhouse, catalogSink, catalog);
  for (const sink of [fillsSink, chainSink, walletEventsSink]) {
    const kept = events.filter(({ kind }) => sink.kinds.has(kind));
    await insertRecords(clickhouse, sink, kept);
  }
  await insertAccounts(clickhouse, activityOfBlocks(blocks));
  const metrics = createMetrics({ process: 'test', defaults: false });
  // Snapshots are kept for hours of the engine's own clock.
  const refresher = createLeaderboardRefresher({ clickhouse, logger: silentLogger(), metrics, nowMs: Date.now });
  await refresher.refresh();
}
