import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../infra/telemetry/logger.js';
import type { Metrics } from '../../infra/telemetry/metrics.js';
import type { OffsetRange } from './chunk-journal.js';
import type { SinkDefinition, Table } from './sink-definition.js';
import type { TableStore } from './table-store.js';
import type { TableRows } from './transform-chunk.js';

export interface Reconciler {
  /** A chunk is in the tables, these rows of it. */
  recordCommitted(range: OffsetRange, tables: readonly TableRows[]): void;
  /** Count what landed since the last check that was right. */
  check(): Promise<void>;
  /** Checks until the signal. */
  run(signal: AbortSignal): Promise<void>;
}

interface UnverifiedRange extends OffsetRange {
  readonly rows: number;
  /** A hash per row of a table with a key, in the order of the log. */
  readonly keys: readonly number[];
}

const CHECK_INTERVAL_MS = 30_000;

/**
 * Holds the tables of one sink against the log: rows found under the offsets that landed, less the rows their records make. Offsets are asked
 * for again until they are right, so a replica that is behind shows for a moment only. A table with a key keeps the newest of repeated rows:
 * its keys are counted, however often the log and the table, before a merge, hold them.
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
    'Rows in the table less rows the log gives, newest unproven offsets',
    names,
  );
  const verified = metrics.counter(
    'sink_rows_verified_total',
    'Rows found again in the table as the log gives them',
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
          'the table does not hold what the log gives',
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
      // The chunk a sink begins with may have been counted before.
      if (!definition.retainsAllRows || range.lastOffset < next) return;
      next = range.lastOffset + 1;
      for (const { table, rows, body } of tables) {
        if (table.replaced) continue;
        const before = unverified.get(table);
        const keys = table.key === undefined ? [] : keysOf(body);
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

/** Two ranges, the later one behind the first. */
const mergeRanges = (first: UnverifiedRange, later: UnverifiedRange): UnverifiedRange => ({
  firstOffset: first.firstOffset,
  lastOffset: later.lastOffset,
  rows: first.rows + later.rows,
  keys: first.keys.concat(later.keys),
});

/** A hash of the first column of every line. */
function keysOf(body: Buffer): number[] {
  const keys: number[] = [];
  for (let at = 0; at < body.length; ) {
    const tab = body.indexOf('\t', at);
    keys.push(hash53(body, at, tab));
    at = body.indexOf('\n', tab) + 1;
  }
  return keys;
}

/** Of 53 bits, so that two of a million keys are the same once in 18,000 times (cyrb53). */
function hash53(bytes: Buffer, from: number, to: number): number {
  let a = 0xdeadbeef;
  let b = 0x41c6ce57;
  for (let i = from; i < to; i++) {
    const byte = bytes[i] as number;
    a = Math.imul(a ^ byte, 2654435761);
    b = Math.imul(b ^ byte, 1597334677);
  }
  a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909);
  b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909);
  return 4294967296 * (2097151 & b) + (a >>> 0);
}
