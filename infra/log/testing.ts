import { setMaxListeners } from 'node:events';
import { FatalError } from '../errors.js';
import { FencedError, LogArgumentError, LogUnavailableError, UnknownTopicError } from './errors.js';
import { checkGroup, checkOffset, checkRecord, checkSpec } from './kafka/checks.js';
import { partitionForKey } from './partitioner.js';
import type {
  AppendedRange,
  AtomicStep,
  Log,
  LogRecord,
  NewRecord,
  ReadOptions,
  RecordBatch,
  StartAt,
  TopicPartitionOffset,
  TopicSpec,
} from './port.js';

interface Partition {
  readonly records: LogRecord[];
  earliest: number;
}

/** The data of a log, which survives a crash: several logs on one store model restarts, or processes that share a log. */
export interface MemoryStore {
  readonly topics: Map<string, Partition[]>;
  readonly compacted: Set<string>;
  readonly positions: Map<string, number>;
  /** Epoch of the newest owner per group. */
  readonly ownerEpochs: Map<string, number>;
  /** Readers that wait for records. */
  readonly waiters: Set<() => void>;
}

export function createMemoryStore(): MemoryStore {
  return {
    topics: new Map(),
    compacted: new Set(),
    positions: new Map(),
    ownerEpochs: new Map(),
    waiters: new Set(),
  };
}

export interface MemoryLog extends Log {
  /** Simulates a crash of this handle: its later calls never resolve and have no effect, and its readers see no further records. */
  crash(): void;
  /** Number of appends of this handle that were written. */
  readonly appends: number;
  /** Every record of partition 0, oldest first. */
  all(topic: string): readonly LogRecord[];
}

/** A step that fails with `error`, whose outputs and positions are nevertheless in the log if `committed`: its response was lost. */
export interface StepFailure {
  readonly error: Error;
  readonly committed: boolean;
}

export interface MemoryLogOptions {
  readonly store?: MemoryStore;
  /** Created at once, as by ensureTopics. */
  readonly topics?: readonly TopicSpec[];
  /** May delay or fail an append, or return how many of its records are appended before the handle crashes (a torn batch). */
  readonly onAppend?: (
    topic: string,
    records: readonly NewRecord[],
  ) => Promise<number | undefined> | number | undefined;
  /** May fail a step of an owner, which ends the ownership. */
  readonly onStep?: (step: AtomicStep) => StepFailure | undefined;
}

/** The log port in memory, for tests of code that uses a log. Batches become visible at once and in order; `maintain` does nothing. */
export function createMemoryLog(options: MemoryLogOptions = {}): MemoryLog {
  const store = options.store ?? createMemoryStore();
  let crashed = false;
  let closed = false;
  let appends = 0;
  const never = () => new Promise<never>(() => undefined);
  /** Runs a call of the port; its argument errors reject. */
  const call = async <T>(work: () => T | Promise<T>): Promise<T> => {
    if (crashed) return never();
    if (closed) throw new LogUnavailableError('The log is closed');
    return work();
  };
  const wakeReaders = () => {
    const waiting = [...store.waiters];
    store.waiters.clear();
    for (const wake of waiting) wake();
  };

  const createTopics = (specs: readonly TopicSpec[]) => {
    for (const spec of specs) {
      checkSpec(spec);
      if (store.topics.has(spec.name) && store.compacted.has(spec.name) !== spec.compacted)
        throw new FatalError(`Topic "${spec.name}": whether it is compacted cannot be changed`);
    }
    for (const { name, partitions: count, compacted } of specs) {
      const partitions = store.topics.get(name) ?? [];
      while (partitions.length < count) partitions.push({ records: [], earliest: 0 });
      store.topics.set(name, partitions);
      if (compacted) store.compacted.add(name);
    }
  };
  createTopics(options.topics ?? []);

  const topicOf = (name: string): Partition[] => {
    const found = store.topics.get(name);
    if (found === undefined) throw new UnknownTopicError(name);
    return found;
  };
  const partitionOf = (name: string, partition: number): Partition => {
    const found = topicOf(name)[partition];
    if (found === undefined) throw new UnknownTopicError(name, `Topic "${name}" has no partition ${partition}`);
    return found;
  };
  const next = (partition: Partition) => partition.earliest + partition.records.length;
  const offsetAt = (stored: Partition, timestampMs: number): number => {
    if (Number.isNaN(timestampMs)) throw new LogArgumentError('timestampMs is not a number');
    return stored.records.find((record) => record.timestampMs >= timestampMs)?.offset ?? next(stored);
  };

  /** The partition of each record. Throws for a record that no log can store. */
  const route = (topic: string, records: readonly NewRecord[]): readonly number[] => {
    const { length } = topicOf(topic);
    return records.map((record) => {
      const { key } = checkRecord(topic, record);
      if (record.partition !== undefined) partitionOf(topic, record.partition);
      return record.partition ?? partitionForKey(key, length);
    });
  };
  const write = (topic: string, records: readonly NewRecord[], partitions: readonly number[]): AppendedRange[] => {
    const ranges = new Map<number, { partition: number; firstOffset: number; lastOffset: number }>();
    records.forEach(({ key, value, timestampMs }, n) => {
      const partition = partitions[n] ?? 0;
      const target = partitionOf(topic, partition);
      const offset = next(target);
      target.records.push({ offset, key, value, timestampMs });
      const range = ranges.get(partition);
      if (range === undefined) ranges.set(partition, { partition, firstOffset: offset, lastOffset: offset });
      else range.lastOffset = offset;
    });
    wakeReaders();
    return [...ranges.values()];
  };
  const checkPositions = (positions: readonly TopicPartitionOffset[]) => {
    for (const position of positions) {
      checkOffset(position);
      partitionOf(position.topic, position.partition);
    }
  };
  const commitAll = (group: string, positions: readonly TopicPartitionOffset[]) => {
    for (const p of positions) store.positions.set(`${group}\n${p.topic}\n${p.partition}`, p.nextOffset);
  };
  /** Checks the whole step and returns its commit. */
  const prepareStep = ({ outputs, group, offsets }: AtomicStep) => {
    checkGroup(group);
    checkPositions(offsets);
    const routed = outputs.map(({ topic, records }) => ({ topic, records, partitions: route(topic, records) }));
    return () => {
      for (const { topic, records, partitions } of routed) write(topic, records, partitions);
      commitAll(group, offsets);
    };
  };

  const startOffset = (stored: Partition, from: StartAt): number => {
    if (from === 'earliest') return stored.earliest;
    if (from === 'latest') return next(stored);
    if ('timestampMs' in from) return offsetAt(stored, from.timestampMs);
    if (!Number.isInteger(from.offset) || from.offset < 0)
      throw new LogArgumentError(`Cannot start reading at ${from.offset}`);
    return Math.max(from.offset, stored.earliest);
  };
  /** Resolves at the next write of any handle, or when the signal aborts. */
  const untilWritten = (signal: AbortSignal | undefined) =>
    new Promise<void>((resolve) => {
      const wake = () => {
        store.waiters.delete(wake);
        signal?.removeEventListener('abort', wake);
        resolve();
      };
      store.waiters.add(wake);
      signal?.addEventListener('abort', wake, { once: true });
    });

  async function* read(range: ReadOptions): AsyncGenerator<RecordBatch, void, undefined> {
    const { topic, partition, from, follow, maxRecords = 1000, signal } = range;
    if (crashed) return never();
    if (closed) throw new LogUnavailableError('The log is closed');
    if (!Number.isInteger(maxRecords) || maxRecords < 1)
      throw new LogArgumentError(`maxRecords must be a positive integer, not ${maxRecords}`);
    const stored = partitionOf(topic, partition);
    // Many readers may share one signal.
    if (signal !== undefined) setMaxListeners(0, signal);
    let offset = startOffset(stored, from);
    const end = next(stored);
    while (!closed && signal?.aborted !== true) {
      offset = Math.max(offset, stored.earliest);
      const limit = crashed ? offset : follow ? next(stored) : Math.min(end, next(stored));
      const start = offset - stored.earliest;
      const records = stored.records.slice(start, Math.min(start + maxRecords, limit - stored.earliest));
      if (records.length > 0) {
        offset += records.length;
        yield { topic, partition, records, nextOffset: offset };
      } else if (follow) await untilWritten(signal);
      else return;
    }
  }

  return {
    crash() {
      crashed = true;
    },
    get appends() {
      return appends;
    },
    all: (topic) => partitionOf(topic, 0).records,
    ensureTopics: (specs: readonly TopicSpec[]) => call(() => createTopics(specs)),
    partitions: (topic) => call(() => topicOf(topic).length),
    append: (topic, records) =>
      call(async () => {
        const partitions = route(topic, records);
        const landing = (await options.onAppend?.(topic, records)) ?? records.length;
        if (crashed) return never();
        if (landing < records.length) {
          write(topic, records.slice(0, landing), partitions);
          crashed = true;
          return never();
        }
        appends += 1;
        return write(topic, records, partitions);
      }),
    appendAndCommit: (step) => call(() => prepareStep(step)()),
    acquireOwnership: (group) =>
      call(() => {
        const epoch = (store.ownerEpochs.get(checkGroup(group)) ?? 0) + 1;
        store.ownerEpochs.set(group, epoch);
        let ended = false;
        const run = (step: AtomicStep) => {
          if (ended || store.ownerEpochs.get(group) !== epoch)
            throw new FencedError(`Another process acquired the ownership of "${group}"`);
          const commit = prepareStep(step);
          const failure = options.onStep?.(step);
          ended = failure !== undefined;
          if (failure === undefined || failure.committed) commit();
          if (failure !== undefined) throw failure.error;
        };
        return { appendAndCommit: (step) => call(() => run({ ...step, group })) };
      }),
    read,
    bounds: (topic, partition) =>
      call(() => {
        const stored = partitionOf(topic, partition);
        return { earliest: stored.earliest, next: next(stored) };
      }),
    offsetForTimestamp: (topic, partition, timestampMs) =>
      call(() => offsetAt(partitionOf(topic, partition), timestampMs)),
    lastRecord: (topic, partition) => call(() => partitionOf(topic, partition).records.at(-1) ?? null),
    commit: (group, positions) =>
      call(() => {
        checkGroup(group);
        checkPositions(positions);
        commitAll(group, positions);
      }),
    committed: (group, topic) =>
      call(() => {
        checkGroup(group);
        return topicOf(topic).flatMap((_, partition): TopicPartitionOffset[] => {
          const nextOffset = store.positions.get(`${group}\n${topic}\n${partition}`);
          return nextOffset === undefined ? [] : [{ topic, partition, nextOffset }];
        });
      }),
    deleteBefore: (topic, partition, offset) =>
      call(() => {
        checkOffset({ topic, partition, nextOffset: offset });
        const stored = partitionOf(topic, partition);
        if (store.compacted.has(topic))
          throw new LogArgumentError(`Topic "${topic}" is compacted: its records cannot be deleted by offset`);
        const deleted = stored.records.splice(0, Math.max(0, offset - stored.earliest));
        stored.earliest += deleted.length;
      }),
    maintain: () => call(() => undefined),
    close: async () => {
      closed = true;
      wakeReaders();
    },
  };
}
