import { RetryableError } from '../../errors.js';
import type { Logger } from '../../telemetry/logger.js';
import { LogUnavailableError } from '../errors.js';
import type { LogHealth } from '../health.js';
import type { AppendedRange } from '../port.js';
import { fencedError, isCurrentOwner } from './group-ownership.js';
import { committedOffsetKey, entryKey, partitionKey } from './keys.js';
import { decodeState, encodeState, newPartitionState } from './partition-state.js';
import type { Store } from './store.js';
import { indexChunk } from './time-index.js';
import type { TopicTable } from './topics.js';
import { createPlanner, type PlannedRange, type WritePlan, type WriteRequest } from './write-plan.js';

export interface Writer {
  /** Resolves, per output of the request, with its offsets, once everything is on disk. */
  submit(request: WriteRequest): Promise<readonly (readonly AppendedRange[])[]>;
  /** Write the queued requests; later calls of `submit` reject. */
  close(): void;
}

/** A transaction takes queued requests until it holds this many records, so that other processes can write in between. */
const MAX_RECORDS_PER_TRANSACTION = 5000;
const RETRY_INTERVAL_MS = 250;
/**
 * After a transaction the next one waits as long as that one took, at most this long: a transaction blocks the event loop while it waits for other
 * processes and for the disk, so under load half of the time remains for reading, and more requests share a sync.
 */
const MAX_PAUSE_MS = 20;
/** Operation name for LogHealth. */
const OPERATION = 'Append to the log';

interface QueuedRequest {
  readonly request: WriteRequest;
  readonly records: number;
  /** Time of the first failed write, Unix ms. */
  failedAtMs: number | null;
  resolve(ranges: readonly (readonly AppendedRange[])[]): void;
  reject(error: unknown): void;
}

/** Another process acquired the groups of these requests before the transaction started. */
class StaleOwnershipError extends RetryableError {
  constructor(readonly stale: ReadonlySet<QueuedRequest>) {
    super('Ownership was taken over');
  }
}

/** Another process changed the topic table after the plan was computed. */
class TopicTableChangedError extends RetryableError {}

/**
 * Queues the requests of one event-loop iteration, or of the pause after a transaction, and writes them in one transaction: many small appends share
 * one sync.
 * Requests keep their order. An invalid request is rejected without the others; a transaction that fails writes none of its requests. While
 * the disk is full or fails, they stay at the head of the queue and are retried, until they have waited `unavailableAfterMs`.
 */
export function createWriter(deps: {
  store: Store;
  topics: TopicTable;
  logger: Logger;
  onCommitted: () => void;
  unavailableAfterMs: number;
  health?: Pick<LogHealth, 'recordFailure' | 'recordSuccess'>;
}): Writer {
  const { store, topics, onCommitted, logger, health } = deps;
  let queue: QueuedRequest[] = [];
  let scheduled = false;
  let closed = false;
  let timer: NodeJS.Timeout | undefined;
  let unavailable = false;
  /** performance.now() before which no transaction starts. */
  let pausedUntilMs = 0;

  const take = (): QueuedRequest[] => {
    let records = 0;
    let count = 0;
    while (count < queue.length && (count === 0 || records + queue[count]!.records <= MAX_RECORDS_PER_TRANSACTION)) {
      records += queue[count++]!.records;
    }
    const taken = queue.slice(0, count);
    queue = queue.slice(count);
    return taken;
  };

  const write = (batch: readonly QueuedRequest[]): void => {
    const planner = createPlanner(topics);
    const planned: { entry: QueuedRequest; ranges: readonly (readonly PlannedRange[])[] }[] = [];
    for (const entry of batch) {
      try {
        planned.push({ entry, ranges: planner.add(entry.request) });
      } catch (error) {
        entry.reject(error);
      }
    }
    if (planned.length === 0) return;
    const plan = planner.finish();
    let bases: Map<unknown, number>;
    try {
      bases = store.write(() => {
        const stale = planned
          .filter(({ entry }) => !isCurrentOwner(store, entry.request.fencingToken))
          .map(({ entry }) => entry);
        if (stale.length > 0) throw new StaleOwnershipError(new Set(stale));
        return applyPlan(store, topics, plan);
      });
    } catch (error) {
      const entries = planned.map(({ entry }) => entry);
      if (error instanceof TopicTableChangedError) {
        topics.reload();
        write(entries);
      } else if (error instanceof StaleOwnershipError) {
        for (const entry of error.stale) entry.reject(fencedError(entry.request.fencingToken?.group ?? ''));
        write(entries.filter((entry) => !error.stale.has(entry)));
      } else if (error instanceof LogUnavailableError) putBack(entries, error);
      else for (const entry of entries) entry.reject(error);
      return;
    }
    onCommitted();
    health?.recordSuccess(OPERATION);
    if (unavailable) logger.info('the log can be written again');
    unavailable = false;
    for (const { entry, ranges } of planned) {
      entry.resolve(ranges.map((output) => output.map((range) => toAppendedRange(range, bases))));
    }
  };

  /** None of the requests was written, so a retry is safe. */
  const putBack = (entries: readonly QueuedRequest[], error: LogUnavailableError) => {
    const now = Date.now();
    health?.recordFailure(OPERATION, error);
    if (!unavailable && !closed && deps.unavailableAfterMs > 0)
      logger.warn({ err: error }, 'cannot write the log now, retrying');
    unavailable = true;
    const waiting: QueuedRequest[] = [];
    for (const entry of entries) {
      entry.failedAtMs ??= now;
      if (closed || now - entry.failedAtMs >= deps.unavailableAfterMs) entry.reject(error);
      else waiting.push(entry);
    }
    queue = [...waiting, ...queue];
    if (waiting.length > 0) timer = setTimeout(flush, RETRY_INTERVAL_MS);
  };

  const flush = () => {
    timer = undefined;
    const batch = take();
    const beganMs = performance.now();
    try {
      write(batch);
    } catch (error) {
      for (const entry of batch) entry.reject(error);
    }
    const endMs = performance.now();
    pausedUntilMs = endMs + Math.min(endMs - beganMs, MAX_PAUSE_MS);
    scheduled = queue.length > 0;
    if (scheduled && timer === undefined) setImmediate(flush);
  };

  return {
    submit(request) {
      if (closed) return Promise.reject(new LogUnavailableError('The log is closed'));
      const records = request.outputs.reduce((sum, output) => sum + output.records.length, 0);
      return new Promise((resolve, reject) => {
        queue.push({ request, records, failedAtMs: null, resolve, reject });
        if (!scheduled) {
          scheduled = true;
          const pauseMs = pausedUntilMs - performance.now();
          if (pauseMs > 0) timer = setTimeout(flush, pauseMs);
          else setImmediate(flush);
        }
      });
    },
    close() {
      closed = true;
      clearTimeout(timer);
      while (queue.length > 0) flush();
    },
  };
}

function toAppendedRange(range: PlannedRange, bases: ReadonlyMap<unknown, number>): AppendedRange {
  const base = bases.get(range.target) ?? 0;
  return {
    partition: range.target.partition,
    firstOffset: base + range.firstDelta,
    lastOffset: base + range.lastDelta,
  };
}

/** Runs inside the write transaction: assigns offsets; stores chunks, time index, states and positions. Returns each partition's base offset. */
function applyPlan(store: Store, topics: TopicTable, plan: WritePlan): Map<unknown, number> {
  if (topics.storedVersion() !== plan.topicVersion) {
    throw new TopicTableChangedError('The topic table changed');
  }
  const bases = new Map<unknown, number>();
  for (const target of plan.partitions) {
    const { id } = target.topic;
    const key = partitionKey(id, target.partition);
    const stored = store.meta.get(key);
    const state = stored === undefined ? newPartitionState() : decodeState(stored);
    const base = state.next;
    for (const chunk of target.chunks) {
      store.chunks.put(entryKey(id, target.partition, base + chunk.baseDelta), chunk.bytes);
      state.next = base + chunk.baseDelta + chunk.offsetSpan;
      indexChunk(store, id, target.partition, state, chunk.maxTimestampMs);
    }
    store.meta.put(key, encodeState(state));
    bases.set(target, base);
  }
  for (const { group, topicId, position } of plan.offsets) {
    const bytes = Buffer.allocUnsafe(8);
    bytes.writeDoubleLE(position.nextOffset, 0);
    store.meta.put(committedOffsetKey(group, topicId, position.partition), bytes);
  }
  return bases;
}
