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
  /** Bounded by size: older events of those asked for are missing. */
  readonly truncated: boolean;
}

export interface Snapshots {
  /**
   * Reads what only the log has. The function it resolves with must be called at once: it adds the newest events, and so is complete up to the
   * moment it is called; null when memory has moved on since, then prepare anew. Rejects as the log does.
   */
  prepare(request: SnapshotRequest, matches: Predicate): Promise<() => Snapshot | null>;
}

/** The newest of what is pushed, bounded by count and bytes. */
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
  const parts: Buffer[] = [Buffer.from(`{"type":"snapshot","count":${events.length},"events":[`)];
  for (const [position, event] of events.entries()) {
    if (position > 0) parts.push(COMMA);
    parts.push(event.frame);
  }
  parts.push(END);
  return Buffer.concat(parts);
}

/**
 * Snapshots look back over the newest `windowEvents` of the stream (`since`: as far as asked), from memory where it reaches and from the
 * log before that; so a restart changes nothing.
 */
export function createSnapshots(deps: {
  recent: RecentEvents;
  history: History;
  /** Reading the log is heavy: so many at once. */
  readLimiter: ConcurrencyLimiter;
  windowEvents: number;
  maxBytes: number;
}): Snapshots {
  const { recent, history, readLimiter, maxBytes } = deps;

  const newestSeq = () => (recent.size === 0 ? recent.floorSeq : recent.at(recent.size - 1).seq);
  const windowStart = () => newestSeq() - deps.windowEvents;

  /** The newest so many, oldest first; null when memory does not reach far enough to know. */
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

  /** Reads pages until memory has what follows. Returns the seq up to which everything was met. */
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
        // Looked through again only when events came meanwhile.
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
      // Nothing that young in the log: whatever comes meanwhile is in memory.
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
