import { yieldToEventLoop } from '../../infra/event-loop.js';
import type { CompiledFilter } from '../filters/compile.js';
import { createSubscriptionIndex } from '../filters/subscription-index.js';
import type { RecentEvents } from '../replay/recent-events.js';
import { createIntervalTracker, type WantedEnds } from './interval-ends.js';
import { createIntervalEndsWriter } from './interval-ends-writer.js';
import type { LiveEvent } from './live-event.js';
import type { NativeTopics } from './native-topics.js';
import type { Peer } from './peer.js';

/** One subscription of a connection. */
export interface Subscription {
  readonly id: string;
  readonly filter: CompiledFilter;
  readonly member: Member;
  /** Every matching event after this seq has been sent, or will be. */
  readonly deliveredFrom: number;
  /** Number of its filter items. */
  readonly items: number;
  /** Ends of blocks and windows that it requests; null: none. */
  readonly ends: WantedEnds | null;
}

/** Fan-out state of one connection. */
export interface Member {
  readonly peer: Peer;
  /** Channels that the connection receives without a filter, with the number of its subscriptions that request each. */
  readonly native: Map<string, number>;
  /** seq of the newest event that was sent to it by a filter, not by a topic of the socket library. */
  lastSeq: number;
  /** Events to send at the end of the slice. */
  readonly outbox: LiveEvent[];
}

export const createMember = (peer: Peer): Member => ({ peer, native: new Map(), lastSeq: -1, outbox: [] });

export interface Hub {
  /** seq of the newest event published or loaded; -1 before the first. */
  readonly head: number;
  /** Connections with a subscription without filters. */
  readonly firehoses: number;
  /** Adds an event from before the start. It is used for snapshots and replays only. */
  load(event: LiveEvent): void;
  /** Sends live events, in seq order; yields to the sockets after every slice of bytes. The caller must wait for it before the next call. */
  publish(events: readonly LiveEvent[]): Promise<void>;
  /** The subscription receives events from the next one on. */
  activate(subscription: Subscription): void;
  deactivate(subscription: Subscription): void;
  /** Removes a closed connection. Its subscriptions must be deactivated before. */
  drop(member: Member): void;
}

/** The library sends published messages only when the event loop continues; this bounds what it buffers meanwhile, bytes per receiver. */
const SLICE_BYTES = 256 * 1024;

/**
 * Fan-out in three tiers: topics of the socket library for unfiltered channels, an index for filters with items, and a list per channel for all
 * other filters. Each connection receives an event once, and all events in `seq` order.
 */
export function createHub(deps: {
  recent: RecentEvents;
  natives: NativeTopics;
  /** Called after every slice with the number of bytes published in it. */
  onSlice?: (bytes: number) => void;
}): Hub {
  const { recent, natives } = deps;
  const index = createSubscriptionIndex<Subscription>();
  let dirty: Member[] = [];
  let head = -1;
  let sliceBytes = 0;
  let firehoses = 0;
  let current: LiveEvent | null = null;

  const offer = ({ member, filter }: Subscription, indexed: boolean) => {
    const event = current as LiveEvent;
    if (member.lastSeq === event.seq || member.native.has(event.channel)) return;
    if (!(indexed ? filter.matchesIndexed : filter.matches)(event)) return;
    member.lastSeq = event.seq;
    // An outbox would reorder events: topic messages leave before the outbox is flushed. A direct send makes the library send earlier topic messages first.
    if (member.native.size > 0) {
      member.peer.sendLive(event);
      return;
    }
    if (member.outbox.length === 0) dirty.push(member);
    member.outbox.push(event);
  };
  const flush = () => {
    const flushed = dirty;
    dirty = [];
    for (const member of flushed) {
      member.peer.sendEvents(member.outbox);
      member.outbox.length = 0;
    }
  };
  /** Live subscriptions that want ends of blocks or windows. */
  const withEnds = new Set<Subscription>();
  const ends = createIntervalEndsWriter(createIntervalTracker(), flush);
  const noSubscriptions: readonly Subscription[] = [];

  return {
    get head() {
      return head;
    },
    get firehoses() {
      return firehoses;
    },
    load(event) {
      recent.push(event);
      head = event.seq;
      ends.before(event, noSubscriptions);
      ends.after(event, noSubscriptions);
    },
    async publish(events) {
      for (const event of events) {
        recent.push(event);
        head = event.seq;
        current = event;
        ends.before(event, withEnds);
        natives.publish(event);
        index.candidates(event, offer);
        ends.after(event, withEnds);
        sliceBytes += event.frame.length;
        if (sliceBytes < SLICE_BYTES) continue;
        flush();
        await yieldToEventLoop();
        deps.onSlice?.(sliceBytes);
        sliceBytes = 0;
      }
      flush();
    },
    activate(subscription) {
      const { filter, member } = subscription;
      if (subscription.ends !== null) withEnds.add(subscription);
      if (!filter.unfiltered) {
        index.add(subscription);
        return;
      }
      if (member.native.size === 0) firehoses++;
      for (const channel of filter.channels) {
        const count = member.native.get(channel) ?? 0;
        member.native.set(channel, count + 1);
        if (count === 0) natives.join(member.peer, channel);
      }
    },
    deactivate(subscription) {
      const { filter, member } = subscription;
      withEnds.delete(subscription);
      if (!filter.unfiltered) {
        index.remove(subscription);
        return;
      }
      for (const channel of filter.channels) {
        const count = (member.native.get(channel) ?? 0) - 1;
        if (count > 0) member.native.set(channel, count);
        else {
          member.native.delete(channel);
          natives.leave(member.peer, channel);
        }
      }
      if (member.native.size === 0) firehoses--;
    },
    drop(member) {
      natives.drop(member.peer);
      member.outbox.length = 0;
    },
  };
}
