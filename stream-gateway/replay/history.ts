import type { Log, LogRecord } from '../../infra/log/port.js';
import type { Codec } from '../../schemas/codec.js';
import { topics } from '../../schemas/topics.js';
import { decodeLiveEvent, type LiveEvent } from '../hub/live-event.js';

/** An event with its log offset. */
export interface StoredEvent {
  readonly event: LiveEvent;
  readonly offset: number;
}

/** Reads stream.events from the log. All methods reject when the log cannot be read. */
export interface History {
  /** The oldest retained event; null if there is none. */
  earliest(): Promise<StoredEvent | null>;
  /** seq of the newest event; -1 if there is none. */
  newestSeq(): Promise<number>;
  /** An offset at or before the first event with a greater seq. */
  offsetAfter(seq: number): Promise<number>;
  /** An offset at or before the first event with a greater timestamp. */
  offsetAfterTime(timestampMs: number): Promise<number>;
  /** The first event at or after an offset; null if there is none yet. */
  firstAt(offset: number): Promise<StoredEvent | null>;
  /** Events from an offset to the end of the log at the time of the call. The next page starts at `nextOffset`. */
  pages(offset: number): AsyncIterable<{ readonly events: readonly LiveEvent[]; readonly nextOffset: number }>;
  /** The oldest retained offset. */
  earliestOffset(): Promise<number>;
}

const PAGE_RECORDS = 250;
const topic = topics.streamEvents.name;

export function createHistory(deps: { log: Log; codec: Codec; onUnreadableEvent: (reason: string) => void }): History {
  const { log, codec, onUnreadableEvent } = deps;
  const decode = (record: LogRecord) => decodeLiveEvent(codec, record, onUnreadableEvent);

  const firstAt = async (offset: number, maxRecords = 1): Promise<StoredEvent | null> => {
    for await (const batch of log.read({ topic, partition: 0, from: { offset }, follow: false, maxRecords })) {
      for (const record of batch.records) {
        const event = decode(record);
        if (event !== null) return { event, offset: record.offset };
      }
    }
    return null;
  };

  return {
    firstAt,
    earliest: async () => firstAt((await log.bounds(topic, 0)).earliest),
    earliestOffset: async () => (await log.bounds(topic, 0)).earliest,
    async newestSeq() {
      const last = await log.lastRecord(topic, 0);
      return (last === null ? null : decode(last))?.seq ?? -1;
    },
    /** Binary search: offsets grow with seq, but not by the same steps. */
    async offsetAfter(seq) {
      const { earliest, next } = await log.bounds(topic, 0);
      let low = earliest;
      let high = next;
      while (low < high) {
        const middle = Math.floor((low + high) / 2);
        const found = await firstAt(middle);
        if (found === null || found.offset >= high || found.event.seq > seq) high = middle;
        else low = found.offset + 1;
      }
      return low;
    },
    offsetAfterTime: (timestampMs) => log.offsetForTimestamp(topic, 0, timestampMs + 1),
    async *pages(offset) {
      const read = { topic, partition: 0, from: { offset }, follow: false, maxRecords: PAGE_RECORDS };
      for await (const batch of log.read(read)) {
        const events: LiveEvent[] = [];
        for (const record of batch.records) {
          const event = decode(record);
          if (event !== null) events.push(event);
        }
        yield { events, nextOffset: batch.nextOffset };
      }
    },
  };
}
