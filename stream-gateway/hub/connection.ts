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
import {
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
import { boundedWarnings, clampWarnings, snapshotRequestOf, subscribedFrame } from './acknowledgement.js';
import { type ConnectionLimits, messageSizeError, subscriptionLimitError } from './connection-limits.js';
import type { FairScheduler } from './fair-scheduler.js';
import { createMember, type Hub } from './hub.js';
import { createMarketWaits } from './market-waits.js';
import type { Peer } from './peer.js';
import { createRequestQueue } from './request-queue.js';
import { type ActiveSubscription, createSubscriptions } from './subscriptions.js';
import { createUpdate } from './update.js';

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
    nowMs: deps.nowMs,
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
  const waiting = createMarketWaits({
    watch: deps.unresolved,
    subscriptions,
    nowMs: deps.nowMs,
    notify,
    closed: () => peer.closed,
    at,
  });

  const limitError = (items: number, replaced: ActiveSubscription | null) =>
    subscriptionLimitError({
      items,
      others: subscriptions.all().filter((other) => other !== replaced),
      retired: subscriptions.retired,
      allowedItems: peer.terms.filterItemsPerSubscription,
      limits,
    });

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
    ack(subscription, [...cut, ...warnings]);
    if (snapshot !== null) peer.sendSnapshot(snapshot.message);
    // A client that reads too slowly is closed by what is sent to it.
    if (peer.closed) return;
    subscriptions.startLive(subscription);
    waiting.watch(subscription, new Set());
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
    // What the client does not get comes first, since a frame has a bounded number of warnings.
    const warnings = [
      ...(preset === 'chainlink' ? [] : clampWarnings(filters, peer.terms, deps.nowMs())),
      ...parseWarnings,
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
        filter: compileFilters(preset, filters, marketIdsOf(markets, waits)),
        member,
        items,
        ends: block || window ? { block, window } : null,
        deliveredFrom: start?.afterSeq ?? hub.head,
      };
      if (start === null) return await goLive(subscription, warnings);
      ack(subscription, [...start.warnings, ...warnings]);
      if (peer.closed) return;
      subscriptions.startReplay(subscription);
      waiting.watch(subscription, new Set());
    } catch (error) {
      unavailable('log', error);
    }
  };

  const noSuchSubscription = (subscriptionId: string | null) =>
    sendError({ code: 'invalid_message', message: `No such subscription: ${subscriptionId?.slice(0, 100)}` });

  const update = createUpdate({
    peer,
    subscriptions,
    waiting,
    lookup: deps.lookup,
    limitError,
    noSuchSubscription,
    unavailable,
    sendError,
    acknowledge: (subscriptionId, seq, warnings) =>
      sendJson({
        type: 'updated',
        subscriber_id: id,
        subscription_id: subscriptionId,
        ...at(seq),
        warnings: boundedWarnings(warnings),
      }),
  });

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
    const tooLarge = messageSizeError(message.byteLength, peer.terms.filterItemsPerSubscription, limits);
    if (tooLarge !== null) return () => sendError(tooLarge);
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
