import type { Log, LogRecord } from '../../infra/log/port.js';
import type { Codec } from '../../schemas/codec.js';
import { topics } from '../../schemas/topics.js';
import { decodeLiveEvent, type LiveEvent } from '../hub/live-event.js';

/** An event with its place in the log. */
export interface StoredEvent {
  readonly event: LiveEvent;
  readonly offset: number;
}

/** The stream as the log keeps it. Rejects as the log does when it cannot be read. */
export interface History {
  /** The oldest event retained; null when there is none. */
  earliest(): Promise<StoredEvent | null>;
  /** seq of the newest event; -1 when there is none. */
  newestSeq(): Promise<number>;
  /** Offset from which every event with a greater seq is found. */
  offsetAfter(seq: number): Promise<number>;
  /** Offset from which every event with a greater timestamp is found. */
  offsetAfterTime(timestampMs: number): Promise<number>;
  /** The first event at or after an offset; null when there is none yet. */
  firstAt(offset: number): Promise<StoredEvent | null>;
  /** Events from an offset to the end as it is when reading starts. `nextOffset` of a page is where the next one goes on. */
  pages(offset: number): AsyncIterable<{ readonly events: readonly LiveEvent[]; readonly nextOffset: number }>;
  /** The oldest offset retained. */
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
    /** Offsets grow with seq, but not by the same steps. */
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
