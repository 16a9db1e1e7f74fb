import { setMaxListeners } from 'node:events';
import type { Logger } from '../../telemetry/logger.js';
import { LogArgumentError } from '../errors.js';
import type { LogRecord, PartitionBounds, ReadOptions, RecordBatch } from '../port.js';
import { EARLIEST, fetchEndOffset } from './appended-batches.js';
import type { Cluster, ReaderConnection } from './cluster.js';
import type { FetchResponse } from './kafka-connection.js';
import { KafkaError } from './kafka-error.js';
import { checkPartition } from './partition-records.js';
import { decodeBatch, type FetchedBatch } from './record-batch.js';
import { groupRecords, visibleBatches } from './visible-batches.js';

export interface Reader {
  read(options: ReadOptions): AsyncIterable<RecordBatch>;
  bounds(topic: string, partition: number): Promise<PartitionBounds>;
  offsetForTimestamp(topic: string, partition: number, timestampMs: number): Promise<number>;
  lastRecord(topic: string, partition: number): Promise<LogRecord | null>;
  /** Whether the record appended at this offset was committed (true) or aborted (false). Waits until that is decided. */
  isCommitted(topic: string, partition: number, offset: number): Promise<boolean>;
}

const DEFAULT_MAX_RECORDS = 1000;
const FETCH_BYTES = 4 * 1024 * 1024;
/** For requests that need one batch: a broker returns at least one, whatever the limit. */
const PEEK_BYTES = 1024;
const LONG_POLL_MS = 5_000;

/** The end of a partition as readers of committed records see it. */
interface PartitionTail {
  readonly bounds: PartitionBounds;
  /** The batch with the last visible record; null: there is none. */
  readonly batch: FetchedBatch | null;
}

/**
 * Reads committed records at explicit offsets with fetch requests. Each reader has a separate connection, because a long poll blocks later
 * requests of its connection.
 *
 * `next` of a partition is the offset after the last visible record, not Kafka's log end: that counts the markers that end transactions,
 * so a consumer that has processed every record would show a lag forever.
 */
export function createReader(deps: { cluster: Cluster; logger: Logger }): Reader {
  const { cluster, logger } = deps;

  /** Retries, each time on a new connection: a response of the failed request may still arrive on the old one. */
  const fetchAt = async (
    current: { lease: ReaderConnection | null },
    request: { topic: string; partition: number; offset: number; maxWaitMs: number; maxBytes: number },
    signal?: AbortSignal,
    deadlineMs?: number,
  ): Promise<FetchResponse> => {
    const { topic, partition } = request;
    return cluster.retry(
      `Read of topic "${topic}", partition ${partition}`,
      async () => {
        current.lease ??= await cluster.acquireReaderConnection(topic, partition);
        const { lease } = current;
        try {
          const response = await abortable(lease.connection.fetch(request), signal);
          if (response.error === null) return response;
          if (response.error.type !== 'OFFSET_OUT_OF_RANGE') throw response.error;
          return { ...response, logStart: await lease.connection.listOffset(topic, partition, EARLIEST) };
        } catch (error) {
          lease.connection.close();
          lease.release();
          current.lease = null;
          throw error;
        }
      },
      { topic, signal, deadlineMs },
    );
  };

  const withLease = async <T>(work: (current: { lease: ReaderConnection | null }) => Promise<T>): Promise<T> => {
    const current: { lease: ReaderConnection | null } = { lease: null };
    try {
      return await work(current);
    } finally {
      current.lease?.release();
    }
  };

  const stableEnd = (topic: string, partition: number) => fetchEndOffset(cluster, topic, partition);

  /** Batches with visible records of `[from, end)`. Records of a batch before its `from` are outside. `fetched`: the response of an earlier fetch at `from`. */
  async function* batchesIn(
    current: { lease: ReaderConnection | null },
    range: { topic: string; partition: number; from: number; end: number; maxBytes?: number },
    fetched?: FetchResponse,
  ): AsyncGenerator<{ readonly batch: FetchedBatch; readonly from: number }> {
    const { topic, partition, end, maxBytes = FETCH_BYTES } = range;
    let known = fetched;
    for (let offset = range.from; offset < end; ) {
      const response = known ?? (await fetchAt(current, { topic, partition, offset, maxWaitMs: 0, maxBytes }));
      known = undefined;
      if (response.error !== null) {
        if (offset >= response.logStart) return;
        offset = response.logStart;
        continue;
      }
      const { batches, nextOffset } = visibleBatches(response, offset);
      for (const batch of batches) if (batch.baseOffset < end) yield { batch, from: offset };
      if (nextOffset === offset) return;
      offset = nextOffset;
    }
  }

  /** Visible records of `[from, end)`. Skips batches that `matches` rejects. */
  async function* scan(
    current: { lease: ReaderConnection | null },
    range: { topic: string; partition: number; from: number; end: number; maxBytes?: number },
    matches: (batch: FetchedBatch) => boolean = () => true,
    fetched?: FetchResponse,
  ): AsyncGenerator<LogRecord> {
    for await (const { batch, from } of batchesIn(current, range, fetched)) {
      if (!matches(batch)) continue;
      for (const record of await decodeBatch(batch, from)) if (record.offset < range.end) yield record;
    }
  }

  /** The last record of a batch below `end`; undefined if compaction has removed those. */
  const lastIn = async (batch: FetchedBatch, end: number): Promise<LogRecord | undefined> =>
    (await decodeBatch(batch, batch.baseOffset)).findLast(({ offset }) => offset < end);

  /** The offset of the last record of a batch below `end`. The header has it unless compaction has removed records: then the batch is unpacked. */
  const lastOffsetIn = async (batch: FetchedBatch, end: number): Promise<number | undefined> => {
    const { baseOffset, lastOffset, count } = batch;
    return count === lastOffset - baseOffset + 1 ? Math.min(lastOffset, end - 1) : (await lastIn(batch, end))?.offset;
  };

  /** Searches backwards from the end in growing steps: markers, aborted records and compacted offsets may precede the end. */
  const tailOf = async (topic: string, partition: number): Promise<PartitionTail> => {
    const end = await stableEnd(topic, partition);
    const empty: PartitionTail = { batch: null, bounds: { earliest: end, next: end } };
    if (end === 0) return empty;
    return withLease(async (current) => {
      for (let step = 1, until = end; ; step *= 4) {
        const offset = Math.max(0, end - step);
        const where = { topic, partition, maxBytes: step === 1 ? PEEK_BYTES : FETCH_BYTES };
        const response = await fetchAt(current, { ...where, offset, maxWaitMs: 0 });
        const earliest = response.logStart;
        if (earliest >= end) return empty;
        const from = Math.max(offset, earliest);
        const known = from === offset ? response : undefined;
        let tail: PartitionTail | null = null;
        for await (const { batch } of batchesIn(current, { ...where, from, end: until }, known)) {
          const last = await lastOffsetIn(batch, until);
          if (last !== undefined && last >= from) tail = { batch, bounds: { earliest, next: last + 1 } };
        }
        if (tail !== null) return tail;
        if (from === earliest) return empty;
        until = from;
      }
    });
  };

  const offsetForTimestamp = async (topic: string, partition: number, timestampMs: number): Promise<number> => {
    if (!Number.isFinite(timestampMs)) throw new LogArgumentError(`${timestampMs} is not a Unix time in milliseconds`);
    await checkPartition(cluster, topic, partition);
    // Kafka's result includes markers, whose timestamp is the wall clock's, and aborted records. It is never too late, so the search starts there.
    const candidate = await cluster.retry(
      `Topic "${topic}", partition ${partition}`,
      async () =>
        (await cluster.leader(topic, partition, 'control')).listOffset(
          topic,
          partition,
          Math.max(0, Math.ceil(timestampMs)),
        ),
      { topic },
    );
    if (candidate >= 0) {
      const end = await stableEnd(topic, partition);
      const found = await withLease(async (current) => {
        const lateEnough = (batch: FetchedBatch) => batch.maxTimestampMs >= timestampMs;
        for await (const record of scan(current, { topic, partition, from: candidate, end }, lateEnough)) {
          if (record.timestampMs >= timestampMs) return record.offset;
        }
        return null;
      });
      if (found !== null) return found;
    }
    return (await tailOf(topic, partition)).bounds.next;
  };

  const startOf = async ({ topic, partition, from }: ReadOptions): Promise<number> => {
    if (from === 'earliest') return 0;
    if (from === 'latest') return stableEnd(topic, partition);
    if ('timestampMs' in from) return offsetForTimestamp(topic, partition, from.timestampMs);
    if (!Number.isSafeInteger(from.offset) || from.offset < 0) {
      throw new LogArgumentError(`${from.offset} is not an offset`);
    }
    return from.offset;
  };

  async function* read(options: ReadOptions): AsyncGenerator<RecordBatch> {
    const { topic, partition, follow, signal, maxRecords = DEFAULT_MAX_RECORDS } = options;
    if (!Number.isInteger(maxRecords) || maxRecords < 1) throw new LogArgumentError(`maxRecords ${maxRecords}`);
    if (signal?.aborted) return;
    // Many readers may share one signal.
    if (signal !== undefined) setMaxListeners(0, signal);
    const current: { lease: ReaderConnection | null } = { lease: null };
    let prefetched: Promise<FetchResponse> | null = null;
    const fetchFrom = (from: number) => {
      const maxWaitMs = follow ? LONG_POLL_MS : 0;
      // A following reader waits without limit for the broker as it does for records, and resumes at its offset.
      const deadlineMs = follow ? Number.POSITIVE_INFINITY : undefined;
      return fetchAt(current, { topic, partition, offset: from, maxWaitMs, maxBytes: FETCH_BYTES }, signal, deadlineMs);
    };
    try {
      await checkPartition(cluster, topic, partition);
      let offset = await startOf(options);
      const end = follow ? Number.POSITIVE_INFINITY : await stableEnd(topic, partition);
      while (offset < end && !signal?.aborted) {
        const response = await (prefetched ?? fetchFrom(offset));
        prefetched = null;
        if (response.error !== null) {
          const start = await resolveOutOfRange(response, offset, signal);
          if (start === null && !follow) return;
          offset = start ?? offset;
          continue;
        }
        const fetched = visibleBatches(response, offset);
        if (!follow && fetched.nextOffset === offset) return;
        // Fetch the next records while these are decoded and processed.
        if (fetched.nextOffset < Math.min(end, response.lastStableOffset)) {
          prefetched = fetchFrom(fetched.nextOffset);
          prefetched.catch(() => undefined);
        }
        for await (const batch of groupRecords(fetched, offset, maxRecords, end)) {
          if (signal?.aborted) return;
          yield { topic, partition, ...batch };
        }
        offset = fetched.nextOffset;
      }
    } catch (error) {
      if (signal?.aborted || cluster.closed.aborted) return;
      throw error;
    } finally {
      if (prefetched === null) current.lease?.release();
      else releaseAfter(current, prefetched);
    }
  }

  /** Releases the connection only after its pending response, which the next reader must not receive. */
  const releaseAfter = (current: { lease: ReaderConnection | null }, pending: Promise<FetchResponse>) => {
    const release = () => current.lease?.release();
    pending.then(release, release);
  };

  /** After OFFSET_OUT_OF_RANGE: the log start when retention deleted the offset, null when the log has not reached it yet. */
  const resolveOutOfRange = async (
    response: FetchResponse,
    offset: number,
    signal: AbortSignal | undefined,
  ): Promise<number | null> => {
    if (offset < response.logStart) return response.logStart;
    logger.debug({ offset, end: response.highWatermark }, 'reading starts beyond the end');
    await abortable(new Promise((resolve) => setTimeout(resolve, 100)), signal);
    return null;
  };

  return {
    read,
    offsetForTimestamp,
    async bounds(topic, partition) {
      await checkPartition(cluster, topic, partition);
      return (await tailOf(topic, partition)).bounds;
    },
    async lastRecord(topic, partition) {
      await checkPartition(cluster, topic, partition);
      const { batch, bounds } = await tailOf(topic, partition);
      return batch === null ? null : ((await lastIn(batch, bounds.next)) ?? null);
    },
    isCommitted: (topic, partition, offset) =>
      cluster.retry(`Topic "${topic}", partition ${partition}`, () =>
        withLease(async (current) => {
          const where = { topic, partition, maxBytes: PEEK_BYTES };
          const response = await fetchAt(current, { ...where, offset, maxWaitMs: 0 });
          // An invisible record may still be committed until the last stable offset is above it.
          if (response.error === null && response.lastStableOffset <= offset) {
            throw new KafkaError('CONCURRENT_TRANSACTIONS', `offset ${offset} is not decided yet`, true);
          }
          const only = { ...where, from: offset, end: offset + 1 };
          for await (const record of scan(current, only, undefined, response)) return record.offset === offset;
          return false;
        }),
      ),
  };
}

function abortable<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
