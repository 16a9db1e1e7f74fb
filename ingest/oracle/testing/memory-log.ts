import type { Log, LogRecord, NewRecord } from '../../../infra/log/port.js';

/**
 * A log in memory for unit tests of writers: append, read without following, bounds, last record, timestamps. One array per partition,
 * the length of the key selects the partition. Methods that these tests do not use throw.
 */
export interface MemoryLog extends Log {
  /** Everything appended to the topic, partition by partition, in order. */
  all(topic: string): LogRecord[];
  /** Number of append calls. */
  readonly appends: number;
}

export function createMemoryLog(partitionCount = 1): MemoryLog {
  const topics = new Map<string, LogRecord[][]>();
  let appends = 0;
  const partitionsOf = (topic: string): LogRecord[][] => {
    let found = topics.get(topic);
    if (found === undefined) {
      found = Array.from({ length: partitionCount }, () => []);
      topics.set(topic, found);
    }
    return found;
  };
  const records = (topic: string, partition: number) => partitionsOf(topic)[partition] ?? [];
  const firstAt = (topic: string, partition: number, timestampMs: number) => {
    const index = records(topic, partition).findIndex((record) => record.timestampMs >= timestampMs);
    return index < 0 ? records(topic, partition).length : index;
  };
  const unused = (name: string) => () => Promise.reject(new Error(`${name} is not part of the memory log`));

  return {
    get appends() {
      return appends;
    },
    all: (topic) => partitionsOf(topic).flat(),
    ensureTopics: () => Promise.resolve(),
    partitions: () => Promise.resolve(partitionCount),
    async append(topic, added: readonly NewRecord[]) {
      appends++;
      for (const record of added) {
        const into = records(topic, record.partition ?? record.key.length % partitionCount);
        into.push({
          offset: into.length,
          key: record.key,
          value: record.value,
          timestampMs: record.timestampMs,
        });
      }
      return [];
    },
    async *read({ topic, partition, from, maxRecords = 1000 }) {
      const stored = records(topic, partition);
      const end = stored.length;
      let offset = 0;
      if (from === 'latest') offset = end;
      else if (from !== 'earliest')
        offset = 'offset' in from ? from.offset : firstAt(topic, partition, from.timestampMs);
      while (offset < end) {
        const batch = stored.slice(offset, Math.min(end, offset + maxRecords));
        offset += batch.length;
        yield { topic, partition, records: batch, nextOffset: offset };
      }
    },
    bounds: (topic, partition) => Promise.resolve({ earliest: 0, next: records(topic, partition).length }),
    offsetForTimestamp: (topic, partition, timestampMs) => Promise.resolve(firstAt(topic, partition, timestampMs)),
    lastRecord: (topic, partition) => Promise.resolve(records(topic, partition).at(-1) ?? null),
    deleteBefore: unused('deleteBefore'),
    maintain: () => Promise.resolve(),
    close: () => Promise.resolve(),
    appendAndCommit: unused('appendAndCommit'),
    acquireOwnership: unused('acquireOwnership'),
    commit: unused('commit'),
    committed: unused('committed'),
  };
}
