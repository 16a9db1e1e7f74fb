import { RetryableError } from '../../errors.js';
import type { Logger } from '../../telemetry/logger.js';
import { LogUnavailableError } from '../errors.js';
import type { LogHealth } from '../health.js';
import type { AppendedRange } from '../port.js';
import { fenced, isNewest } from './claims.js';
import { partitionKey, positionKey, slotKey } from './keys.js';
import { createPlanner, type PlannedRange, type WritePlan, type WriteRequest } from './plan.js';
import { decodeState, encodeState, newPartitionState } from './state.js';
import type { Store } from './store.js';
import { indexChunk } from './time-index.js';
import type { TopicTable } from './topics.js';

export interface Writer {
  /** Resolves, per output of the request, with the offsets it got; everything is on disk then. */
  submit(request: WriteRequest): Promise<readonly (readonly AppendedRange[])[]>;
  /** Write what is queued, then refuse. */
  close(): void;
}

/** A transaction takes queued requests until it holds this many records, so that other processes get their turn. */
const MAX_RECORDS_PER_TRANSACTION = 5000;
const RETRY_EVERY_MS = 250;
/** As LogHealth wants it. */
const WHAT = 'Append to the log';

interface Queued {
  readonly request: WriteRequest;
  readonly records: number;
  /** When it first could not be written, Unix ms. */
  failedAtMs: number | null;
  resolve(ranges: readonly (readonly AppendedRange[])[]): void;
  reject(error: unknown): void;
}

/** Claims of these requests were taken over before the transaction got its turn. */
class StaleClaimsError extends RetryableError {
  constructor(readonly stale: ReadonlySet<Queued>) {
    super('Claims were taken over');
  }
}

/** Another process changed the topic table since the plan was made. */
class TopicTableMovedError extends RetryableError {}

/**
 * Queues the requests of one turn of the event loop and writes them in one transaction: many small appends share one sync.
 * Requests keep their order. A request that is wrong in itself is refused alone; a transaction that fails writes none of its requests. While
 * the disk is full or does not work, they stay first in line and are written again, until they have waited `unavailableAfterMs`.
 */
export function createWriter(deps: {
  store: Store;
  topics: TopicTable;
  logger: Logger;
  written: () => void;
  unavailableAfterMs: number;
  health?: Pick<LogHealth, 'failed' | 'worked'>;
}): Writer {
  const { store, topics, written, logger, health } = deps;
  let queue: Queued[] = [];
  let scheduled = false;
  let closed = false;
  let timer: NodeJS.Timeout | undefined;
  let away = false;

  const take = (): Queued[] => {
    let records = 0;
    let count = 0;
    while (count < queue.length && (count === 0 || records + queue[count]!.records <= MAX_RECORDS_PER_TRANSACTION)) {
      records += queue[count++]!.records;
    }
    const taken = queue.slice(0, count);
    queue = queue.slice(count);
    return taken;
  };

  const write = (batch: readonly Queued[]): void => {
    const planner = createPlanner(topics);
    const planned: { entry: Queued; ranges: readonly (readonly PlannedRange[])[] }[] = [];
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
        const stale = planned.filter(({ entry }) => !isNewest(store, entry.request.claim)).map(({ entry }) => entry);
        if (stale.length > 0) throw new StaleClaimsError(new Set(stale));
        return apply(store, topics, plan);
      });
    } catch (error) {
      const entries = planned.map(({ entry }) => entry);
      if (error instanceof TopicTableMovedError) {
        topics.reload();
        write(entries);
      } else if (error instanceof StaleClaimsError) {
        for (const entry of error.stale) entry.reject(fenced(entry.request.claim?.group ?? ''));
        write(entries.filter((entry) => !error.stale.has(entry)));
      } else if (error instanceof LogUnavailableError) putBack(entries, error);
      else for (const entry of entries) entry.reject(error);
      return;
    }
    written();
    health?.worked(WHAT);
    if (away) logger.info('the log can be written again');
    away = false;
    for (const { entry, ranges } of planned) {
      entry.resolve(ranges.map((output) => output.map((range) => absolute(range, bases))));
    }
  };

  /** Nothing of them was written, so writing them again is safe. */
  const putBack = (entries: readonly Queued[], error: LogUnavailableError) => {
    const now = Date.now();
    health?.failed(WHAT, error);
    if (!away && !closed && deps.unavailableAfterMs > 0)
      logger.warn({ err: error }, 'cannot write the log now, trying again');
    away = true;
    const waiting: Queued[] = [];
    for (const entry of entries) {
      entry.failedAtMs ??= now;
      if (closed || now - entry.failedAtMs >= deps.unavailableAfterMs) entry.reject(error);
      else waiting.push(entry);
    }
    queue = [...waiting, ...queue];
    if (waiting.length > 0) timer = setTimeout(flush, RETRY_EVERY_MS);
  };

  const flush = () => {
    timer = undefined;
    const batch = take();
    try {
      write(batch);
    } catch (error) {
      for (const entry of batch) entry.reject(error);
    }
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
          setImmediate(flush);
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

function absolute(range: PlannedRange, bases: ReadonlyMap<unknown, number>): AppendedRange {
  const base = bases.get(range.target) ?? 0;
  return {
    partition: range.target.partition,
    firstOffset: base + range.firstDelta,
    lastOffset: base + range.lastDelta,
  };
}

/** Inside the write transaction: give offsets, store chunks, time index, states and positions. Returns each partition's base. */
function apply(store: Store, topics: TopicTable, plan: WritePlan): Map<unknown, number> {
  if (topics.storedVersion() !== plan.topicVersion) {
    throw new TopicTableMovedError('The topic table moved on');
  }
  const bases = new Map<unknown, number>();
  for (const target of plan.partitions) {
    const { id } = target.topic;
    const key = partitionKey(id, target.partition);
    const stored = store.meta.get(key);
    const state = stored === undefined ? newPartitionState() : decodeState(stored);
    const base = state.next;
    for (const chunk of target.chunks) {
      store.chunks.put(slotKey(id, target.partition, base + chunk.baseDelta), chunk.bytes);
      state.next = base + chunk.baseDelta + chunk.slots;
      indexChunk(store, id, target.partition, state, chunk.maxTimestampMs);
    }
    store.meta.put(key, encodeState(state));
    bases.set(target, base);
  }
  for (const { group, topicId, position } of plan.positions) {
    const bytes = Buffer.allocUnsafe(8);
    bytes.writeDoubleLE(position.nextOffset, 0);
    store.meta.put(positionKey(group, topicId, position.partition), bytes);
  }
  return bases;
}
