import { setMaxListeners } from 'node:events';
import { yieldToEventLoop } from '../../event-loop.js';
import { LogArgumentError } from '../errors.js';
import type { LogRecord, PartitionBounds, ReadOptions, RecordBatch, StartAt } from '../port.js';
import { collectRecords, readHeader } from './chunk.js';
import type { CommitNotifier } from './commit-notifier.js';
import { chunkBaseOffset, entryKey, MAX_OFFSET, partitionKey } from './keys.js';
import { decodeState } from './partition-state.js';
import type { Store } from './store.js';
import { lowerBound } from './time-index.js';
import type { TopicTable } from './topics.js';

export interface Reader {
  read(options: ReadOptions): AsyncGenerator<RecordBatch, void, undefined>;
  bounds(topic: string, partition: number): PartitionBounds;
  offsetForTimestamp(topic: string, partition: number, timestampMs: number): number;
  lastRecord(topic: string, partition: number): LogRecord | null;
  /** End all reads; readers that wait for a commit end when the notifier closes. */
  close(): void;
}

const DEFAULT_MAX_RECORDS = 1000;
/** Largest batch in bytes, below `maxRecords` too. */
const MAX_BATCH_BYTES = 4 * 1024 * 1024;
/** A reader that always finds records yields to the event loop after this long. */
const YIELD_AFTER_MS = 5;

interface ReadSlice {
  readonly records: readonly LogRecord[];
  /** The partition's next offset in the same snapshot. */
  readonly next: number;
}

export function createReader(deps: { store: Store; topics: TopicTable; commitNotifier: CommitNotifier }): Reader {
  const { store, topics, commitNotifier } = deps;
  let closed = false;

  const nextOf = (id: number, partition: number): number => {
    const state = store.meta.get(partitionKey(id, partition));
    return state === undefined ? 0 : decodeState(state).next;
  };
  const boundsOf = (id: number, partition: number): PartitionBounds => {
    const next = nextOf(id, partition);
    const range = { start: entryKey(id, partition, 0), end: entryKey(id, partition + 1, 0), limit: 1 };
    for (const { key, value } of store.chunks.getRange(range)) {
      return { earliest: chunkBaseOffset(key) + readHeader(value).firstDelta, next };
    }
    return { earliest: next, next };
  };
  /** Key of the chunk that covers `offset`, or of the first one after it. */
  const startKey = (id: number, partition: number, offset: number): Buffer => {
    const target = entryKey(id, partition, offset);
    const before = { start: target, end: entryKey(id, partition, 0), reverse: true, inclusiveEnd: true, limit: 1 };
    for (const key of store.chunks.getKeys(before)) return Buffer.from(key);
    return target;
  };
  const slice = (id: number, partition: number, from: number, end: number, maxRecords: number): ReadSlice => {
    const next = nextOf(id, partition);
    const records: LogRecord[] = [];
    if (from >= Math.min(next, end)) return { records, next };
    let bytes = 0;
    const range = { start: startKey(id, partition, from), end: entryKey(id, partition + 1, 0) };
    for (const { key, value } of store.chunks.getRange(range)) {
      const base = chunkBaseOffset(key);
      if (base >= end) break;
      store.recordBytesRead(value.length);
      bytes += collectRecords(value, base, from, end, maxRecords, records);
      if (records.length >= maxRecords || bytes >= MAX_BATCH_BYTES) break;
    }
    return { records, next };
  };
  const forTimestamp = (id: number, partition: number, timestampMs: number): number => {
    const { earliest, next } = boundsOf(id, partition);
    if (timestampMs <= 0) return earliest;
    const from = Math.max(earliest, lowerBound(store, id, partition, timestampMs));
    if (from >= next) return next;
    const range = { start: startKey(id, partition, from), end: entryKey(id, partition + 1, 0) };
    for (const { key, value } of store.chunks.getRange(range)) {
      store.recordBytesRead(value.length);
      if (readHeader(value).maxTimestampMs < timestampMs) continue;
      const records: LogRecord[] = [];
      collectRecords(value, chunkBaseOffset(key), 0, next, Number.POSITIVE_INFINITY, records);
      const found = records.find((record) => record.timestampMs >= timestampMs);
      if (found !== undefined) return found.offset;
    }
    return next;
  };
  const startOffset = (id: number, partition: number, from: StartAt): number => {
    if (from === 'latest') return nextOf(id, partition);
    const earliest = boundsOf(id, partition).earliest;
    if (from === 'earliest') return earliest;
    return 'offset' in from ? Math.max(earliest, from.offset) : forTimestamp(id, partition, from.timestampMs);
  };

  async function* read(options: ReadOptions): AsyncGenerator<RecordBatch, void, undefined> {
    const { topic, partition, from, follow, maxRecords = DEFAULT_MAX_RECORDS, signal } = options;
    checkRead(from, maxRecords);
    const { id } = topics.partition(topic, partition);
    // Many readers may share one signal.
    if (signal !== undefined) setMaxListeners(0, signal);
    let [offset, end] = store.read(() => [startOffset(id, partition, from), nextOf(id, partition)] as const);
    if (follow) end = Number.POSITIVE_INFINITY;
    let busySince = performance.now();
    while (offset < end && !closed && !signal?.aborted) {
      const sequence = commitNotifier.sequence();
      const { records, next } = store.read(() => slice(id, partition, offset, end, maxRecords));
      const last = records.at(-1);
      if (last !== undefined) {
        offset = last.offset + 1;
        yield { topic, partition, records, nextOffset: offset };
        if (performance.now() - busySince > YIELD_AFTER_MS) {
          await yieldToEventLoop();
          busySince = performance.now();
        }
        continue;
      }
      if (!follow) return;
      if (offset < next) offset = next;
      const position = offset;
      await commitNotifier.waitForCommit(sequence, () => closed || nextOf(id, partition) > position, signal);
      busySince = performance.now();
    }
  }

  return {
    read,
    bounds(topic, partition) {
      const { id } = topics.partition(topic, partition);
      return store.read(() => boundsOf(id, partition));
    },
    offsetForTimestamp(topic, partition, timestampMs) {
      if (Number.isNaN(timestampMs)) throw new LogArgumentError('timestampMs is not a number');
      const { id } = topics.partition(topic, partition);
      return store.read(() => forTimestamp(id, partition, Math.min(Math.ceil(timestampMs), MAX_OFFSET)));
    },
    lastRecord(topic, partition) {
      const { id } = topics.partition(topic, partition);
      return store.read(() => {
        const range = { start: entryKey(id, partition, MAX_OFFSET), end: entryKey(id, partition, 0) };
        for (const { key, value } of store.chunks.getRange({ ...range, reverse: true, inclusiveEnd: true, limit: 1 })) {
          const base = chunkBaseOffset(key);
          const records: LogRecord[] = [];
          collectRecords(value, base, base + readHeader(value).lastDelta, Number.POSITIVE_INFINITY, 1, records);
          return records[0] ?? null;
        }
        return null;
      });
    },
    close() {
      closed = true;
    },
  };
}

function checkRead(from: StartAt, maxRecords: number): void {
  if (!Number.isInteger(maxRecords) || maxRecords < 1) {
    throw new LogArgumentError(`maxRecords must be a positive integer, not ${maxRecords}`);
  }
  if (typeof from === 'string') return;
  const valid = 'offset' in from ? Number.isInteger(from.offset) && from.offset >= 0 : !Number.isNaN(from.timestampMs);
  if (!valid) throw new LogArgumentError(`Cannot start reading at ${JSON.stringify(from)}`);
}
