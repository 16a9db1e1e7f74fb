import type { MarketItems } from '../filters/resolve-filters.js';
import type { Filters } from '../protocol/messages.js';
import type { PresetName } from '../protocol/presets.js';
import type { History } from '../replay/history.js';
import type { RecentEvents } from '../replay/recent-events.js';
import { createReplay } from '../replay/replay.js';
import type { Hub, Member, Subscription } from './hub.js';
import type { Peer } from './peer.js';

/** A subscription with what is needed to change its filters. */
export interface ActiveSubscription extends Subscription {
  readonly preset: PresetName;
  readonly filters: Filters;
  readonly markets: MarketItems;
  /** Unknown slugs and condition ids begin when they appear. */
  readonly waits: boolean;
}

/** The subscriptions of one connection: live, being replayed, or suspended because the client reads too slowly. */
export interface Subscriptions {
  all(): readonly ActiveSubscription[];
  get(id: string): ActiveSubscription | undefined;
  /** Number of ended subscriptions, and of their filter items, that a running replay still needs. */
  readonly retired: { readonly count: number; readonly items: number };
  /** seq of the newest event that was examined for all of them; null if there are none. */
  position(): number | null;
  /** Delivers every event after the newest one. */
  startLive(subscription: ActiveSubscription): void;
  /** Delivers every event after its `deliveredFrom`. */
  startReplay(subscription: ActiveSubscription): void;
  /** Exchanges the filter between two events. `announce` is called before, with the seq of the last event that the old filter is for. */
  replace(current: ActiveSubscription, next: ActiveSubscription, announce: (seq: number) => void): void;
  drop(subscription: ActiveSubscription): void;
  close(): void;
}

export function createSubscriptions(deps: {
  peer: Peer;
  hub: Hub;
  member: Member;
  recent: RecentEvents;
  history: History;
  /** Resolves when all received messages are handled. */
  idle: () => Promise<void>;
  /** Sends a frame that every client understands. */
  send: (frame: object) => void;
  /** Sends a frame to a client that requested notices. */
  notify: (frame: object) => void;
  nowMs: () => number;
  /** `seq` and cursor of a position, as fields of a frame. */
  at: (seq: number) => object;
  /** Called when the next events of a replay are no longer retained or cannot be read; its subscriptions have ended. */
  onLost: (ended: readonly Subscription[], error: unknown) => void;
}): Subscriptions {
  const { peer, hub, send, notify, at } = deps;
  const live = new Map<string, ActiveSubscription>();
  const replaying = new Map<string, ActiveSubscription>();
  /** Live subscriptions of a slow reader, whose events from `fromSeq` on are skipped. */
  let suspended: { readonly subscriptions: Map<string, ActiveSubscription>; readonly fromSeq: number } | null = null;

  const all = () => [...live.values(), ...(suspended?.subscriptions.values() ?? []), ...replaying.values()];
  const activate = (subscription: ActiveSubscription) => {
    live.set(subscription.id, subscription);
    hub.activate(subscription);
    notify({ type: 'caught_up', subscription_id: subscription.id, ...at(hub.head) });
  };

  const resumeLive = () => {
    if (suspended === null || peer.closed) return;
    const { subscriptions, fromSeq } = suspended;
    suspended = null;
    const toSeq = hub.head;
    const skipped = toSeq >= fromSeq;
    if (skipped) send({ type: 'skipped', from_seq: fromSeq, to_seq: toSeq });
    for (const subscription of subscriptions.values())
      activate(skipped ? { ...subscription, deliveredFrom: toSeq } : subscription);
  };
  /** `seq`: the first event that is skipped; null: the next one. */
  const suspend = (seq: number | null) => {
    if (suspended !== null || live.size === 0) return;
    const fromSeq = seq ?? hub.head + 1;
    suspended = { subscriptions: new Map(live), fromSeq };
    peer.flushTopics();
    for (const subscription of live.values()) {
      hub.deactivate(subscription);
      replay.retire(subscription, fromSeq - 1);
    }
    live.clear();
    for (const id of suspended.subscriptions.keys())
      notify({ type: 'fell_behind', subscription_id: id, reason: 'slow_reader', ...at(fromSeq - 1) });
    void peer.drained().then(resumeLive);
  };
  const setSlowReaderPolicy = () => {
    const subscriptions = all();
    const skips = subscriptions.length > 0 && subscriptions.every(({ filters }) => filters.on_slow === 'skip');
    peer.setOnSlow(skips ? suspend : null);
  };

  const replay = createReplay({
    peer,
    recent: deps.recent,
    history: deps.history,
    live: () => live.values(),
    idle: deps.idle,
    onLive(subscription) {
      replaying.delete(subscription.id);
      resumeLive();
      activate(subscription as ActiveSubscription);
    },
    onGap(fromSeq, toSeq) {
      notify({ type: 'notice', code: 'gap', ts: deps.nowMs(), from_seq: fromSeq, to_seq: toSeq });
    },
    onLost(ended, error) {
      for (const { id } of ended) replaying.delete(id);
      setSlowReaderPolicy();
      deps.onLost(ended, error);
    },
  });

  return {
    all,
    get: (id) => live.get(id) ?? suspended?.subscriptions.get(id) ?? replaying.get(id),
    get retired() {
      return { count: replay.retired, items: replay.retiredItems };
    },
    position() {
      if (live.size + replaying.size + (suspended?.subscriptions.size ?? 0) === 0) return null;
      const beforeSkipped = suspended === null ? hub.head : suspended.fromSeq - 1;
      return Math.max(0, Math.min(hub.head, beforeSkipped, replay.examinedSeq));
    },
    startLive(subscription) {
      resumeLive();
      activate({ ...subscription, deliveredFrom: hub.head });
      setSlowReaderPolicy();
    },
    startReplay(subscription) {
      replaying.set(subscription.id, subscription);
      setSlowReaderPolicy();
      replay.add(subscription);
    },
    replace(current, next, announce) {
      const { id } = current;
      if (replaying.has(id)) {
        announce(replay.examinedSeqOf(current));
        const continued = replay.replace(current, next);
        if (continued !== null) replaying.set(id, continued);
        return;
      }
      announce(hub.head);
      const continued = { ...next, deliveredFrom: hub.head };
      if (suspended?.subscriptions.has(id) === true) suspended.subscriptions.set(id, next);
      else if (live.has(id)) {
        hub.deactivate(current);
        replay.retire(current, hub.head);
        live.set(id, continued);
        hub.activate(continued);
      }
    },
    drop(subscription) {
      const { id } = subscription;
      if (live.delete(id)) {
        hub.deactivate(subscription);
        replay.retire(subscription, hub.head);
      } else if (suspended?.subscriptions.delete(id) === true) {
        if (suspended.subscriptions.size === 0) suspended = null;
      } else if (replaying.delete(id)) replay.remove(subscription);
      setSlowReaderPolicy();
    },
    close() {
      for (const subscription of live.values()) hub.deactivate(subscription);
      live.clear();
      replaying.clear();
      suspended = null;
      hub.drop(deps.member);
    },
  };
}
