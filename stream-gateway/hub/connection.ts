import { randomUUID } from 'node:crypto';
import { compileFilters } from '../filters/compile.js';
import type { MarketLookup } from '../filters/market-lookup.js';
import { type ResolvedFilters, resolveFilters } from '../filters/resolve-filters.js';
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
import { createReplay, NoLongerRetainedError } from '../replay/replay.js';
import { resolveSince } from '../replay/since-seq.js';
import type { Snapshots } from '../replay/snapshot.js';
import type { FairScheduler } from './fair-scheduler.js';
import { createMember, type Hub, type Subscription } from './hub.js';
import type { Peer } from './peer.js';
import { createRequestQueue, type PendingLimits } from './request-queue.js';

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
const MAX_WARNINGS = 100;

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

interface ActiveSubscription extends Subscription {
  readonly preset: PresetName;
}

export interface ConnectionDeps {
  readonly peer: Peer;
  readonly hub: Hub;
  readonly recent: RecentEvents;
  readonly history: History;
  readonly snapshots: Snapshots;
  /** Shared by all connections of the server. */
  readonly scheduler: FairScheduler;
  readonly lookup: MarketLookup;
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
  const live = new Map<string, ActiveSubscription>();
  const replaying = new Map<string, ActiveSubscription>();
  let counter = 0;

  const sendJson = (value: object) => peer.sendControl(JSON.stringify(value));
  const sendError = (error: ProtocolError) => sendJson({ type: 'error', ...error });
  const unavailable = (dependency: 'catalogue' | 'log', error: unknown) => {
    deps.onUnavailable(dependency, error);
    sendError({
      code: 'unavailable',
      message: `The ${dependency} cannot be read right now; subscribe again in a few seconds.`,
    });
  };

  const resume = createReplay({
    peer,
    hub,
    recent: deps.recent,
    history: deps.history,
    live: () => live.values(),
    idle: () => queue.idle(),
    onLive(subscription) {
      replaying.delete(subscription.id);
      live.set(subscription.id, subscription as ActiveSubscription);
    },
    onLost(lost, error) {
      for (const { id } of lost) replaying.delete(id);
      if (error instanceof NoLongerRetainedError) {
        const message = `The replay fell behind what is retained (from seq ${error.earliestSeq} on); its subscription ended.`;
        sendError({ code: 'since_seq_unavailable', message, earliest_seq: error.earliestSeq });
      } else unavailable('log', error);
    },
  });

  const drop = (subscription: ActiveSubscription) => {
    if (live.delete(subscription.id)) {
      hub.deactivate(subscription);
      resume.retire(subscription);
    } else if (replaying.delete(subscription.id)) resume.remove(subscription);
  };
  const all = () => [...live.values(), ...replaying.values()];

  const limitError = (items: number): ProtocolError | null => {
    if (items > peer.terms.filterItemsPerSubscription) {
      const allowed = peer.terms.filterItemsPerSubscription;
      return { code: 'filter_limit', message: `${items} filter items; your plan allows ${allowed} per subscription` };
    }
    const subscriptions = all();
    if (subscriptions.length + resume.retired >= limits.subscriptions) {
      return { code: 'subscription_limit', message: `A connection may have ${limits.subscriptions} subscriptions` };
    }
    const allowed = peer.terms.filterItemsPerSubscription * limits.itemsFactor;
    if (subscriptions.reduce((sum, other) => sum + other.items, items + resume.retiredItems) > allowed) {
      return { code: 'filter_limit', message: `A connection of your plan may have ${allowed} filter items in all` };
    }
    return null;
  };

  const clampWarnings = (filters: Filters): string[] => {
    if (filters.since_seq !== undefined) {
      return filters.since === undefined ? [] : ['since ignored: since_seq is given'];
    }
    if (filters.since !== undefined) {
      const oldest = deps.nowMs() - peer.terms.sinceLookbackMs;
      return filters.since < oldest
        ? [`since clamped to the last ${peer.terms.sinceLookbackMs / 1000} s of your plan`]
        : [];
    }
    return filters.snapshot_count > peer.terms.snapshotCap
      ? [`snapshot_count clamped to ${peer.terms.snapshotCap}, the cap of your plan`]
      : [];
  };

  const at = (seq: number) => {
    const epoch = deps.epoch();
    return epoch === null ? { seq } : { seq, cursor: `${epoch}:${seq}` };
  };

  const ack = (subscription: ActiveSubscription, filters: Filters, warnings: readonly string[]) => {
    const selection =
      subscription.preset === 'chainlink'
        ? { price_source: priceSource(filters), twap_windows: filters.twap_windows ?? null }
        : {};
    const epoch = deps.epoch();
    sendJson({
      type: 'subscribed',
      subscriber_id: id,
      subscription_id: subscription.id,
      subscription_type: subscription.preset,
      ...selection,
      ...(epoch === null ? {} : { epoch }),
      warnings: warnings.slice(0, MAX_WARNINGS),
    });
    // A connection has one selection of price feeds: a new one replaces it.
    if (subscription.preset === 'chainlink') for (const other of all()) if (other.preset === 'chainlink') drop(other);
  };

  const snapshotRequest = (preset: PresetName, filters: Filters) => {
    if (preset === 'chainlink') return null;
    if (filters.since !== undefined) {
      return { sinceMs: Math.max(filters.since, deps.nowMs() - peer.terms.sinceLookbackMs) };
    }
    const count = Math.min(filters.snapshot_count, peer.terms.snapshotCap);
    return count === 0 ? null : { count };
  };

  /** Sends the ack and the snapshot and activates the subscription synchronously: no event is lost between them or sent twice. */
  const goLive = async (subscription: ActiveSubscription, filters: Filters, warnings: readonly string[]) => {
    const request = snapshotRequest(subscription.preset, filters);
    const { matches } = subscription.filter;
    let snapshot = request === null ? null : (await deps.snapshots.prepare(request, matches))();
    while (request !== null && snapshot === null && !peer.closed) {
      snapshot = (await deps.snapshots.prepare(request, matches))();
    }
    if (peer.closed) return;
    const cut = snapshot?.truncated === true ? ['snapshot cut to its newest events; use since_seq to get all'] : [];
    const started: ActiveSubscription = { ...subscription, deliveredFrom: hub.head };
    ack(started, filters, [...warnings, ...cut]);
    if (snapshot !== null) peer.sendSnapshot(snapshot.message);
    live.set(started.id, started);
    hub.activate(started);
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
    const overLimit = limitError(items);
    if (overLimit !== null) return sendError(overLimit);
    let resolved: ResolvedFilters | ProtocolError;
    try {
      resolved = await resolveFilters(deps.lookup, preset, filters);
    } catch (error) {
      return unavailable('catalogue', error);
    }
    if (peer.closed) return;
    if ('code' in resolved) return sendError(resolved);
    const warnings = [
      ...parseWarnings,
      ...(preset === 'chainlink' ? [] : clampWarnings(filters)),
      ...resolved.warnings,
    ];
    const filter = compileFilters(preset, filters, resolved);
    try {
      const { since_seq: since } = filters;
      const lookback = { ...deps, lookbackMs: peer.terms.seqLookbackMs };
      const start = since === undefined ? null : await resolveSince(since, lookback);
      if (peer.closed) return;
      if (start !== null && 'code' in start) return sendError(start);
      const subscription: ActiveSubscription = {
        id: `${id}:${++counter}`,
        preset,
        filter,
        member,
        items,
        deliveredFrom: start?.afterSeq ?? hub.head,
      };
      if (start === null) return await goLive(subscription, filters, warnings);
      ack(subscription, filters, [...start.warnings, ...warnings]);
      replaying.set(subscription.id, subscription);
      resume.add(subscription);
    } catch (error) {
      unavailable('log', error);
    }
  };

  const unsubscribe = (subscriptionId: string | null) => {
    const subscription = subscriptionId === null ? null : (live.get(subscriptionId) ?? replaying.get(subscriptionId));
    if (subscription === undefined) {
      sendError({ code: 'invalid_message', message: `No such subscription: ${subscriptionId?.slice(0, 100)}` });
      return;
    }
    for (const ended of subscription === null ? all() : [subscription]) drop(ended);
    const which = subscriptionId === null ? {} : { subscription_id: subscriptionId };
    sendJson({ type: 'unsubscribed', subscriber_id: id, ...which });
  };

  const respond = async (text: string) => {
    const message = parseClientMessage(text, peer.terms.filterItemsPerSubscription);
    if (isProtocolError(message)) sendError(message);
    else if (message.action === 'ping') sendJson({ type: 'pong', ts: deps.nowMs() });
    else if (message.action === 'unsubscribe') unsubscribe(message.subscriptionId);
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
      if (live.size + replaying.size === 0) return {};
      return at(Math.max(0, Math.min(hub.head, resume.examinedSeq)));
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
      for (const preset of new Set(all().map((subscription) => subscription.preset)))
        if (!peer.closed && endIfUsedUp(preset)) return;
    },
    close() {
      queue.close();
      for (const subscription of live.values()) hub.deactivate(subscription);
      live.clear();
      replaying.clear();
      hub.drop(member);
    },
  };
}

function priceSource(filters: Filters): string {
  if (filters.price_source === 'spot') return 'spot';
  if (filters.twap_windows === undefined) return 'follow_main';
  return filters.twap_windows.length > 1 ? 'both' : `twap${filters.twap_windows[0]}`;
}
