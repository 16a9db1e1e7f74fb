import type { Subscription } from './hub.js';
import type { IntervalTracker } from './interval-ends.js';
import type { LiveEvent } from './live-event.js';

export interface IntervalEndsWriter {
  /** Call before an event is sent. */
  before(event: LiveEvent, subscriptions: ReadonlySet<Subscription> | readonly Subscription[]): void;
  /** Call after an event is sent. */
  after(event: LiveEvent, subscriptions: ReadonlySet<Subscription> | readonly Subscription[]): void;
}

/**
 * Sends the frames end_of_block and end_of_window to those of the subscriptions that want them. `tracker` sees every event once. `flush` sends the
 * events before a frame; it may end subscriptions whose client reads too slowly, which then get no frame for events that they have not received.
 */
export function createIntervalEndsWriter(tracker: IntervalTracker, flush: () => void): IntervalEndsWriter {
  const wantWindow = ({ ends, filter, deliveredFrom }: Subscription, event: LiveEvent) =>
    ends?.window === true && event.seq > deliveredFrom && filter.matches(event);
  const wantBlock = ({ ends, deliveredFrom }: Subscription, event: LiveEvent) =>
    ends?.block === true && event.seq > deliveredFrom;
  const some = (
    subscriptions: Iterable<Subscription>,
    event: LiveEvent,
    wants: (subscription: Subscription, event: LiveEvent) => boolean,
  ): boolean => {
    for (const subscription of subscriptions) if (wants(subscription, event)) return true;
    return false;
  };
  return {
    before(event, subscriptions) {
      const end = tracker.windowEnd(event);
      if (end === null || !some(subscriptions, event, wantWindow)) return;
      flush();
      for (const subscription of subscriptions) {
        if (!wantWindow(subscription, event)) continue;
        const startS = end.windowStartMs / 1000;
        const window = { feed: event.feed, twap_window_seconds: event.twap_window_s, window_start: startS };
        const { id, member, deliveredFrom } = subscription;
        const events = end.firstSeq > deliveredFrom ? end.prices : null;
        const frame = { type: 'end_of_window', subscription_id: id, ...window, window_end: startS + 300, events };
        member.peer.sendControl(JSON.stringify(frame));
      }
    },
    after(event, subscriptions) {
      const end = tracker.blockEnd(event);
      if (end === null || !some(subscriptions, event, wantBlock)) return;
      flush();
      for (const subscription of subscriptions) {
        if (!wantBlock(subscription, event)) continue;
        const { id, filter, member, deliveredFrom } = subscription;
        const whole = end.events?.every(({ seq }) => seq > deliveredFrom) ? end.events : null;
        const events = whole?.filter(filter.matches).length ?? null;
        const frame = { type: 'end_of_block', subscription_id: id, block_number: end.blockNumber, events };
        member.peer.sendControl(JSON.stringify(frame));
      }
    },
  };
}
