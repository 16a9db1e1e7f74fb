import { FencedError } from '../../infra/log/errors.js';
import { partitionForKey } from '../../infra/log/partitioner.js';
import type {
  AppendedRange,
  Log,
  LogRecord,
  NewRecord,
  ReadOptions,
  RecordBatch,
  TopicPartitionOffset,
  TopicSpec,
} from '../../infra/log/port.js';

interface Partition {
  readonly records: LogRecord[];
  earliest: number;
}

/** The data of a log, which survives a crash: several logs on one store model restarts. */
export interface MemoryStore {
  readonly topics: Map<string, Partition[]>;
  readonly positions: Map<string, number>;
  /** Epoch of the newest owner per group. */
  readonly ownerEpochs: Map<string, number>;
}

export function createMemoryStore(): MemoryStore {
  return { topics: new Map(), positions: new Map(), ownerEpochs: new Map() };
}

export interface MemoryLog extends Log {
  /** Simulates a crash of this handle: its later calls never resolve and have no effect. `tornRecords` of a running append are still appended. */
  crash(): void;
  /** Every record of partition 0, oldest first. */
  all(topic: string): readonly LogRecord[];
}

/**
 * The log port in memory, for tests of code that writes to a log. Batches become visible at once and in order; `onAppend` may delay or
 * fail an append, or return how many of its records are appended before the handle crashes (a torn batch).
 */
export function createMemoryLog(
  options: {
    store?: MemoryStore;
    onAppend?: (topic: string, records: readonly NewRecord[]) => Promise<number | undefined> | number | undefined;
  } = {},
): MemoryLog {
  const store = options.store ?? createMemoryStore();
  const waiters = new Set<() => void>();
  let crashed = false;
  const never = () => new Promise<never>(() => undefined);
  const topicOf = (name: string): Partition[] => {
    const found = store.topics.get(name);
    if (found === undefined) throw new Error(`Unknown topic ${name}`);
    return found;
  };
  const partitionOf = (name: string, partition: number): Partition => {
    const found = topicOf(name)[partition];
    if (found === undefined) throw new Error(`Unknown partition ${name}/${partition}`);
    return found;
  };
  const next = (partition: Partition) => partition.earliest + partition.records.length;
  const write = (topic: string, records: readonly NewRecord[]): AppendedRange[] => {
    const partitions = topicOf(topic);
    const ranges = new Map<number, { partition: number; firstOffset: number; lastOffset: number }>();
    for (const record of records) {
      const index = record.partition ?? partitionForKey(Buffer.from(record.key), partitions.length);
      const target = partitionOf(topic, index);
      const offset = next(target);
      target.records.push({ offset, key: record.key, value: record.value, timestampMs: record.timestampMs });
      const range = ranges.get(index);
      if (range === undefined) ranges.set(index, { partition: index, firstOffset: offset, lastOffset: offset });
      else range.lastOffset = offset;
    }
    for (const wake of waiters) wake();
    waiters.clear();
    return [...ranges.values()];
  };
  const commitAll = (group: string, positions: readonly TopicPartitionOffset[]) => {
    for (const p of positions) store.positions.set(`${group}\n${p.topic}\n${p.partition}`, p.nextOffset);
  };

  return {
    crash() {
      crashed = true;
    },
    all: (topic) => partitionOf(topic, 0).records,
    async ensureTopics(specs: readonly TopicSpec[]) {
      for (const spec of specs) {
        const partitions = store.topics.get(spec.name) ?? [];
        while (partitions.length < spec.partitions) partitions.push({ records: [], earliest: 0 });
        store.topics.set(spec.name, partitions);
      }
    },
    partitions: async (topic) => topicOf(topic).length,
    async append(topic, records) {
      if (crashed) return never();
      topicOf(topic);
      const landing = (await options.onAppend?.(topic, records)) ?? records.length;
      if (crashed) return never();
      if (landing < records.length) {
        write(topic, records.slice(0, landing));
        crashed = true;
        return never();
      }
      return write(topic, records);
    },
    async appendAndCommit(step) {
      if (crashed) return never();
      for (const output of step.outputs) topicOf(output.topic);
      for (const output of step.outputs) write(output.topic, output.records);
      commitAll(step.group, step.offsets);
    },
    async acquireOwnership(group) {
      if (crashed) return never();
      const generation = (store.ownerEpochs.get(group) ?? 0) + 1;
      store.ownerEpochs.set(group, generation);
      return {
        async appendAndCommit(step) {
          if (crashed) return never();
          if (store.ownerEpochs.get(group) !== generation)
            throw new FencedError(`Another process acquired the ownership of "${group}"`);
          for (const output of step.outputs) topicOf(output.topic);
          for (const output of step.outputs) write(output.topic, output.records);
          commitAll(group, step.offsets);
        },
      };
    },
    async *read(read: ReadOptions): AsyncIterable<RecordBatch> {
      const stored = partitionOf(read.topic, read.partition);
      const first = () => {
        if (read.from === 'earliest') return stored.earliest;
        if (read.from === 'latest') return next(stored);
        if ('offset' in read.from) return Math.max(read.from.offset, stored.earliest);
        const { timestampMs } = read.from;
        return stored.records.find((record) => record.timestampMs >= timestampMs)?.offset ?? next(stored);
      };
      let offset = first();
      const end = next(stored);
      while (read.signal?.aborted !== true) {
        const limit = read.follow ? next(stored) : end;
        const from = offset - stored.earliest;
        const records = stored.records.slice(from, Math.min(from + (read.maxRecords ?? 1000), limit - stored.earliest));
        if (records.length > 0) {
          offset += records.length;
          yield { topic: read.topic, partition: read.partition, records, nextOffset: offset };
        } else if (!read.follow) return;
        else {
          await new Promise<void>((resolve) => {
            const wake = () => {
              read.signal?.removeEventListener('abort', wake);
              resolve();
            };
            waiters.add(wake);
            read.signal?.addEventListener('abort', wake, { once: true });
          });
        }
      }
    },
    async bounds(topic, partition) {
      const stored = partitionOf(topic, partition);
      return { earliest: stored.earliest, next: next(stored) };
    },
    async offsetForTimestamp(topic, partition, timestampMs) {
      const stored = partitionOf(topic, partition);
      return stored.records.find((record) => record.timestampMs >= timestampMs)?.offset ?? next(stored);
    },
    lastRecord: async (topic, partition) => partitionOf(topic, partition).records.at(-1) ?? null,
    async commit(group, positions) {
      commitAll(group, positions);
    },
    async committed(group, topic) {
      const found: TopicPartitionOffset[] = [];
      for (let partition = 0; partition < topicOf(topic).length; partition += 1) {
        const nextOffset = store.positions.get(`${group}\n${topic}\n${partition}`);
        if (nextOffset !== undefined) found.push({ topic, partition, nextOffset });
      }
      return found;
    },
    async deleteBefore(topic, partition, offset) {
      const stored = partitionOf(topic, partition);
      const deleted = stored.records.splice(0, Math.max(0, offset - stored.earliest));
      stored.earliest += deleted.length;
    },
    maintain: async () => undefined,
    close: async () => undefined,
  };
}
