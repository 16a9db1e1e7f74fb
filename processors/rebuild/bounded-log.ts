import { setTimeout as sleep } from 'node:timers/promises';
import type { Log, ReadOptions, RecordBatch } from '../../infra/log/port.js';

export type SinkLog = Pick<Log, 'read' | 'bounds' | 'acquireOwnership' | 'lastRecord'>;

const HOUR_MS = 3_600_000;

/** Discards chunk plans: for tables that are built from empty in one run and never resumed. */
export const discardPlans: Pick<Log, 'acquireOwnership' | 'lastRecord'> = {
  acquireOwnership: async () => ({ appendAndCommit: async () => undefined }),
  lastRecord: async () => null,
};

/**
 * A view of the log that ends at given offsets: `ends` returns per topic and partition the offset after the last record to read, so that two
 * runs over a growing log produce the same rows. Followers wait at that end until their signal. Once a read has found that compaction removed the last
 * records before an end, `bounds` ends after the last one that is left. `plans` receives the sinks' chunk plans.
 */
export function boundedLog(options: {
  log: SinkLog;
  ends: (topic: string, partition: number) => number;
  plans: Pick<Log, 'acquireOwnership' | 'lastRecord'>;
}): SinkLog {
  const { log, ends, plans } = options;
  /** Per topic and partition, the offset after the last record before the end. */
  const lastNext = new Map<string, number>();
  async function* read(options: ReadOptions): AsyncGenerator<RecordBatch> {
    const end = ends(options.topic, options.partition);
    const from = typeof options.from === 'object' && 'offset' in options.from ? options.from.offset : 0;
    if (from < end) {
      let next = from;
      for await (const batch of log.read({ ...options, follow: false })) {
        const records = batch.records.filter((record) => record.offset < end);
        next = (records.at(-1)?.offset ?? next - 1) + 1;
        if (records.length > 0) yield { ...batch, records, nextOffset: Math.min(batch.nextOffset, end) };
        if (batch.nextOffset >= end) break;
      }
      if (options.signal?.aborted !== true) lastNext.set(`${options.topic}/${options.partition}`, next);
    }
    if (options.follow !== true) return;
    while (options.signal?.aborted !== true)
      await sleep(HOUR_MS, undefined, { signal: options.signal }).catch(() => undefined);
  }
  return {
    read,
    acquireOwnership: plans.acquireOwnership,
    lastRecord: plans.lastRecord,
    bounds: async (topic, partition) => {
      const { earliest } = await log.bounds(topic, partition);
      const next = lastNext.get(`${topic}/${partition}`) ?? ends(topic, partition);
      return { earliest: Math.min(earliest, next), next };
    },
  };
}
