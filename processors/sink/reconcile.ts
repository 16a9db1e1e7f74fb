import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../infra/telemetry/logger.js';
import type { Metrics } from '../../infra/telemetry/metrics.js';
import type { OffsetRange } from './chunk-journal.js';
import type { SinkDefinition, Table } from './sink-definition.js';
import type { TableStore } from './table-store.js';
import type { TableRows } from './transform-chunk.js';

export interface Reconciler {
  /** Records that a chunk is in the tables, with its rows per table. */
  recordCommitted(range: OffsetRange, tables: readonly TableRows[]): void;
  /** Counts the rows committed since the last successful check. */
  check(): Promise<void>;
  /** Checks periodically until the signal. */
  run(signal: AbortSignal): Promise<void>;
}

interface UnverifiedRange extends OffsetRange {
  readonly rows: number;
  /** One hash per row of a keyed table, in log order. */
  readonly keys: readonly number[];
}

const CHECK_INTERVAL_MS = 30_000;

/**
 * Compares the tables of one sink with the log: rows found under the committed offsets minus the rows computed from their records. A range is
 * checked again until it matches, so a lagging replica causes a transient mismatch only. A keyed table keeps the newest of repeated rows:
 * its distinct keys are counted, independent of repeats in the log and of unmerged parts in the table.
 */
export function createReconciler(options: {
  definition: SinkDefinition;
  partition: number;
  store: Pick<TableStore, 'query'>;
  logger: Logger;
  metrics: Metrics;
}): Reconciler {
  const { definition, partition, store, logger, metrics } = options;
  const labels = { sink: definition.name, topic: definition.topic.name, partition: String(partition) };
  const names = ['sink', 'topic', 'partition', 'table'];
  const mismatch = metrics.gauge(
    'sink_row_mismatch',
    'Rows in the table minus rows computed from the log, over the newest unverified offsets',
    names,
  );
  const verified = metrics.counter(
    'sink_rows_verified_total',
    'Rows of the table that match the rows computed from the log',
    names,
  );
  const unverified = new Map<Table, UnverifiedRange>();
  let next = 0;

  const found = async (table: Table, { firstOffset, lastOffset }: OffsetRange): Promise<number> => {
    const ofPartition = definition.topic.partitions > 1 ? 'AND _partition = {partition:UInt16}' : '';
    const rows = await store.query<{ rows: string }>(
      `SELECT toString(${table.key === undefined ? 'count()' : `uniqExact(${table.key})`}) AS rows FROM {table:Identifier}
       WHERE _offset BETWEEN {first:UInt64} AND {last:UInt64} ${ofPartition}`,
      { table: table.name, first: firstOffset, last: lastOffset, partition },
    );
    return Number(rows[0]?.rows ?? 0);
  };

  const check = async (): Promise<void> => {
    for (const [table, range] of [...unverified]) {
      const { firstOffset, lastOffset } = range;
      const expected = table.key === undefined ? range.rows : new Set(range.keys).size;
      const difference = (await found(table, range)) - expected;
      const ofTable = { ...labels, table: table.name };
      mismatch.set(ofTable, difference);
      if (difference !== 0) {
        logger.warn(
          { ...ofTable, firstOffset, lastOffset, rows: expected, difference },
          'rows of the table differ from the log; run `npm run rebuild` for it if this persists',
        );
        continue;
      }
      verified.inc(ofTable, expected);
      const now = unverified.get(table) ?? range;
      if (now.lastOffset === lastOffset) unverified.delete(table);
      else
        unverified.set(table, {
          firstOffset: lastOffset + 1,
          lastOffset: now.lastOffset,
          rows: now.rows - range.rows,
          keys: now.keys.slice(range.keys.length),
        });
    }
  };

  return {
    recordCommitted(range, tables) {
      // The first chunk of a sink may repeat one that was already counted.
      if (!definition.retainsAllRows || range.lastOffset < next) return;
      next = range.lastOffset + 1;
      for (const { table, rows, keys } of tables) {
        if (table.replaced) continue;
        const before = unverified.get(table);
        const now = { firstOffset: range.firstOffset, lastOffset: range.lastOffset, rows, keys };
        unverified.set(table, before === undefined ? now : mergeRanges(before, now));
      }
    },
    check,
    async run(signal) {
      try {
        for (;;) {
          await sleep(CHECK_INTERVAL_MS, undefined, { signal });
          await check().catch((error: unknown) => logger.warn({ ...labels, err: error }, 'rows cannot be counted'));
        }
      } catch (error) {
        if (!signal.aborted) throw error;
      } finally {
        for (const { name } of definition.tables) mismatch.remove({ ...labels, table: name });
      }
    },
  };
}

/** Merges two adjacent ranges. */
const mergeRanges = (first: UnverifiedRange, later: UnverifiedRange): UnverifiedRange => ({
  firstOffset: first.firstOffset,
  lastOffset: later.lastOffset,
  rows: first.rows + later.rows,
  keys: first.keys.concat(later.keys),
});
