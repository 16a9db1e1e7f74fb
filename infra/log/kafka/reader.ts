import { setMaxListeners } from 'node:events';
import type { Logger } from '../../telemetry/logger.js';
import { LogArgumentError, LogCorruptError } from '../errors.js';
import type { LogRecord, PartitionBounds, ReadOptions, RecordBatch } from '../port.js';
import { EARLIEST, fetchEndOffset } from './appended-batches.js';
import type { Cluster, ReaderConnection } from './cluster.js';
import { KafkaError } from './kafka-error.js';
import type { FetchResponse } from './kafkajs-client.js';
import { checkPartition } from './partition-records.js';
import { decodeBatch, type FetchedBatch, isAbort, splitBatches } from './record-batch.js';

export interface Reader {
  read(options: ReadOptions): AsyncIterable<RecordBatch>;
  bounds(topic: string, partition: number): Promise<PartitionBounds>;
  offsetForTimestamp(topic: string, partition: number, timestampMs: number): Promise<number>;
  lastRecord(topic: string, partition: number): Promise<LogRecord | null>;
  /** Is the record that was appended at this offset committed (true) or rolled back (false)? Waits until that is decided. */
  isCommitted(topic: string, partition: number, offset: number): Promise<boolean>;
}

const DEFAULT_MAX_RECORDS = 1000;
const FETCH_BYTES = 4 * 1024 * 1024;
/** Enough for the one batch that is asked for: a broker always gives at least one, whatever its size. */
const PEEK_BYTES = 1024;
const LONG_POLL_MS = 5_000;

/** What one fetch brought: batches that committed readers may see, and where to go on. */
interface Fetched {
  readonly batches: readonly FetchedBatch[];
  readonly nextOffset: number;
  readonly logStart: number;
}

/** The last record readers can see, and the bounds that follow from it. */
interface PartitionTail {
  readonly last: LogRecord | null;
  readonly bounds: PartitionBounds;
}

/**
 * Reads partitions at explicit offsets with plain fetch requests, committed records only. A reader has a connection of its own, because a
 * long poll holds up what is behind it.
 *
 * `next` of a partition is one after the last record readers can see, not Kafka's end: that would count the markers that end transactions,
 * and a consumer that has processed everything would seem to lag behind for ever.
 */
export function createReader(deps: { cluster: Cluster; logger: Logger }): Reader {
  const { cluster, logger } = deps;

  /** Retries, and takes a new connection each time; the old one may hold an answer nobody waits for. */
  const fetchAt = async (
    held: { lease: ReaderConnection | null },
    request: { topic: string; partition: number; offset: number; maxWaitMs: number; maxBytes: number },
    signal?: AbortSignal,
    deadlineMs?: number,
  ): Promise<FetchResponse> => {
    const { topic, partition } = request;
    return cluster.retry(
      `Read of topic "${topic}", partition ${partition}`,
      async () => {
        held.lease ??= await cluster.acquireReaderConnection(topic, partition);
        const { lease } = held;
        try {
          const response = await abortable(lease.connection.fetch(request), signal);
          if (response.error === null) return response;
          if (response.error.type !== 'OFFSET_OUT_OF_RANGE') throw response.error;
          return { ...response, logStart: await lease.connection.listOffset(topic, partition, EARLIEST) };
        } catch (error) {
          lease.connection.close();
          lease.release();
          held.lease = null;
          throw error;
        }
      },
      { topic, signal, deadlineMs },
    );
  };

  const withLease = async <T>(work: (held: { lease: ReaderConnection | null }) => Promise<T>): Promise<T> => {
    const held: { lease: ReaderConnection | null } = { lease: null };
    try {
      return await work(held);
    } finally {
      held.lease?.release();
    }
  };

  const stableEnd = (topic: string, partition: number) => fetchEndOffset(cluster, topic, partition);

  /** Visible records of `[from, end)`, batch by batch. */
  async function* scan(
    held: { lease: ReaderConnection | null },
    where: { topic: string; partition: number; from: number; end: number; maxBytes?: number },
    wanted: (batch: FetchedBatch) => boolean = () => true,
    fetched?: FetchResponse,
  ): AsyncGenerator<LogRecord> {
    const { topic, partition, end, maxBytes = FETCH_BYTES } = where;
    let known = fetched;
    for (let offset = where.from; offset < end; ) {
      const response = known ?? (await fetchAt(held, { topic, partition, offset, maxWaitMs: 0, maxBytes }));
      known = undefined;
      if (response.error !== null) {
        if (offset >= response.logStart) return;
        offset = response.logStart;
        continue;
      }
      const { batches, nextOffset } = visibleBatches(response, offset);
      for (const batch of batches) {
        if (!wanted(batch)) continue;
        for (const record of await decodeBatch(batch, offset)) if (record.offset < end) yield record;
      }
      if (nextOffset === offset) return;
      offset = nextOffset;
    }
  }

  /** Backwards from the end, in growing steps: before it there may be markers, rolled back records and compacted holes. */
  const tailOf = async (topic: string, partition: number): Promise<PartitionTail> => {
    const end = await stableEnd(topic, partition);
    const empty: PartitionTail = { last: null, bounds: { earliest: end, next: end } };
    if (end === 0) return empty;
    return withLease(async (held) => {
      for (let step = 1, until = end; ; step *= 4) {
        const offset = Math.max(0, end - step);
        const where = { topic, partition, maxBytes: step === 1 ? PEEK_BYTES : FETCH_BYTES };
        const response = await fetchAt(held, { ...where, offset, maxWaitMs: 0 });
        const earliest = response.logStart;
        if (earliest >= end) return empty;
        let last: LogRecord | null = null;
        const from = Math.max(offset, earliest);
        const known = from === offset ? response : undefined;
        for await (const record of scan(held, { ...where, from, end: until }, undefined, known)) last = record;
        if (last !== null) return { last, bounds: { earliest, next: last.offset + 1 } };
        if (from === earliest) return empty;
        until = from;
      }
    });
  };

  const offsetForTimestamp = async (topic: string, partition: number, timestampMs: number): Promise<number> => {
    if (!Number.isFinite(timestampMs)) throw new LogArgumentError(`${timestampMs} is not a Unix time in milliseconds`);
    await checkPartition(cluster, topic, partition);
    // Kafka's answer counts markers, whose time is the wall clock's, and rolled back records. It is never too late, so the search goes on there.
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
      const found = await withLease(async (held) => {
        const late = (batch: FetchedBatch) => batch.maxTimestampMs >= timestampMs;
        for await (const record of scan(held, { topic, partition, from: candidate, end }, late)) {
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
    // Every waiting reader listens, and one signal may stop any number of readers.
    if (signal !== undefined) setMaxListeners(0, signal);
    const held: { lease: ReaderConnection | null } = { lease: null };
    let ahead: Promise<FetchResponse> | null = null;
    const ask = (from: number) => {
      const maxWaitMs = follow ? LONG_POLL_MS : 0;
      // Who waits for ever for records does so for the broker too, and goes on where it was.
      const deadlineMs = follow ? Number.POSITIVE_INFINITY : undefined;
      return fetchAt(held, { topic, partition, offset: from, maxWaitMs, maxBytes: FETCH_BYTES }, signal, deadlineMs);
    };
    try {
      await checkPartition(cluster, topic, partition);
      let offset = await startOf(options);
      const end = follow ? Number.POSITIVE_INFINITY : await stableEnd(topic, partition);
      while (offset < end && !signal?.aborted) {
        const response = await (ahead ?? ask(offset));
        ahead = null;
        if (response.error !== null) {
          const start = await earlierOrLater(response, offset, signal);
          if (start === null && !follow) return;
          offset = start ?? offset;
          continue;
        }
        const fetched = visibleBatches(response, offset);
        if (!follow && fetched.nextOffset === offset) return;
        // More is there: it travels while this is unpacked and worked on.
        if (fetched.nextOffset < Math.min(end, response.lastStableOffset)) {
          ahead = ask(fetched.nextOffset);
          ahead.catch(() => undefined);
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
      if (ahead === null) held.lease?.release();
      else abandon(held, ahead);
    }
  }

  /** The reader has left while an answer is under way, which must not become the next reader's. */
  const abandon = (held: { lease: ReaderConnection | null }, ahead: Promise<FetchResponse>) => {
    const release = () => held.lease?.release();
    ahead.then(release, release);
  };

  /** After OFFSET_OUT_OF_RANGE: where retention left the log, or null for an offset the log has yet to reach. */
  const earlierOrLater = async (
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
      return (await tailOf(topic, partition)).last;
    },
    isCommitted: (topic, partition, offset) =>
      cluster.retry(`Topic "${topic}", partition ${partition}`, () =>
        withLease(async (held) => {
          const where = { topic, partition, maxBytes: PEEK_BYTES };
          const response = await fetchAt(held, { ...where, offset, maxWaitMs: 0 });
          // Until the stable end has passed it, what is not to be seen may still be committed.
          if (response.error === null && response.lastStableOffset <= offset) {
            throw new KafkaError('CONCURRENT_TRANSACTIONS', `offset ${offset} is not decided yet`, true);
          }
          const only = { ...where, from: offset, end: offset + 1 };
          for await (const record of scan(held, only, undefined, response)) return record.offset === offset;
          return false;
        }),
      ),
  };
}

/** Leaves out markers, and what a rolled back transaction wrote (KIP-98, "Reading transactional messages"). */
function visibleBatches(response: FetchResponse, fetchOffset: number): Fetched {
  const batches: FetchedBatch[] = [];
  const aborted = [...response.aborted].sort((a, b) => a.firstOffset - b.firstOffset);
  const rolledBack = new Set<number>();
  let nextOffset = fetchOffset;
  for (const batch of splitBatches(response.records)) {
    if (batch.lastOffset < fetchOffset) continue;
    nextOffset = batch.lastOffset + 1;
    while (aborted[0] !== undefined && aborted[0].firstOffset <= batch.lastOffset) {
      rolledBack.add(aborted.shift()!.producerId);
    }
    if (batch.control) {
      if (isAbort(batch)) rolledBack.delete(batch.producerId);
    } else if (batch.count > 0 && !(batch.transactional && rolledBack.has(batch.producerId))) {
      batches.push(batch);
    }
  }
  if (nextOffset === fetchOffset && response.records.length > 0) {
    throw new LogCorruptError(`The broker's answer for offset ${fetchOffset} holds no whole batch`);
  }
  return { batches, nextOffset, logStart: response.logStart };
}

/** Records below `end` in groups of at most `maxRecords`; small batches are put together. */
async function* groupRecords(
  fetched: Fetched,
  fromOffset: number,
  maxRecords: number,
  end: number,
): AsyncGenerator<{ records: LogRecord[]; nextOffset: number }> {
  let waiting: LogRecord[] = [];
  for (const batch of fetched.batches) {
    if (batch.baseOffset >= end) break;
    const records = await decodeBatch(batch, fromOffset);
    for (const record of records) {
      if (record.offset >= end) break;
      waiting.push(record);
      if (waiting.length > maxRecords) {
        const full = waiting.slice(0, maxRecords);
        waiting = waiting.slice(maxRecords);
        yield { records: full, nextOffset: full.at(-1)!.offset + 1 };
      }
    }
  }
  if (waiting.length > 0) {
    yield { records: waiting, nextOffset: Math.max(waiting.at(-1)!.offset + 1, Math.min(fetched.nextOffset, end)) };
  }
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
