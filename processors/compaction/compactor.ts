import { setTimeout as sleep } from 'node:timers/promises';
import { ClickHouseError } from '@clickhouse/client';
import type { ClickHouse } from '../../infra/clickhouse/client.js';
import { RetryableError } from '../../infra/errors.js';
import type { Logger } from '../../infra/telemetry/logger.js';
import type { Metrics } from '../../infra/telemetry/metrics.js';

/** A partition of a table, as the engine keeps it. */
export interface PartitionStats {
  readonly table: string;
  readonly partition: string;
  readonly parts: number;
  readonly rows: number;
  /** Rows of the largest part. */
  readonly largest: number;
}

export interface Compactor {
  /** Looks once, and puts together what is due. */
  compactOnce(signal?: AbortSignal): Promise<void>;
  /** Looks again and again until the signal. */
  run(signal: AbortSignal): Promise<void>;
}

/** Smaller tables are read fast in any number of parts. */
const MIN_ROWS = 100_000;
const MIN_PARTS = 3;
/**
 * Rows outside the largest part, of those in it. A page reads a little of each column of each part, so that seven parts cost half as much again as one. A table
 * is written anew each time it has grown by this: of 100 million rows that take in a million a day once a day, in some minutes of one core.
 */
const MIN_UNMERGED_RATIO = 0.01;
/** A partition that grew by more than this since the last look is still being loaded. */
const MAX_GROWTH = 1.005;

/** Whether putting a partition into one part is worth it. `rowsBefore`: at the last look; undefined: not seen then. */
export const isDue = (stats: PartitionStats, rowsBefore: number | undefined): boolean =>
  stats.rows >= MIN_ROWS &&
  stats.parts >= MIN_PARTS &&
  stats.rows - stats.largest > stats.largest * MIN_UNMERGED_RATIO &&
  rowsBefore !== undefined &&
  stats.rows <= rowsBefore * MAX_GROWTH;

const IDENTIFIER = /^[A-Za-z0-9_]+$/;
/** Without the tables whose rows go after a time: those renew themselves, and their newest rows are read. */
const partitionStatsSql = `SELECT table, partition_id AS partition, count() AS parts, sum(rows) AS rows, max(p.rows) AS largest
  FROM system.parts AS p WHERE active AND database = currentDatabase()
    AND table NOT IN (SELECT name FROM system.tables WHERE database = currentDatabase() AND position(engine_full, ' TTL ') > 0)
  GROUP BY table, partition_id ORDER BY rows`;

/**
 * Puts tables into one part once they have stopped growing fast: every question reads each column of each part, and the engine by itself merges only
 * parts of a like size, so that some ten remain. One table at a time.
 */
export function createCompactor(options: {
  /** `command` must have hours of patience: a large table takes minutes. */
  clickhouse: Pick<ClickHouse, 'query' | 'command'>;
  everyMs: number;
  logger: Logger;
  metrics: Metrics;
  pause?: (ms: number, signal: AbortSignal) => Promise<unknown>;
}): Compactor {
  const { clickhouse, logger } = options;
  const pause = options.pause ?? ((ms, signal) => sleep(ms, undefined, { signal }).catch(() => undefined));
  const checks = options.metrics.counter('compaction_checks_total', 'How often the parts of all tables were looked at');
  const done = options.metrics.counter('compactions_total', 'Partitions of tables that were put into one part', [
    'table',
  ]);
  const waiting = options.metrics.gauge('compaction_due', 'Partitions of tables that wait to be put into one part');
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
        // Dropped meanwhile, or no room for another copy of it: the others may have more luck.
        if (!(error instanceof ClickHouseError)) throw error;
        logger.warn({ err: error, table, partition }, 'cannot put a table into one part');
        continue;
      }
      done.inc({ table });
      logger.info(
        { table, partition, parts, rows, tookMs: Math.round(performance.now() - beganMs) },
        'put into one part',
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
          logger.warn({ err: error }, 'tables not put together, trying again later');
        }
        await pause(options.everyMs, signal);
      }
    },
  };
}
