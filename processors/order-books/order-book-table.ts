import { setTimeout as sleep } from 'node:timers/promises';
import type { ClickHouse } from '../../infra/clickhouse/client.js';
import { ddlFor } from '../../infra/clickhouse/cluster-ddl.js';
import { partitionsOf } from '../../infra/log/partitions.js';
import type { Log, LogRecord } from '../../infra/log/port.js';
import type { Logger } from '../../infra/telemetry/logger.js';
import type { Metrics } from '../../infra/telemetry/metrics.js';
import type { Codec } from '../../schemas/codec.js';
import { topics } from '../../schemas/topics.js';
import { tryDecode } from '../../schemas/try-decode.js';
import type { OrderBookUpdate } from '../../schemas/types.gen.js';
import { deadLetterRecord } from '../dead-letter.js';
import { runConcurrently } from '../run-concurrently.js';
import { retryUntilSuccess } from '../sink/retry.js';
import { createBookStates } from './book-state.js';
import { bookRow, bookStateOf, type StoredBookRow, storedBooksSql } from './rows.js';
import { orderBooks } from './tables.js';

export interface OrderBookTable {
  /** Follows orderbook.updates and writes changed books to `order_books` until the signal. Needs the tables. */
  run(signal: AbortSignal): Promise<void>;
  /** Records of the log that are not applied yet, and the last error of the table store. */
  state(): Promise<{ readonly lag: number; readonly lastError: string | undefined }>;
}

const FLUSH_MS = 2_000;
/** Rows per insert: bounds its size. */
const ROWS_PER_INSERT = 500;
/** Longer than ingest takes to repeat a whole book, so that only books that are no longer followed are forgotten. */
const KEEP_MS = 15 * 60_000;
/** Books with an older record cannot be continued: the topic does not retain the records after it. */
const RESTORE_MS = topics.orderbookUpdates.retentionMs;

const { name: topic } = topics.orderbookUpdates;

/**
 * Maintains the newest book of every token in `order_books`. The table is also the stored state: a run starts with its rows and with the records after them, so
 * a restart loses nothing. Rows have the offset of their last record and the greatest offset wins, so that repeated inserts, and those of a former owner of the
 * task, have no effect.
 */
export function createOrderBookTable(options: {
  log: Pick<Log, 'partitions' | 'read' | 'bounds' | 'append'>;
  codec: Codec;
  clickhouse: Pick<ClickHouse, 'query' | 'stream' | 'insertRows' | 'command' | 'database' | 'cluster'>;
  logger: Logger;
  metrics: Metrics;
  nowMs: () => number;
  flushMs?: number;
}): OrderBookTable {
  const { log, codec, clickhouse, nowMs, flushMs = FLUSH_MS } = options;
  const logger = options.logger.child({ table: orderBooks.name });
  const books = createBookStates();
  const rowsWritten = options.metrics.counter('order_book_table_rows_total', 'Rows inserted into order_books');
  const lagGauge = options.metrics.gauge('order_book_table_lag_records', 'Records of orderbook.updates not applied');
  const skipped = options.metrics.counter(
    'order_book_table_skipped_total',
    'Records of orderbook.updates that could not be applied: unreadable, invalid, or after missing records',
    ['why'],
  );
  /** Next offset to apply, per partition. */
  let positions: number[] = [];
  /** Offsets before which every record is in the table, per partition. */
  let flushed: readonly number[] = [];
  let version = 0;
  let lastError: string | undefined;

  const retry = async <T>(what: string, signal: AbortSignal, attempt: () => Promise<T>): Promise<T> => {
    const result = await retryUntilSuccess(`order_books: ${what}`, attempt, {
      signal,
      onFailure: (error, delayMs) => {
        lastError = `${what}: ${error instanceof Error ? error.message : String(error)}`;
        logger.warn({ err: error, delayMs }, `${what} failed, trying again`);
      },
    });
    lastError = undefined;
    return result;
  };

  const currentBounds = async () =>
    Promise.all((await partitionsOf(log, topics.orderbookUpdates)).map((partition) => log.bounds(topic, partition)));

  const restore = async (signal: AbortSignal): Promise<void> => {
    const found = await retry('read positions', signal, () =>
      clickhouse.query<{ partition: number; resume: string; newest: string; version: string }>(
        'SELECT _partition AS partition, toString(max(_resume)) AS resume, toString(max(_offset)) AS newest, toString(max(_version)) AS version FROM order_books GROUP BY partition',
      ),
    );
    // After the rows: another process may append and insert until then, and its rows are not of another log.
    const bounds = await currentBounds();
    version = Math.max(0, ...found.map((row) => Number(row.version)));
    const isOfOtherLog = found.some(({ partition, newest }) => Number(newest) >= (bounds[partition]?.next ?? 0));
    if (isOfOtherLog) {
      // Its rows would hide those of this log, whose offsets are lower.
      logger.warn('order_books is ahead of the log: the table is emptied and filled from the retained records');
      await retry('empty the table', signal, () =>
        clickhouse.command(`TRUNCATE TABLE ${orderBooks.name}${ddlFor(clickhouse).onCluster}`),
      );
    }
    const resume = new Map(found.map((row) => [row.partition, Number(row.resume)]));
    positions = bounds.map(({ earliest }, partition) =>
      isOfOtherLog ? earliest : Math.max(earliest, resume.get(partition) ?? 0),
    );
    flushed = [...positions];
    if (isOfOtherLog) return;
    await retry('read stored books', signal, async () => {
      for await (const row of clickhouse.stream<StoredBookRow>(storedBooksSql, { since: nowMs() - RESTORE_MS })) {
        const state = bookStateOf(row);
        if (state !== null) books.restore(row.token_id, state);
      }
    });
    logger.info({ books: books.size }, 'order books restored');
  };

  const decode = (record: LogRecord, reject: (reason: string) => void): OrderBookUpdate | undefined => {
    if (record.value === null) return undefined;
    const event = tryDecode(codec, record.value, reject);
    if (event?.kind !== 'order_book_update') return undefined;
    if (/^\d{1,78}$/.test(event.value.token_id) && BigInt(event.value.token_id) < 2n ** 256n) return event.value;
    reject('token_id is not a token id');
    return undefined;
  };

  const follow = async (partition: number, signal: AbortSignal): Promise<void> => {
    const from = { offset: positions[partition] ?? 0 };
    for await (const batch of log.read({ topic, partition, from, follow: true, signal })) {
      const rejected: { readonly record: LogRecord; readonly reason: string }[] = [];
      for (const record of batch.records) {
        const update = decode(record, (reason) => rejected.push({ record, reason }));
        if (update === undefined) continue;
        const result = books.apply(update, { partition, offset: record.offset });
        if (result === 'gap') skipped.inc({ why: 'gap' });
        if (result === 'invalid') rejected.push({ record, reason: 'invalid order book level' });
      }
      if (rejected.length > 0) {
        skipped.inc({ why: 'unreadable' }, rejected.length);
        const letters = rejected.map(({ record, reason }) =>
          deadLetterRecord({ codec, by: 'order-books', topic, partition, record, reason }),
        );
        await log.append(topics.deadLetters.name, letters);
      }
      positions[partition] = batch.nextOffset;
    }
  };

  const flush = async (signal: AbortSignal): Promise<void> => {
    // Applied records and their books: no record is applied in between.
    const [next, changed] = [[...positions], [...books.takeChanged()]];
    for (let at = 0; at < changed.length; at += ROWS_PER_INSERT) {
      version = Math.max(version + 1, nowMs());
      const rows = changed
        .slice(at, at + ROWS_PER_INSERT)
        .map(([tokenId, state]) => bookRow(tokenId, state, flushed[state.partition] ?? 0, version));
      await retry('insert', signal, () => clickhouse.insertRows(orderBooks.name, rows));
      rowsWritten.inc(rows.length);
    }
    flushed = next;
    books.evictBefore(nowMs() - KEEP_MS);
  };

  return {
    async run(signal) {
      try {
        await restore(signal);
        await runConcurrently(signal, (inner) => [
          ...positions.map((_, partition) => follow(partition, inner)),
          (async () => {
            while (!inner.aborted) {
              await sleep(flushMs, undefined, { signal: inner }).catch(() => undefined);
              if (!inner.aborted) await flush(inner);
            }
          })(),
        ]);
      } catch (error) {
        if (!signal.aborted) throw error;
      }
    },
    async state() {
      const lag = (await currentBounds()).reduce(
        (sum, { earliest, next }, partition) => sum + Math.max(0, next - Math.max(earliest, positions[partition] ?? 0)),
        0,
      );
      lagGauge.set(lag);
      return { lag, lastError };
    },
  };
}
