import { randomUUID } from 'node:crypto';
import { compileFilters } from '../filters/compile.js';
import type { MarketLookup } from '../filters/market-lookup.js';
import {
  itemsToLookUp,
  lookUpItems,
  type MarketItems,
  marketIdsOf,
  rejectionOf,
  unresolvedOf,
} from '../filters/resolve-filters.js';
import type { UnresolvedWatch } from '../filters/unresolved-watch.js';
import { updateFilters } from '../filters/update-filters.js';
import { createWaitingMarkets } from '../filters/waiting-markets.js';
import {
  type ClientMessage,
  countFilterItems,
  type Filters,
  INVALID_JSON,
  isProtocolError,
  type ProtocolError,
  parseClientMessage,
} from '../protocol/messages.js';
import type { PresetName } from '../protocol/presets.js';
import type { History } from '../replay/history.js';
import type { RecentEvents } from '../replay/recent-events.js';
import { NoLongerRetainedError } from '../replay/replay.js';
import { resolveSince } from '../replay/since-seq.js';
import type { Snapshots } from '../replay/snapshot.js';
import { clampWarnings, MAX_WARNINGS, snapshotRequestOf, subscribedFrame } from './acknowledgement.js';
import type { FairScheduler } from './fair-scheduler.js';
import { createMember, type Hub } from './hub.js';
import type { Peer } from './peer.js';
import { createRequestQueue, type PendingLimits } from './request-queue.js';
import { type ActiveSubscription, createSubscriptions } from './subscriptions.js';

export interface ConnectionLimits {
  readonly pending: PendingLimits;
  readonly subscriptions: number;
  /** Bound of the filter items of all subscriptions, as a multiple of the plan's bound for one. */
  readonly itemsFactor: number;
  /** Bytes of a message allowed per filter item of the plan, in addition to a fixed part. */
  readonly bytesPerItem: number;
}

export const defaultConnectionLimits: ConnectionLimits = {
  pending: { frames: 2_000, bytes: 16 * 1024 * 1024 },
  subscriptions: 1_000,
  itemsFactor: 10,
  bytesPerItem: 128,
};
const MESSAGE_BASE_BYTES = 64 * 1024;

export interface Connection {
  readonly id: string;
  /** Queues one message of the client. Messages are handled in order of arrival. */
  receive(message: ArrayBuffer, isBinary: boolean): void;
  sessionUsedUp(resetsAtMs: number): void;
  /** Newest event that was examined for all subscriptions of the connection; empty without a subscription. */
  position(): { readonly seq?: number; readonly cursor?: string };
  /** Ends the connection if a meter of its subscriptions is used up. */
  checkAllowance(): void;
  close(): void;
}

export type SocketMeter = 'onchain_event_bytes' | 'orderbook_chainlink_bytes';
const meterOf = (preset: PresetName): SocketMeter =>
  preset === 'chainlink' ? 'orderbook_chainlink_bytes' : 'onchain_event_bytes';

export interface ConnectionDeps {
  readonly peer: Peer;
  readonly hub: Hub;
  readonly recent: RecentEvents;
  readonly history: History;
  readonly snapshots: Snapshots;
  /** Shared by all connections of the server. */
  readonly scheduler: FairScheduler;
  readonly lookup: MarketLookup;
  /** Shared by all connections of the server. */
  readonly unresolved: UnresolvedWatch;
  /** The client understands the frames caught_up, fell_behind and notice. */
  readonly notices: boolean;
  readonly limits: ConnectionLimits;
  readonly nowMs: () => number;
  /** Id of the lifetime of stream.events; null while it is unknown. */
  readonly epoch: () => string | null;
  /** Unix ms at which the meter has an allowance again; null: it is not used up, or that is not enforced. */
  readonly usedUpUntil: (meter: SocketMeter) => number | null;
  /** The catalogue or the log could not be read. */
  readonly onUnavailable: (dependency: 'catalogue' | 'log', error: unknown) => void;
  readonly onError: (error: unknown) => void;
}

/** The protocol of one connection: subscriptions, acks, snapshots and replays. */
export function createConnection(deps: ConnectionDeps): Connection {
  const { peer, hub, limits } = deps;
  const id = randomUUID();
  const member = createMember(peer);
  let counter = 0;

  const sendJson = (value: object) => peer.sendControl(JSON.stringify(value));
  const sendError = (error: ProtocolError) => sendJson({ type: 'error', ...error });
  const notify = (frame: object) => {
    if (deps.notices) sendJson(frame);
  };
  const unavailable = (dependency: 'catalogue' | 'log', error: unknown) => {
    deps.onUnavailable(dependency, error);
    sendError({
      code: 'unavailable',
      message: `The ${dependency} cannot be read right now; subscribe again in a few seconds.`,
    });
  };
  const at = (newest: number) => {
    const seq = Math.max(0, newest);
    const epoch = deps.epoch();
    return epoch === null ? { seq } : { seq, cursor: `${epoch}:${seq}` };
  };

  const subscriptions = createSubscriptions({
    peer,
    hub,
    member,
    recent: deps.recent,
    history: deps.history,
    idle: () => queue.idle(),
    send: sendJson,
    notify,
    at,
    onLost(lost, error) {
      for (const { id } of lost) waiting.forget(id);
      if (error instanceof NoLongerRetainedError) {
        const message = `The replay fell behind what is retained (from seq ${error.earliestSeq} on); its subscription ended.`;
        sendError({ code: 'since_seq_unavailable', message, earliest_seq: error.earliestSeq });
      } else unavailable('log', error);
    },
  });
  const drop = (subscription: ActiveSubscription) => {
    subscriptions.drop(subscription);
    waiting.forget(subscription.id);
  };
  const compile = (preset: PresetName, filters: Filters, markets: MarketItems, waits: boolean) =>
    compileFilters(preset, filters, marketIdsOf(markets, waits));

  const notice = (code: string, subscriptionId: string, fields: object) =>
    notify({ type: 'notice', code, ts: deps.nowMs(), subscription_id: subscriptionId, ...fields });
  const waiting = createWaitingMarkets({
    watch: deps.unresolved,
    onResolved(id, items) {
      const current = subscriptions.get(id);
      if (current === undefined) return;
      const markets = { slugs: new Map(current.markets.slugs), conditions: new Map(current.markets.conditions) };
      // An update may have removed some meanwhile.
      const wanted = items.filter(({ type, item, rows }) => {
        const map = type === 'slug' ? markets.slugs : markets.conditions;
        if (!map.has(item)) return false;
        map.set(item, rows);
        return true;
      });
      if (wanted.length === 0) return;
      const next = { ...current, markets, filter: compile(current.preset, current.filters, markets, true) };
      subscriptions.replace(current, next, (seq) => {
        for (const { type, item } of wanted) notice('resolved', id, { [type]: item, ...at(seq) });
      });
    },
  });
  /** Reports unknown items one by one, and waits for them. */
  const waitFor = ({ id, waits, markets }: ActiveSubscription, reported: ReadonlySet<string>) => {
    if (!waits) return;
    for (const { type, item } of unresolvedOf(markets)) {
      if (!reported.has(`${type} ${item}`)) notice('unresolved', id, { [type]: item });
    }
    waiting.watch(id, markets);
  };

  const limitError = (items: number, replaced: ActiveSubscription | null): ProtocolError | null => {
    if (items > peer.terms.filterItemsPerSubscription) {
      const allowed = peer.terms.filterItemsPerSubscription;
      return { code: 'filter_limit', message: `${items} filter items; your plan allows ${allowed} per subscription` };
    }
    const others = subscriptions.all().filter((other) => other !== replaced);
    const { retired } = subscriptions;
    if (others.length + retired.count >= limits.subscriptions) {
      return { code: 'subscription_limit', message: `A connection may have ${limits.subscriptions} subscriptions` };
    }
    const allowed = peer.terms.filterItemsPerSubscription * limits.itemsFactor;
    if (others.reduce((sum, other) => sum + other.items, items + retired.items) > allowed) {
      return { code: 'filter_limit', message: `A connection of your plan may have ${allowed} filter items in all` };
    }
    return null;
  };

  const ack = (subscription: ActiveSubscription, warnings: readonly string[]) => {
    sendJson(subscribedFrame(id, subscription, deps.epoch(), warnings));
    // A connection has one selection of price feeds: a new one replaces it.
    if (subscription.preset !== 'chainlink') return;
    for (const other of subscriptions.all()) if (other.preset === 'chainlink') drop(other);
  };

  /** Sends the ack and the snapshot and activates the subscription synchronously: no event is lost between them or sent twice. */
  const goLive = async (subscription: ActiveSubscription, warnings: readonly string[]) => {
    const request = snapshotRequestOf(subscription, peer.terms, deps.nowMs());
    const { matches } = subscription.filter;
    let snapshot = request === null ? null : (await deps.snapshots.prepare(request, matches))();
    while (request !== null && snapshot === null && !peer.closed) {
      snapshot = (await deps.snapshots.prepare(request, matches))();
    }
    if (peer.closed) return;
    const cut = snapshot?.truncated === true ? ['snapshot cut to its newest events; use since_seq to get all'] : [];
    ack(subscription, [...warnings, ...cut]);
    if (snapshot !== null) peer.sendSnapshot(snapshot.message);
    subscriptions.startLive(subscription);
    waitFor(subscription, new Set());
  };

  const endIfUsedUp = (preset: PresetName): boolean => {
    const meter = meterOf(preset);
    const resetsAtMs = deps.usedUpUntil(meter);
    if (resetsAtMs === null) return false;
    sendJson({
      type: 'error',
      code: 'monthly_allowance_used_up',
      message: 'The allowance of your plan and all packages of this meter are used up.',
      meter,
      resets_at: new Date(resetsAtMs).toISOString(),
    });
    peer.end('allowanceUsedUp');
    return true;
  };

  const subscribe = async (preset: PresetName, filters: Filters, parseWarnings: readonly string[]) => {
    if (endIfUsedUp(preset)) return;
    const items = countFilterItems(filters);
    const overLimit = limitError(items, null);
    if (overLimit !== null) return sendError(overLimit);
    const waits = deps.notices && preset !== 'chainlink';
    let markets: MarketItems;
    try {
      markets = await lookUpItems(deps.lookup, itemsToLookUp(preset, filters));
    } catch (error) {
      return unavailable('catalogue', error);
    }
    if (peer.closed) return;
    const rejection = waits ? null : rejectionOf(markets);
    if (rejection !== null) return sendError(rejection);
    const warnings = [
      ...parseWarnings,
      ...(preset === 'chainlink' ? [] : clampWarnings(filters, peer.terms, deps.nowMs())),
      ...unresolvedOf(markets).map(({ type, item }) => `${type} not found: ${item}`),
    ];
    try {
      const { since_seq: since } = filters;
      const lookback = { ...deps, lookbackMs: peer.terms.seqLookbackMs };
      const start = since === undefined ? null : await resolveSince(since, lookback);
      if (peer.closed) return;
      if (start !== null && 'code' in start) return sendError(start);
      const { end_of_window: window } = filters;
      // Prices belong to no block.
      const block = filters.end_of_block && preset !== 'chainlink';
      const subscription: ActiveSubscription = {
        id: `${id}:${++counter}`,
        preset,
        filters,
        markets,
        waits,
        filter: compile(preset, filters, markets, waits),
        member,
        items,
        ends: block || window ? { block, window } : null,
        deliveredFrom: start?.afterSeq ?? hub.head,
      };
      if (start === null) return await goLive(subscription, warnings);
      ack(subscription, [...start.warnings, ...warnings]);
      subscriptions.startReplay(subscription);
      waitFor(subscription, new Set());
    } catch (error) {
      unavailable('log', error);
    }
  };

  const noSuchSubscription = (subscriptionId: string | null) =>
    sendError({ code: 'invalid_message', message: `No such subscription: ${subscriptionId?.slice(0, 100)}` });

  const update = async ({ subscriptionId, add, remove, warnings }: ClientMessage & { action: 'update' }) => {
    const requested = subscriptions.get(subscriptionId);
    if (requested === undefined) return noSuchSubscription(subscriptionId);
    const { preset } = requested;
    if (preset === 'chainlink') {
      return sendError({ code: 'invalid_message', message: 'A chainlink subscription is replaced by a new one' });
    }
    const changed = updateFilters(requested.filters, { add, remove });
    if ('code' in changed) return sendError(changed);
    const { filters } = changed;
    const items = countFilterItems(filters);
    const overLimit = limitError(items, requested);
    if (overLimit !== null) return sendError(overLimit);
    let added: MarketItems;
    try {
      added = await lookUpItems(
        deps.lookup,
        itemsToLookUp(preset, { slugs: [...add.slugs], condition_ids: [...add.condition_ids] }),
      );
    } catch (error) {
      return unavailable('catalogue', error);
    }
    // A replay may have ended meanwhile, and a waiting item may have appeared.
    const current = subscriptions.get(subscriptionId);
    if (peer.closed) return;
    if (current === undefined) return noSuchSubscription(subscriptionId);
    const kept = (map: MarketItems['slugs'], more: MarketItems['slugs'], names: readonly string[]) => {
      const all = new Map([...map, ...more]);
      return new Map(names.flatMap((name) => (all.has(name) ? [[name, all.get(name) ?? []] as const] : [])));
    };
    const markets: MarketItems = {
      slugs: kept(current.markets.slugs, added.slugs, filters.slugs),
      conditions: kept(current.markets.conditions, added.conditions, filters.condition_ids),
    };
    const reported = new Set(unresolvedOf(current.markets).map(({ type, item }) => `${type} ${item}`));
    const next = { ...current, filters, markets, items, waits: true, filter: compile(preset, filters, markets, true) };
    subscriptions.replace(current, next, (seq) =>
      sendJson({
        type: 'updated',
        subscriber_id: id,
        subscription_id: subscriptionId,
        ...at(seq),
        warnings: [
          ...warnings,
          ...changed.warnings,
          ...unresolvedOf(added).map(({ type, item }) => `${type} not found: ${item}`),
        ].slice(0, MAX_WARNINGS),
      }),
    );
    waitFor(next, reported);
  };

  const unsubscribe = (subscriptionId: string | null) => {
    const subscription = subscriptionId === null ? null : subscriptions.get(subscriptionId);
    if (subscription === undefined) return noSuchSubscription(subscriptionId);
    for (const ended of subscription === null ? subscriptions.all() : [subscription]) drop(ended);
    const which = subscriptionId === null ? {} : { subscription_id: subscriptionId };
    sendJson({ type: 'unsubscribed', subscriber_id: id, ...which });
  };

  const respond = async (text: string) => {
    const message = parseClientMessage(text, peer.terms.filterItemsPerSubscription);
    if (isProtocolError(message)) sendError(message);
    else if (message.action === 'ping') sendJson({ type: 'pong', ts: deps.nowMs() });
    else if (message.action === 'unsubscribe') unsubscribe(message.subscriptionId);
    else if (message.action === 'update') await update(message);
    else await subscribe(message.preset, message.filters, message.warnings);
  };
  const queue = createRequestQueue({ limits: limits.pending, onError: deps.onError });
  const createHandler = (message: ArrayBuffer, isBinary: boolean): (() => Promise<void> | void) => {
    if (isBinary) return () => sendError(INVALID_JSON);
    const largestMessage = MESSAGE_BASE_BYTES + peer.terms.filterItemsPerSubscription * limits.bytesPerItem;
    if (message.byteLength > largestMessage) {
      const { byteLength } = message;
      const error: ProtocolError = {
        code: 'filter_limit',
        message: `Message of ${byteLength} bytes; the filter items of your plan fit into ${largestMessage}`,
      };
      return () => sendError(error);
    }
    // The message's memory belongs to the library and is invalid after this call.
    const text = Buffer.from(message).toString('utf8');
    return () => respond(text);
  };

  return {
    id,
    receive(message, isBinary) {
      const handle = createHandler(message, isBinary);
      const queued = queue.push(async () => {
        // A client that does not read its responses gets no further ones.
        if (peer.backpressured) await peer.drained();
        await deps.scheduler.nextTurn();
        if (!peer.closed) await handle();
      }, message.byteLength);
      if (!queued) peer.end('tooManyPending');
    },
    position() {
      const seq = subscriptions.position();
      return seq === null ? {} : at(seq);
    },
    sessionUsedUp(resetsAtMs) {
      sendJson({
        type: 'error',
        code: 'free_tier_limit_reached',
        message: 'The session time of your plan is used up for today.',
        resets_at: new Date(resetsAtMs).toISOString(),
      });
      peer.end('sessionUsedUp');
    },
    checkAllowance() {
      for (const preset of new Set(subscriptions.all().map((subscription) => subscription.preset)))
        if (!peer.closed && endIfUsedUp(preset)) return;
    },
    close() {
      queue.close();
      waiting.forget();
      subscriptions.close();
    },
  };
}
