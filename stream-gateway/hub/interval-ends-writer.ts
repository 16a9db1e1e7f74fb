import type { Subscription } from './hub.js';
import type { IntervalTracker } from './interval-ends.js';
import type { LiveEvent } from './live-event.js';

export interface IntervalEndsWriter {
  /** Call before an event is sent. */
  before(event: LiveEvent, subscriptions: Iterable<Subscription>): void;
  /** Call after an event is sent. */
  after(event: LiveEvent, subscriptions: Iterable<Subscription>): void;
}

/** Sends the frames end_of_block and end_of_window to those of the subscriptions that want them. `tracker` sees every event once. */
export function createIntervalEndsWriter(tracker: IntervalTracker, flush: () => void): IntervalEndsWriter {
  return {
    before(event, subscriptions) {
      const end = tracker.windowEnd(event);
      if (end === null) return;
      let flushed = false;
      for (const { id, ends, filter, member, deliveredFrom } of subscriptions) {
        if (ends?.window !== true || event.seq <= deliveredFrom || !filter.matches(event)) continue;
        if (!flushed) flush();
        flushed = true;
        const startS = end.windowStartMs / 1000;
        const window = { feed: event.feed, twap_window_seconds: event.twap_window_s, window_start: startS };
        const frame = { type: 'end_of_window', subscription_id: id, ...window, window_end: startS + 300 };
        member.peer.sendControl(JSON.stringify({ ...frame, events: end.prices }));
      }
    },
    after(event, subscriptions) {
      const end = tracker.blockEnd(event);
      if (end === null) return;
      let flushed = false;
      for (const { id, ends, filter, member, deliveredFrom } of subscriptions) {
        if (ends?.block !== true || event.seq <= deliveredFrom) continue;
        if (!flushed) flush();
        flushed = true;
        const events = end.events === null ? null : end.events.filter(filter.matches).length;
        const frame = { type: 'end_of_block', subscription_id: id, block_number: end.blockNumber, events };
        member.peer.sendControl(JSON.stringify(frame));
      }
    },
  };
}
