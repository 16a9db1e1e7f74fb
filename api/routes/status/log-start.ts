import type { Log } from '../../../infra/log/port.js';
import { topics } from '../../../schemas/topics.js';
import { isoFrom } from '../../tables/values.js';

/** First block of the chain in the log and its time, ISO 8601; nulls while there is none. */
export interface LogStart {
  readonly from_block: number | null;
  readonly from: string | null;
}

const TOPIC = topics.chainFinal.name;

/** Returns a function that reads the first record of chain.final, again only after the log has deleted it. */
export function createLogStart(log: Pick<Log, 'bounds' | 'read'>): () => Promise<LogStart> {
  let known: { readonly earliest: number; readonly start: LogStart } | undefined;
  return async () => {
    const { earliest, next } = await log.bounds(TOPIC, 0);
    if (next === earliest) return { from_block: null, from: null };
    if (known?.earliest === earliest) return known.start;
    const read = { topic: TOPIC, partition: 0, from: { offset: earliest }, follow: false, maxRecords: 1 };
    for await (const { records } of log.read(read)) {
      const first = records[0];
      if (first === undefined) continue;
      known = { earliest, start: { from_block: Number(first.key), from: isoFrom(first.timestampMs) } };
      return known.start;
    }
    return { from_block: null, from: null };
  };
}
