import { yieldToEventLoop } from '../../infra/event-loop.js';
import type { Predicate } from '../filters/compile.js';
import type { LiveEvent } from '../hub/live-event.js';
import type { ConcurrencyLimiter } from './concurrency-limiter.js';
import type { History } from './history.js';
import type { RecentEvents } from './recent-events.js';

/** The newest `count` matching events, or all of them with a later timestamp. */
export type SnapshotRequest = { readonly count: number } | { readonly sinceMs: number };

export interface Snapshot {
  /** The complete frame. */
  readonly message: Buffer;
  /** True if the size bound removed older requested events. */
  readonly truncated: boolean;
}

export interface Snapshots {
  /**
   * Reads the events that only the log has. The caller must call the returned function without delay: it adds the newest events from memory, so the
   * snapshot is complete at that time. It returns null if memory has evicted events in between; then call `prepare` again. Rejects when the log
   * cannot be read.
   */
  prepare(request: SnapshotRequest, matches: Predicate): Promise<() => Snapshot | null>;
}

/** Buffer of the newest pushed events, bounded by count and bytes. */
function createNewestBuffer(maxEvents: number, maxBytes: number) {
  let events: LiveEvent[] = [];
  let dropped = 0;
  let bytes = 0;
  let truncated = false;
  const drop = () => {
    bytes -= (events[dropped] as LiveEvent).frame.length;
    dropped++;
    if (dropped < 1000) return;
    events = events.slice(dropped);
    dropped = 0;
  };
  return {
    push(event: LiveEvent): void {
      events.push(event);
      bytes += event.frame.length;
      if (events.length - dropped > maxEvents) drop();
      while (bytes > maxBytes) {
        drop();
        truncated = true;
      }
    },
    list: () => events.slice(dropped),
    isTruncated: () => truncated,
  };
}

const COMMA = Buffer.from(',');
const END = Buffer.from(']}');

function toMessage(events: readonly LiveEvent[]): Buffer {
  const buffers: Buffer[] = [Buffer.from(`{"type":"snapshot","count":${events.length},"events":[`)];
  for (const [position, event] of events.entries()) {
    if (position > 0) buffers.push(COMMA);
    buffers.push(event.frame);
  }
  buffers.push(END);
  return Buffer.concat(buffers);
}

/**
 * Builds snapshots from the newest `windowEvents` of the stream, or from `since` on, without that bound. Events that are no longer in memory are read
 * from the log, so a restart does not change the result.
 */
export function createSnapshots(deps: {
  recent: RecentEvents;
  history: History;
  /** Bounds concurrent reads of the log. */
  readLimiter: ConcurrencyLimiter;
  windowEvents: number;
  maxBytes: number;
}): Snapshots {
  const { recent, history, readLimiter, maxBytes } = deps;

  const newestSeq = () => (recent.size === 0 ? recent.floorSeq : recent.at(recent.size - 1).seq);
  const windowStart = () => newestSeq() - deps.windowEvents;

  /** Snapshot of the newest `count` matching events, oldest first; null if it needs events that are not in memory. */
  const lastInMemory = (count: number, matches: Predicate): Snapshot | null => {
    const found: LiveEvent[] = [];
    const start = windowStart();
    let bytes = 0;
    for (let position = recent.size - 1; position >= 0; position--) {
      const event = recent.at(position);
      if (event.seq <= start) return { message: toMessage(found.reverse()), truncated: false };
      if (!matches(event)) continue;
      bytes += event.frame.length;
      if (bytes > maxBytes) return { message: toMessage(found.reverse()), truncated: true };
      found.push(event);
      if (found.length === count) return { message: toMessage(found.reverse()), truncated: false };
    }
    return recent.floorSeq <= Math.max(start, -1) ? { message: toMessage(found.reverse()), truncated: false } : null;
  };

  /** Reads pages until memory has the next event. Returns the seq up to which all events were visited. */
  const readLog = async (offset: number, afterSeq: number, visit: (event: LiveEvent) => void): Promise<number> => {
    let readTo = afterSeq;
    let next = offset;
    while (readTo < recent.floorSeq) {
      const before = next;
      for await (const page of history.pages(next)) {
        next = page.nextOffset;
        for (const event of page.events) {
          if (event.seq <= readTo) continue;
          readTo = event.seq;
          visit(event);
        }
        await yieldToEventLoop();
        if (readTo >= recent.floorSeq) break;
      }
      if (next === before) break;
    }
    return readTo;
  };

  return {
    async prepare(request, matches) {
      const byTime = 'sinceMs' in request;
      if (!byTime) {
        const seq = newestSeq();
        const found = lastInMemory(request.count, matches);
        // Memory is searched again only if new events have arrived.
        if (found !== null) return () => (newestSeq() === seq ? found : lastInMemory(request.count, matches));
      }
      const remaining: Predicate = byTime
        ? (event) => event.timestamp_ms > request.sinceMs && matches(event)
        : (event) => event.seq > windowStart() && matches(event);
      const newest = createNewestBuffer(byTime ? Number.POSITIVE_INFINITY : request.count, maxBytes);
      const visit = (event: LiveEvent) => {
        if (remaining(event)) newest.push(event);
      };
      const offset = byTime ? await history.offsetAfterTime(request.sinceMs) : await history.offsetAfter(windowStart());
      const first = await history.firstAt(offset);
      // Without an event that new in the log, all events that arrive from now on are in memory.
      let readTo = first === null ? -1 : first.event.seq - 1;
      if (first !== null && readTo < recent.floorSeq) {
        const start = readTo;
        readTo = await readLimiter.run(() => readLog(offset, start, visit));
      }
      return () => {
        if (first !== null && readTo < recent.floorSeq) return null;
        for (let position = recent.positionAfter(readTo); position < recent.size; position++)
          visit(recent.at(position));
        const events = newest.list();
        return {
          message: toMessage(byTime ? events : events.filter(({ seq }) => seq > windowStart())),
          truncated: newest.isTruncated(),
        };
      };
    },
  };
}
