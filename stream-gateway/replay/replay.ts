import { yieldToEventLoop } from '../../infra/event-loop.js';
import type { Subscription } from '../hub/hub.js';
import { createIntervalTracker } from '../hub/interval-ends.js';
import { createIntervalEndsWriter, type IntervalEndsWriter } from '../hub/interval-ends-writer.js';
import type { LiveEvent } from '../hub/live-event.js';
import type { Peer } from '../hub/peer.js';
import type { History } from './history.js';
import type { RecentEvents } from './recent-events.js';

export interface Replay {
  /** Sends the subscription every matching event with a seq above its `deliveredFrom`, then calls `onLive`. */
  add(subscription: Subscription): void;
  /** Continues with another filter after the newest examined event, the `deliveredFrom` of the result; null if the subscription is not being replayed. */
  replace<S extends Subscription>(current: S, next: S): S | null;
  /** Stops the replay of a subscription; false if it was not being replayed. */
  remove(subscription: Subscription): boolean;
  /** Call when a live subscription of the connection has ended after `upToSeq`: a running replay does not repeat the events it delivered. */
  retire(subscription: Subscription, upToSeq: number): void;
  /** seq of the newest event examined for a subscription that is being replayed. */
  examinedSeqOf(subscription: Subscription): number;
  /** Newest event examined for all replayed subscriptions; infinity without one. */
  readonly examinedSeq: number;
  /** Number of ended subscriptions whose delivered ranges a running replay still needs. */
  readonly retired: number;
  /** Number of their filter items. */
  readonly retiredItems: number;
}

/** Range of the stream that one subscription has delivered: (afterSeq, upToSeq]. */
interface DeliveredRange {
  readonly subscription: Subscription;
  readonly afterSeq: number;
  readonly upToSeq: number;
}

const BATCH_EVENTS = 250;

/**
 * Replays events to the subscriptions of one connection: from the log, then from memory, as fast as the client reads. When the newest event is
 * reached, the subscriptions are activated synchronously, so there is no buffer, no gap and no duplicate. Subscriptions that start together
 * share one pass and receive each event once, in order.
 */
export function createReplay(deps: {
  peer: Peer;
  recent: RecentEvents;
  history: History;
  /** Live subscriptions of the connection. */
  live: () => Iterable<Subscription>;
  /** Resolves when all received messages are handled, so that their subscriptions join the same pass. */
  idle: () => Promise<void>;
  /** Called when a subscription has caught up; it must be activated in the hub at once. */
  onLive: (subscription: Subscription) => void;
  /** Called when the log lacks numbers between two events: what they stand for is never sent. */
  onGap: (fromSeq: number, toSeq: number) => void;
  /** Called when the next events of these subscriptions are no longer retained or cannot be read; they have ended. */
  onLost: (subscriptions: readonly Subscription[], error: unknown) => void;
}): Replay {
  const { peer, recent, history } = deps;
  let waiting: Subscription[] = [];
  let group: Subscription[] = [];
  let retired: DeliveredRange[] = [];
  let cursor = -1;
  let running = false;
  let ends: IntervalEndsWriter = createIntervalEndsWriter(createIntervalTracker(), () => undefined);

  /** Of a member of the group: one that starts later than the pass has examined nothing yet. */
  const examinedOf = ({ deliveredFrom }: Subscription): number => Math.max(cursor, deliveredFrom);
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
    if (event.seq > cursor + 1) deps.onGap(cursor + 1, event.seq - 1);
    cursor = event.seq;
    ends.before(event, group);
    if (group.some(({ deliveredFrom, filter }) => event.seq > deliveredFrom && filter.matches(event))) {
      if (!isDelivered(event)) peer.sendEvent(event);
    }
    ends.after(event, group);
  };

  /** Sends a batch from memory; true if the newest event is reached. */
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

  /**
   * Sends from the log until the client is too slow (`paused`) or memory has the next event. Continue from `next`, whose first events may have been sent.
   */
  const stepFromLog = async (from: number): Promise<{ readonly next: number; readonly paused: boolean }> => {
    let offset = from;
    let paused = false;
    for await (const page of history.pages(from)) {
      if (peer.closed || group.length === 0) return { next: offset, paused: true };
      join();
      const first = page.events[0];
      if (first !== undefined && first.seq > cursor + 1 && (await history.earliestOffset()) >= offset) {
        throw new NoLongerRetainedError(first.seq);
      }
      peer.corked(() => {
        for (const event of page.events) {
          if (event.seq <= cursor) continue;
          paused = peer.backpressured;
          if (paused) return;
          offer(event);
        }
      });
      if (paused) return { next: offset, paused };
      offset = page.nextOffset;
      if (peer.backpressured || cursor >= recent.floorSeq) return { next: offset, paused: true };
      await yieldToEventLoop();
    }
    return { next: offset, paused };
  };

  /** The event with a seq; null if it is no longer retained. */
  const eventAt = async (seq: number): Promise<LiveEvent | null> => {
    const event =
      seq > recent.floorSeq
        ? recent.at(recent.positionAfter(seq - 1))
        : (await history.firstAt(await history.offsetAfter(seq - 1)))?.event;
    return event?.seq === seq ? event : null;
  };

  const pass = async (): Promise<void> => {
    cursor = Math.min(...waiting.map(({ deliveredFrom }) => deliveredFrom));
    const tracker = createIntervalTracker();
    ends = createIntervalEndsWriter(tracker, () => undefined);
    if (waiting.some((subscription) => subscription.ends?.block === true)) {
      // A block record or a retract just before the first event says that the next block is replayed from its start.
      const before = await eventAt(cursor);
      if (before?.kind === 'block' || before?.kind === 'retract') tracker.blockEnd(before);
    }
    join();
    let offset: number | null = null;
    while (group.length > 0 && !peer.closed) {
      if (peer.backpressured) await peer.drained();
      join();
      if (cursor < recent.floorSeq) {
        const from: number = offset ?? (await history.offsetAfter(cursor));
        const { next, paused } = await stepFromLog(from);
        // The log ends before the oldest event in memory: the records between them were undecodable.
        if (next === from && cursor < recent.floorSeq && !paused) cursor = recent.floorSeq;
        offset = next;
        continue;
      }
      offset = null;
      if (stepFromMemory()) {
        const caughtUp = group;
        group = [];
        for (const subscription of caughtUp) deps.onLive(subscription);
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
    replace(current, next) {
      if (waiting.includes(current)) {
        const continued = { ...next, deliveredFrom: current.deliveredFrom };
        waiting = waiting.map((other) => (other === current ? continued : other));
        return continued;
      }
      if (!group.includes(current)) return null;
      const upToSeq = examinedOf(current);
      retired.push({ subscription: current, afterSeq: current.deliveredFrom, upToSeq });
      const continued = { ...next, deliveredFrom: upToSeq };
      group = group.map((other) => (other === current ? continued : other));
      return continued;
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
    retire(subscription, upToSeq) {
      if (running) retired.push({ subscription, afterSeq: subscription.deliveredFrom, upToSeq });
    },
    examinedSeqOf: (subscription) =>
      group.includes(subscription) ? examinedOf(subscription) : subscription.deliveredFrom,
    get examinedSeq() {
      const replayed = group.length > 0 ? cursor : Number.POSITIVE_INFINITY;
      return waiting.reduce((oldest, { deliveredFrom }) => Math.min(oldest, deliveredFrom), replayed);
    },
    get retired() {
      return retired.length;
    },
    get retiredItems() {
      return retired.reduce((sum, { subscription }) => sum + subscription.items, 0);
    },
  };
}

/** Retention has removed events that a replay has not sent yet. */
export class NoLongerRetainedError extends Error {
  override name = 'NoLongerRetained';
  constructor(readonly earliestSeq: number) {
    super(`the oldest event retained is ${earliestSeq}`);
  }
}
