import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../infra/telemetry/logger.js';
import type { Metrics } from '../../infra/telemetry/metrics.js';
import type { OffsetRange } from './chunk-journal.js';
import type { Family } from './family.js';
import type { TableStore } from './table-store.js';
import type { TableRows } from './transform-chunk.js';

export interface Reconciler {
  /** A chunk is in the tables, these rows of it. */
  landed(range: OffsetRange, tables: readonly Pick<TableRows, 'table' | 'rows'>[]): void;
  /** Count what landed since the last check that was right. */
  check(): Promise<void>;
  /** Checks until the signal. */
  run(signal: AbortSignal): Promise<void>;
}

interface Due extends OffsetRange {
  readonly rows: number;
}

const CHECK_EVERY_MS = 30_000;

/**
 * Holds the tables of one sink against the log: rows found under the offsets that landed, less the rows their records make. Offsets are asked
 * for again until they are right, so a replica that is behind shows for a moment only.
 */
export function createReconciler(options: {
  family: Family;
  partition: number;
  store: Pick<TableStore, 'query'>;
  logger: Logger;
  metrics: Metrics;
}): Reconciler {
  const { family, partition, store, logger, metrics } = options;
  const labels = { sink: family.name, topic: family.topic.name, partition: String(partition) };
  const names = ['sink', 'topic', 'partition', 'table'];
  const off = metrics.gauge(
    'sink_rows_off',
    'Rows in the table less rows the log gives, newest unproven offsets',
    names,
  );
  const proven = metrics.counter(
    'sink_rows_proven_total',
    'Rows found again in the table as the log gives them',
    names,
  );
  const due = new Map<string, Due>();
  let next = 0;

  const found = async (table: string, { firstOffset, lastOffset }: OffsetRange): Promise<number> => {
    const ofPartition = family.topic.partitions > 1 ? 'AND _partition = {partition:UInt16}' : '';
    const rows = await store.query<{ rows: string }>(
      `SELECT toString(count()) AS rows FROM {table:Identifier}
       WHERE _offset BETWEEN {first:UInt64} AND {last:UInt64} ${ofPartition}`,
      { table, first: firstOffset, last: lastOffset, partition },
    );
    return Number(rows[0]?.rows ?? 0);
  };

  const check = async (): Promise<void> => {
    for (const [table, range] of [...due]) {
      const difference = (await found(table, range)) - range.rows;
      off.set({ ...labels, table }, difference);
      if (difference !== 0) {
        logger.warn({ ...labels, table, ...range, difference }, 'the table does not hold what the log gives');
        continue;
      }
      proven.inc({ ...labels, table }, range.rows);
      const now = due.get(table) ?? range;
      if (now.lastOffset === range.lastOffset) due.delete(table);
      else
        due.set(table, { firstOffset: range.lastOffset + 1, lastOffset: now.lastOffset, rows: now.rows - range.rows });
    }
  };

  return {
    landed(range, tables) {
      // The chunk a sink begins with may have been counted before.
      if (!family.everyRow || range.lastOffset < next) return;
      next = range.lastOffset + 1;
      for (const { table, rows } of tables) {
        const before = due.get(table.name);
        const now = { firstOffset: range.firstOffset, lastOffset: range.lastOffset, rows };
        due.set(table.name, before === undefined ? now : joined(before, now));
      }
    },
    check,
    async run(signal) {
      try {
        for (;;) {
          await sleep(CHECK_EVERY_MS, undefined, { signal });
          await check().catch((error: unknown) => logger.warn({ ...labels, err: error }, 'rows cannot be counted'));
        }
      } catch (error) {
        if (!signal.aborted) throw error;
      } finally {
        for (const { name } of family.tables) off.remove({ ...labels, table: name });
      }
    },
  };
}

/** Two ranges, the later one behind the first. */
const joined = (first: Due, later: Due): Due => ({
  firstOffset: first.firstOffset,
  lastOffset: later.lastOffset,
  rows: first.rows + later.rows,
});
