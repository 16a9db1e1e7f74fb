import type { HttpRequest, HttpResponse, WebSocket } from 'uWebSockets.js';
import uws from 'uWebSockets.js';
import type { Logger } from '../../infra/telemetry/logger.js';
import type { Metrics } from '../../infra/telemetry/metrics.js';
import type { PlanTerms } from '../../schemas/plans.js';
import type { Admission } from '../admission/admission.js';
import { createFairScheduler } from '../hub/fair-scheduler.js';
import { createSlowReaderMonitor } from '../hub/slow-reader-monitor.js';
import { checkKeys } from '../key-checks.js';
import { createLateUpgrades } from '../late-upgrades.js';
import { listen } from '../listen.js';
import type { Meter } from '../metering/meter.js';
import { respondToPlainRequests } from '../plain-requests.js';
import { createSocketBounds } from '../socket-bounds.js';
import { type AdmittedClient, createUpgradeHandler, type KeyCheckResult } from '../upgrade.js';
import { type BookPeer, createBookPeer } from './book-peer.js';
import type { BookStore } from './book-store.js';
import { type BookConnection, createBookConnection } from './connection.js';
import { createFanOut } from './fan-out.js';
import { createIntegrityTokens } from './integrity-tokens.js';
import { defaultOrderBookLimits, type OrderBookLimits } from './limits.js';
import { bookError } from './messages.js';
import { createOrderBookMetrics, type OrderBookMetrics } from './metrics.js';
import type { ResolvedMarkets } from './resolve-markets.js';
import { createSubscription } from './subscription.js';
import type { NamesOf } from './update-texts.js';

/** The library closes the connection with code 1009 on larger messages. */
const MAX_PAYLOAD_BYTES = 16 * 1024 * 1024;

interface SocketData extends AdmittedClient {
  readonly integrityOption: string | undefined;
  peer: BookPeer | null;
  connection: BookConnection | null;
  /** By the monotonic clock. */
  lastSeenMs: number;
}

export interface OrderBookServer {
  readonly port: number;
  readonly connections: () => number;
  /** Sends what has changed in the books now. A timer calls it unless `batchMs` is 0. */
  flush(): void;
  /** Accepts no new connections and closes the others with 1012. Further calls return the promise of the first. */
  close(): Promise<void>;
}

/**
 * Serves the order-book socket on `/ws`: the books of a store to its subscribers, and every 250 ms what has changed in them. Clients without access are
 * rejected before the upgrade. A connection whose send buffer exceeds its bound is closed with 1013.
 */
export async function startOrderBookServer(deps: {
  host: string;
  port: number;
  sharedPort?: boolean;
  allowedHosts: readonly string[];
  verifyKey: (key: string) => KeyCheckResult;
  /** Current terms of a key, null once it no longer works; default: those of `verifyKey`, for ever. */
  termsOfKey?: (keyHash: string) => PlanTerms | null;
  /** Unix ms at which the account's meter has an allowance again; null: not used up. Default: not enforced. */
  usedUpUntil?: (accountId: string) => number | null;
  admission: Admission;
  meter: Meter;
  store: BookStore;
  namesOf: NamesOf;
  resolve: (entries: readonly string[]) => Promise<ResolvedMarkets>;
  /** False until the retained books are read: subscriptions are rejected until then. */
  ready: () => boolean;
  metrics: Metrics;
  /** Default: created from `metrics`. */
  bookMetrics?: OrderBookMetrics;
  logger: Logger;
  nowMs?: () => number;
  /** Clock of the liveness rule, which no step of the system's clock may move. */
  monotonicMs?: () => number;
  limits?: Partial<OrderBookLimits>;
}): Promise<OrderBookServer> {
  const { store, namesOf, logger } = deps;
  const nowMs = deps.nowMs ?? Date.now;
  const monotonicMs = deps.monotonicMs ?? (() => performance.now());
  const limits: OrderBookLimits = { ...defaultOrderBookLimits, ...deps.limits };
  const sockets = new Map<WebSocket<SocketData>, BookPeer>();
  /** Those of `sockets` that are being closed, but whose clients have to read what is buffered first. */
  const closing = new Set<WebSocket<SocketData>>();
  const metrics = deps.bookMetrics ?? createOrderBookMetrics(deps.metrics);
  const { totals } = metrics;
  const app = uws.App();
  const lateUpgrades = await createLateUpgrades(app);
  const integrityTokens = createIntegrityTokens({ store, max: limits.integrityTokens });
  const failures = new WeakMap<object, () => void>();
  const fanOut = createFanOut({
    store,
    namesOf,
    onError(receiver, error) {
      logger.error({ err: error }, 'cannot send an order-book batch');
      failures.get(receiver)?.();
    },
  });
  const slowReaders = createSlowReaderMonitor({
    peers: () => sockets.values(),
    maxBufferedBytes: limits.peer.maxBufferedBytes,
    maxTotalBytes: limits.maxTotalBufferedBytes,
    onTotal: metrics.buffered,
  });
  const bounds = createSocketBounds({
    // `peer` closes a connection at a lower bound.
    maxBackpressure: 4 * limits.peer.maxBufferedBytes,
    idleTimeoutS: limits.idleTimeoutS,
    maxUnreadBytes: limits.maxUnreadBytes,
    cutPermitMs: limits.cutPermitMs,
    onDropped: metrics.dropped,
    logger,
  });
  const scheduler = createFairScheduler();
  let stopping = false;

  const settle = (peer: BookPeer) => {
    const bytes = peer.takeUsage();
    if (bytes > 0) deps.meter.add(peer, 'oracle_orderbook', bytes);
  };

  /** The option of each request; the request itself is valid only during the call. */
  const integrityOptions = new WeakMap<HttpResponse, string>();
  const admit = createUpgradeHandler({
    allowedHosts: deps.allowedHosts,
    verifyKey: deps.verifyKey,
    admission: deps.admission,
    ready: () => true,
    stopping: () => stopping,
    nowMs,
    accept(response, client, [key, protocol, extensions], context) {
      const data: SocketData = {
        ...client,
        integrityOption: integrityOptions.get(response),
        peer: null,
        connection: null,
        lastSeenMs: monotonicMs(),
      };
      lateUpgrades.run(response, () => response.upgrade(data, key, protocol, extensions, context));
    },
    onRejected: metrics.rejected,
    onError: (error) => logger.error({ err: error }, 'admission failed'),
  });

  const open = (socket: WebSocket<SocketData>) => {
    const data = socket.getUserData();
    const { accountId, keyHash, terms, encoding, permit, integrityOption = '0' } = data;
    const integrity = integrityOption === '1';
    bounds.onOpen(socket);
    const peer = createBookPeer({
      socket,
      accountId,
      keyHash,
      terms,
      encoding,
      limits: limits.peer,
      totals,
      onSlow() {
        if (integrity) peer.sendControl(bookError('integrity_backpressure', 'The client reads too slowly.'));
      },
      closingMs: limits.closingMs,
      onClosing() {
        closing.add(socket);
        metrics.connections(sockets.size - closing.size);
        data.connection?.close();
        settle(peer);
      },
    });
    data.peer = peer;
    sockets.set(socket, peer);
    metrics.connections(sockets.size - closing.size);
    permit.onExcess(() => peer.end('connectionLimit'));
    if (integrityOption !== '0' && !integrity) {
      peer.sendControl(bookError('invalid_integrity_option', 'integrity is 0 or 1.'));
      peer.end('integrityOption');
      return;
    }
    const subscription = createSubscription({
      peer,
      integrity,
      store,
      namesOf,
      fanOut,
      integrityTokens,
      nowMs,
      onReceiver: (receiver) =>
        failures.set(receiver, () => {
          if (integrity) peer.sendControl(bookError('integrity_internal_reset', 'Internal error; connect again.'));
          peer.end('internal');
        }),
    });
    const connection = createBookConnection({
      peer,
      integrity,
      subscription,
      resolve: deps.resolve,
      ready: deps.ready,
      countBooks: () => store.size,
      usedUpUntil: () => deps.usedUpUntil?.(accountId) ?? null,
      nextTurn: scheduler.nextTurn,
      nowMs,
      onUnavailable(error) {
        metrics.lookupFailed();
        logger.warn({ err: error }, 'cannot resolve markets: catalogue unavailable');
      },
      onError: (error) => logger.error({ err: error }, 'cannot handle a client message'),
    });
    data.connection = connection;
    permit.onSessionTimeExhausted((resetsAtMs) => {
      if (!peer.closed) connection.sessionUsedUp(resetsAtMs);
    });
  };

  const seen = (socket: WebSocket<SocketData>) => {
    socket.getUserData().lastSeenMs = monotonicMs();
  };
  const behavior = {
    maxPayloadLength: MAX_PAYLOAD_BYTES,
    ...bounds.behavior,
    compression: uws.SHARED_COMPRESSOR,
    upgrade(response: HttpResponse, request: HttpRequest, context: Parameters<typeof admit>[2]) {
      const integrity = request.getQuery('integrity');
      if (integrity !== undefined && integrity !== '') integrityOptions.set(response, integrity);
      admit(response, request, context);
    },
    open,
    message(socket: WebSocket<SocketData>, message: ArrayBuffer, isBinary: boolean) {
      seen(socket);
      socket.getUserData().connection?.receive(message, isBinary);
    },
    drain: (socket: WebSocket<SocketData>) => socket.getUserData().peer?.onDrain(),
    pong: seen,
    ping: seen,
    close(socket: WebSocket<SocketData>) {
      const { peer, connection, permit } = socket.getUserData();
      sockets.delete(socket);
      closing.delete(socket);
      metrics.connections(sockets.size - closing.size);
      bounds.onClose(socket, permit.release);
      if (peer === null) return;
      peer.onClose();
      connection?.close();
      settle(peer);
    },
  };
  app.ws<SocketData>('/ws', behavior);
  respondToPlainRequests(app, 'order-book');

  const ping = () => {
    for (const [socket, peer] of [...sockets]) {
      if (peer.closed) continue;
      if (monotonicMs() - socket.getUserData().lastSeenMs > limits.livenessMs) peer.end('liveness');
      else peer.ping();
    }
  };
  const flush = () => fanOut.flush(nowMs());
  const timers = [
    setInterval(ping, limits.pingMs),
    setInterval(() => {
      slowReaders.sweep();
      for (const peer of sockets.values()) settle(peer);
      checkKeys(sockets, { termsOfKey: deps.termsOfKey, isUsageEnforced: deps.usedUpUntil !== undefined });
      metrics.books(store.counts());
      metrics.flush();
    }, limits.tickMs),
    ...(limits.batchMs > 0 ? [setInterval(flush, limits.batchMs)] : []),
  ];
  const stopTimers = () => {
    for (const timer of timers) clearInterval(timer);
  };

  const listener = await listen(app, deps.host, deps.port, deps.sharedPort).catch((error: unknown) => {
    stopTimers();
    lateUpgrades.close();
    throw error;
  });

  let closed: Promise<void> | undefined;
  const closeOnce = async (): Promise<void> => {
    stopping = true;
    stopTimers();
    listener.close();
    for (const peer of [...sockets.values()]) peer.end('restart');
    metrics.flush();
    lateUpgrades.close();
    // The close frames need time to be sent before `close` cuts the sockets.
    await new Promise((resolve) => setTimeout(resolve, 200));
    app.close();
  };

  return {
    port: listener.port,
    connections: () => sockets.size - closing.size,
    flush,
    close: () => (closed ??= closeOnce()),
  };
}
