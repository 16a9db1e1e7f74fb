import { setTimeout as sleep } from 'node:timers/promises';
import type { Log, ReadOptions, RecordBatch } from '../../infra/log/port.js';

export type SinkLog = Pick<Log, 'read' | 'bounds' | 'claim' | 'lastRecord'>;

const HOUR_MS = 3_600_000;

/** Decisions nobody goes on from: for tables that are made from nothing in one go. */
export const noDecisions: Pick<Log, 'claim' | 'lastRecord'> = {
  claim: async () => ({ appendAndCommit: async () => undefined }),
  lastRecord: async () => null,
};

/**
 * The log as if it ended at given offsets: `ends` tells per topic and partition the offset after the last record that is shown, so that two
 * folds of a growing log come to the same rows. Followers wait at that end until their signal. `decisions` is where sinks note what they decide.
 */
export function boundedLog(options: {
  log: SinkLog;
  ends: (topic: string, partition: number) => number;
  decisions: Pick<Log, 'claim' | 'lastRecord'>;
}): SinkLog {
  const { log, ends, decisions } = options;
  async function* read(asked: ReadOptions): AsyncGenerator<RecordBatch> {
    const end = ends(asked.topic, asked.partition);
    const from = typeof asked.from === 'object' && 'offset' in asked.from ? asked.from.offset : 0;
    if (from < end) {
      for await (const batch of log.read({ ...asked, follow: false })) {
        const records = batch.records.filter((record) => record.offset < end);
        if (records.length > 0) yield { ...batch, records, nextOffset: Math.min(batch.nextOffset, end) };
        if (batch.nextOffset >= end) break;
      }
    }
    if (asked.follow !== true) return;
    while (asked.signal?.aborted !== true)
      await sleep(HOUR_MS, undefined, { signal: asked.signal }).catch(() => undefined);
  }
  return {
    read,
    claim: decisions.claim,
    lastRecord: decisions.lastRecord,
    bounds: async (topic, partition) => {
      const { earliest } = await log.bounds(topic, partition);
      const next = ends(topic, partition);
      return { earliest: Math.min(earliest, next), next };
    },
  };
}
