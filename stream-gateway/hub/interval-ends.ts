import type { LiveEvent } from './live-event.js';

const WINDOW_MS = 5 * 60_000;

/** Which ends a subscription requests. */
export interface WantedEnds {
  readonly block: boolean;
  readonly window: boolean;
}

/** A block record: the events of the block are complete. */
export interface BlockEnd {
  readonly blockNumber: number;
  /** All events of the block; null if some were before the first event that was tracked. */
  readonly events: readonly LiveEvent[] | null;
}

/** The first price of a feed after a 5-minute window. */
export interface WindowEnd {
  readonly windowStartMs: number;
  /** Number of prices of the feed in the window; null if some were before the first event that was tracked. */
  readonly prices: number | null;
  /** seq of the first of them. */
  readonly firstSeq: number;
}

/** Finds the ends of blocks and 5-minute windows in consecutive events of the stream. */
export interface IntervalTracker {
  /** Call for every event, before it is sent. Returns the end of the window that the price is the first after, if any. */
  windowEnd(event: LiveEvent): WindowEnd | null;
  /** Call for every event, after it is sent. Returns the end of the block that the event closes, if any. */
  blockEnd(event: LiveEvent): BlockEnd | null;
}

export function createIntervalTracker(): IntervalTracker {
  let blockEvents: LiveEvent[] = [];
  /** The start of the current block was seen. */
  let whole = false;
  /** By channel and feed. */
  const windows = new Map<
    string,
    { readonly window: number; readonly firstSeq: number; prices: number; readonly whole: boolean }
  >();

  return {
    windowEnd({ seq, kind, channel, feed, timestamp_ms }) {
      if (kind !== 'price_feed' || feed === null) return null;
      const key = `${channel} ${feed}`;
      const window = Math.floor(timestamp_ms / WINDOW_MS);
      const current = windows.get(key);
      if (current === undefined) windows.set(key, { window, firstSeq: seq, prices: 1, whole: false });
      else if (window === current.window) current.prices++;
      else if (window > current.window) {
        windows.set(key, { window, firstSeq: seq, prices: 1, whole: true });
        const prices = current.whole ? current.prices : null;
        return { windowStartMs: current.window * WINDOW_MS, prices, firstSeq: current.firstSeq };
      }
      return null;
    },
    blockEnd(event) {
      const { kind, block_number: blockNumber, confirmed } = event;
      if (kind === 'retract') {
        blockEvents = [];
        whole = true;
      }
      if (kind === 'retract' || blockNumber === null || !confirmed) return null;
      if (blockEvents[0] !== undefined && blockEvents[0].block_number !== blockNumber) blockEvents = [];
      blockEvents.push(event);
      if (kind !== 'block') return null;
      const end = { blockNumber, events: whole ? blockEvents : null };
      blockEvents = [];
      whole = true;
      return end;
    },
  };
}
