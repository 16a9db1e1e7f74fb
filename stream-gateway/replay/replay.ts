import { yieldToEventLoop } from '../../infra/event-loop.js';
import type { Hub, Subscription } from '../hub/hub.js';
import type { LiveEvent } from '../hub/live-event.js';
import type { Peer } from '../hub/peer.js';
import type { History } from './history.js';
import type { RecentEvents } from './recent-events.js';

export interface Replay {
  /** The subscription gets every matching event with a seq above its `deliveredFrom`, then goes live. */
  add(subscription: Subscription): void;
  /** Stops the subscription if it is still being replayed; says whether it was. */
  remove(subscription: Subscription): boolean;
  /** A live subscription of the connection has ended: what it delivered is not sent again by a replay under way. */
  retire(subscription: Subscription): void;
  /** Ended subscriptions that a replay under way still has to know, and their filter items. */
  readonly retired: number;
  readonly retiredItems: number;
}

/** Part of the stream that one subscription has delivered. */
interface DeliveredRange {
  readonly subscription: Subscription;
  readonly afterSeq: number;
  readonly upToSeq: number;
}

const BATCH_EVENTS = 250;

/**
 * Replays for the subscriptions of one connection: pulled from the log and then from memory at the reader's pace, until the newest event is
 * reached; in that same turn of the loop the subscriptions go live. So there is nothing to buffer, no gap and no duplicate. Subscriptions that
 * begin together share one pass, and get their events once and in order.
 */
export function createReplay(deps: {
  peer: Peer;
  hub: Hub;
  recent: RecentEvents;
  history: History;
  /** Live subscriptions of the connection. */
  live: () => Iterable<Subscription>;
  /** Resolves when all requests that have come are answered: what they subscribe to goes along. */
  idle: () => Promise<void>;
  /** The subscription has caught up and is live. */
  onLive: (subscription: Subscription) => void;
  /** What comes next for these is no longer retained, or cannot be read: they ended. */
  onLost: (subscriptions: readonly Subscription[], error: unknown) => void;
}): Replay {
  const { peer, hub, recent, history } = deps;
  let waiting: Subscription[] = [];
  let group: Subscription[] = [];
  let retired: DeliveredRange[] = [];
  let cursor = -1;
  let running = false;

  const join = () => {
    const joining = waiting.filter(({ deliveredFrom }) => deliveredFrom >= cursor);
    if (joining.length === 0) return;
    waiting = waiting.filter(({ deliveredFrom }) => deliveredFrom < cursor);
    group.push(...joining);
  };
  const isDelivered = (event: LiveEvent): boolean => {
    for (const { deliveredFrom, filter } of deps.live()) {
      if (event.seq > deliveredFrom && filter.matches(event)) return true;
    }
    for (const { subscription, afterSeq, upToSeq } of retired) {
      if (event.seq > afterSeq && event.seq <= upToSeq && subscription.filter.matches(event)) return true;
    }
    return false;
  };
  const offer = (event: LiveEvent) => {
    cursor = event.seq;
    if (!group.some(({ deliveredFrom, filter }) => event.seq > deliveredFrom && filter.matches(event))) return;
    if (!isDelivered(event)) peer.sendEvent(event);
  };

  /** Sends from memory; true when the newest event is reached. */
  const stepFromMemory = (): boolean => {
    const start = recent.positionAfter(cursor);
    const end = Math.min(recent.size, start + BATCH_EVENTS);
    const batch: LiveEvent[] = [];
    for (let position = start; position < end; position++) batch.push(recent.at(position));
    peer.corked(() => {
      for (const event of batch) {
        if (peer.backpressured) return;
        offer(event);
      }
    });
    return recent.positionAfter(cursor) === recent.size;
  };

  /** Sends from the log while the reader keeps up; returns the offset to go on from. */
  const stepFromLog = async (from: number): Promise<number> => {
    let offset = from;
    for await (const page of history.pages(from)) {
      if (peer.closed || group.length === 0) return offset;
      join();
      const first = page.events[0];
      if (first !== undefined && first.seq > cursor + 1 && (await history.earliestOffset()) > offset) {
        throw new NoLongerRetainedError(first.seq);
      }
      peer.corked(() => {
        for (const event of page.events) if (event.seq > cursor) offer(event);
      });
      offset = page.nextOffset;
      if (peer.backpressured || cursor >= recent.floorSeq) return offset;
      await yieldToEventLoop();
    }
    return offset;
  };

  const pass = async (): Promise<void> => {
    cursor = Math.min(...waiting.map(({ deliveredFrom }) => deliveredFrom));
    join();
    let offset: number | null = null;
    while (group.length > 0 && !peer.closed) {
      if (peer.backpressured) await peer.drained();
      join();
      if (cursor < recent.floorSeq) {
        const from: number = offset ?? (await history.offsetAfter(cursor));
        const next = await stepFromLog(from);
        // The log ends before memory begins: what is between could not be read.
        if (next === from && cursor < recent.floorSeq && !peer.backpressured) cursor = recent.floorSeq;
        offset = next;
        continue;
      }
      offset = null;
      if (stepFromMemory()) {
        const caughtUp = group;
        group = [];
        for (const subscription of caughtUp) {
          hub.activate(subscription);
          deps.onLive(subscription);
        }
      } else await yieldToEventLoop();
    }
  };

  const run = async (): Promise<void> => {
    running = true;
    try {
      await deps.idle();
      while (waiting.length > 0 && !peer.closed) await pass();
    } catch (error) {
      const lost = [...group, ...waiting];
      group = [];
      waiting = [];
      deps.onLost(lost, error);
    } finally {
      running = false;
      retired = [];
    }
  };

  return {
    add(subscription) {
      waiting.push(subscription);
      if (!running) void run();
    },
    remove(subscription) {
      if (waiting.includes(subscription)) {
        waiting = waiting.filter((other) => other !== subscription);
        return true;
      }
      if (!group.includes(subscription)) return false;
      group = group.filter((other) => other !== subscription);
      retired.push({ subscription, afterSeq: subscription.deliveredFrom, upToSeq: cursor });
      return true;
    },
    retire(subscription) {
      if (running) retired.push({ subscription, afterSeq: subscription.deliveredFrom, upToSeq: hub.head });
    },
    get retired() {
      return retired.length;
    },
    get retiredItems() {
      return retired.reduce((sum, { subscription }) => sum + subscription.items, 0);
    },
  };
}

/** Retention has overtaken a replay. */
export class NoLongerRetainedError extends Error {
  override name = 'NoLongerRetained';
  constructor(readonly earliestSeq: number) {
    super(`the oldest event retained is ${earliestSeq}`);
  }
}
