import { setTimeout as sleep } from 'node:timers/promises';
import { ClickHouseError } from '@clickhouse/client';
import type { ClickHouse } from '../../infra/clickhouse/client.js';
import { RetryableError } from '../../infra/errors.js';
import type { Logger } from '../../infra/telemetry/logger.js';
import type { Metrics } from '../../infra/telemetry/metrics.js';

/** Storage statistics of one table partition from system.parts. */
export interface PartitionStats {
  readonly table: string;
  readonly partition: string;
  readonly parts: number;
  readonly rows: number;
  /** Rows of the largest part. */
  readonly largest: number;
}

export interface Compactor {
  /** Checks all tables once and merges the partitions that are due. */
  compactOnce(signal?: AbortSignal): Promise<void>;
  /** Repeats `compactOnce` until the signal. */
  run(signal: AbortSignal): Promise<void>;
}

/** Partitions with fewer rows are fast to read in any number of parts. */
const MIN_ROWS = 100_000;
const MIN_PARTS = 3;
/**
 * Ratio of rows outside the largest part to rows in it. A page reads a little of each column of each part, so seven parts cost 1.5 times as
 * much as one. A table is rewritten each time it has grown by this ratio: a table of 100 million rows that receives a million rows per day is
 * rewritten once a day, which takes some minutes of one core.
 */
const MIN_UNMERGED_RATIO = 0.01;
/** A partition that grew by more than this factor since the last check is still being loaded. */
const MAX_GROWTH = 1.005;

/** Whether merging a partition into one part is worthwhile. `rowsBefore`: rows at the last check; undefined: absent then. */
export const isDue = (stats: PartitionStats, rowsBefore: number | undefined): boolean =>
  stats.rows >= MIN_ROWS &&
  stats.parts >= MIN_PARTS &&
  stats.rows - stats.largest > stats.largest * MIN_UNMERGED_RATIO &&
  rowsBefore !== undefined &&
  stats.rows <= rowsBefore * MAX_GROWTH;

const IDENTIFIER = /^[A-Za-z0-9_]+$/;
/** Excludes tables with a TTL: their parts are replaced over time, and queries read their newest rows. */
const partitionStatsSql = `SELECT table, partition_id AS partition, count() AS parts, sum(rows) AS rows, max(p.rows) AS largest
  FROM system.parts AS p WHERE active AND database = currentDatabase()
    AND table NOT IN (SELECT name FROM system.tables WHERE database = currentDatabase() AND position(engine_full, ' TTL ') > 0)
  GROUP BY table, partition_id ORDER BY rows`;

/**
 * Merges each table partition into one part (OPTIMIZE FINAL) once it has stopped growing fast: every query reads each column of each part, and
 * the engine's background merges combine only parts of similar size, so about ten remain. Merges one partition at a time.
 */
export function createCompactor(options: {
  /** `command` needs a request timeout of hours: merging a large table takes minutes. */
  clickhouse: Pick<ClickHouse, 'query' | 'command'>;
  everyMs: number;
  logger: Logger;
  metrics: Metrics;
  pause?: (ms: number, signal: AbortSignal) => Promise<unknown>;
}): Compactor {
  const { clickhouse, logger } = options;
  const pause = options.pause ?? ((ms, signal) => sleep(ms, undefined, { signal }).catch(() => undefined));
  const checks = options.metrics.counter('compaction_checks_total', 'Checks of the parts of all tables');
  const done = options.metrics.counter('compactions_total', 'Table partitions merged into one part', ['table']);
  const waiting = options.metrics.gauge('compaction_due', 'Table partitions waiting to be merged into one part');
  let before = new Map<string, number>();

  const compactOnce: Compactor['compactOnce'] = async (signal) => {
    const found = await clickhouse.query<Record<keyof PartitionStats, string>>(partitionStatsSql, {}, { signal });
    const stats = found.map(
      (row): PartitionStats => ({
        table: row.table,
        partition: row.partition,
        parts: Number(row.parts),
        rows: Number(row.rows),
        largest: Number(row.largest),
      }),
    );
    const partitionKey = ({ table, partition }: PartitionStats) => `${table} ${partition}`;
    const due = stats.filter((one) => isDue(one, before.get(partitionKey(one))));
    before = new Map(stats.map((one) => [partitionKey(one), one.rows]));
    for (const [n, { table, partition, parts, rows }] of due.entries()) {
      waiting.set(due.length - n);
      if (signal?.aborted || !IDENTIFIER.test(table) || !IDENTIFIER.test(partition)) continue;
      const beganMs = performance.now();
      try {
        await clickhouse.command(`OPTIMIZE TABLE ${table} PARTITION ID '${partition}' FINAL`, {}, { signal });
      } catch (error) {
        // The table was dropped meanwhile or the disk has no space for another copy of it; other tables may still succeed.
        if (!(error instanceof ClickHouseError)) throw error;
        logger.warn(
          { err: error, table, partition },
          'cannot merge a table partition into one part, continuing with the next',
        );
        continue;
      }
      done.inc({ table });
      logger.info(
        { table, partition, parts, rows, tookMs: Math.round(performance.now() - beganMs) },
        'merged into one part',
      );
    }
    waiting.set(0);
    checks.inc();
  };
  return {
    compactOnce,
    async run(signal) {
      while (!signal.aborted) {
        try {
          await compactOnce(signal);
        } catch (error) {
          if (signal.aborted) return;
          if (!(error instanceof RetryableError)) throw error;
          logger.warn({ err: error }, 'cannot compact tables, trying again later');
        }
        await pause(options.everyMs, signal);
      }
    },
  };
}
