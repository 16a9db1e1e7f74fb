import type { WebSocket } from 'uWebSockets.js';
import uws from 'uWebSockets.js';
import { yieldToEventLoop } from '../infra/event-loop.js';
import type { Logger } from '../infra/telemetry/logger.js';
import type { Metrics } from '../infra/telemetry/metrics.js';
import type { PlanTerms } from '../schemas/plans.js';
import type { Admission } from './admission/admission.js';
import type { MarketLookup } from './filters/market-lookup.js';
import { createUnresolvedWatch } from './filters/unresolved-watch.js';
import { defaultGatewayLimits, type GatewayLimits } from './gateway-limits.js';
import { type Connection, createConnection, type SocketMeter } from './hub/connection.js';
import { createFairScheduler } from './hub/fair-scheduler.js';
import { createHeartbeats } from './hub/heartbeats.js';
import { createHub } from './hub/hub.js';
import type { LiveEvent } from './hub/live-event.js';
import { createNativeTopics } from './hub/native-topics.js';
import { createPeer, type Peer, type PeerTotals } from './hub/peer.js';
import { createSlowReaderMonitor } from './hub/slow-reader-monitor.js';
import { checkKeys } from './key-checks.js';
import { createLateUpgrades } from './late-upgrades.js';
import { listen } from './listen.js';
import type { Meter } from './metering/meter.js';
import { createSourceNotices, type SourcesView } from './notices/source-notices.js';
import { respondToPlainRequests } from './plain-requests.js';
import { createConcurrencyLimiter } from './replay/concurrency-limiter.js';
import type { History } from './replay/history.js';
import type { RecentEvents } from './replay/recent-events.js';
import { createSnapshots } from './replay/snapshot.js';
import { createServerMetrics } from './server-metrics.js';
import { createSocketBounds } from './socket-bounds.js';
import { type AdmittedClient, createUpgradeHandler, type KeyCheckResult } from './upgrade.js';

/** The library closes the connection with code 1009 on larger messages; every plan's limit is below. */
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

const MAX_CONCURRENT_SNAPSHOT_READS = 4;

interface SocketData extends AdmittedClient {
  peer: Peer | null;
  connection: Connection | null;
  lastSeenMs: number;
}

export interface GatewayServer {
  readonly port: number;
  readonly connections: () => number;
  /** Connections with a subscription without filters. */
  readonly firehoses: () => number;
  /** Adds an event from before the start. It is used for snapshots and replays only. */
  load(event: LiveEvent): void;
  /** Sends live events, in seq order. The caller must wait for the promise before the next call. */
  publish(events: readonly LiveEvent[]): Promise<void>;
  /** Accepts no new connections, waits up to `drainMs` for buffered bytes to be sent, then closes all connections with 1012. Further calls return the promise of the first. */
  close(): Promise<void>;
}

/**
 * Serves the event socket on `/ws`. Clients without access are rejected before the upgrade. All receivers of an event share one buffer per
 * encoding. A connection whose send buffer exceeds its bound is closed with 1013 or, if its subscriptions say `skip`, suspended, so a slow reader does not delay the others.
 */
export async function startGatewayServer(deps: {
  host: string;
  port: number;
  /** Several processes listen on the port; the kernel distributes connections over them. */
  sharedPort?: boolean;
  /** Host names of this server, in addition to loopback names and IP addresses. */
  allowedHosts: readonly string[];
  verifyKey: (key: string) => KeyCheckResult;
  /** Current terms of a key, null once it no longer works; default: those of `verifyKey`, for ever. */
  termsOfKey?: (keyHash: string) => PlanTerms | null;
  /** Unix ms at which an account's meter has an allowance again; null: not used up. Default: not enforced. */
  usedUpUntil?: (accountId: string, meter: SocketMeter) => number | null;
  admission: Admission;
  meter: Meter;
  ready: () => boolean;
  /** Whether load balancers may send clients to this process (`/healthz`). Default: `ready`. */
  accepts?: () => boolean;
  /** Id of the lifetime of stream.events; null while it is unknown. Default: unknown. */
  epoch?: () => string | null;
  /** Whether the events of the sources are current. Default: no sources. */
  sources?: SourcesView;
  lookup: MarketLookup;
  recent: RecentEvents;
  history: History;
  metrics: Metrics;
  logger: Logger;
  nowMs?: () => number;
  /** Clock of the liveness rule, which no step of the system's clock may move. */
  monotonicMs?: () => number;
  limits?: Partial<GatewayLimits>;
}): Promise<GatewayServer> {
  const { meter, recent, history, logger } = deps;
  const { nowMs = Date.now, monotonicMs = () => performance.now(), epoch = () => null } = deps;
  const limits: GatewayLimits = { ...defaultGatewayLimits, ...deps.limits };
  const sockets = new Map<WebSocket<SocketData>, Peer>();
  /** Those of `sockets` that are being closed, but whose clients have to read what is buffered first. */
  const closing = new Set<WebSocket<SocketData>>();
  const totals: PeerTotals = { controlFrames: 0, controlBytes: 0, eventFrames: 0, eventBytes: 0, slowCloses: 0 };
  const app = uws.App();
  const lateUpgrades = await createLateUpgrades(app);
  const natives = createNativeTopics((topic, message, isBinary) => app.publish(topic, message, isBinary));
  const metrics = createServerMetrics({ metrics: deps.metrics, totals, natives });
  const slowReaders = createSlowReaderMonitor({
    peers: () => sockets.values(),
    maxBufferedBytes: limits.peer.maxBufferedBytes,
    maxTotalBytes: limits.maxTotalBufferedBytes,
    onTotal: metrics.buffered,
  });
  const hub = createHub({ recent, natives, onSlice: slowReaders.onPublished });
  const snapshots = createSnapshots({
    recent,
    history,
    readLimiter: createConcurrencyLimiter(MAX_CONCURRENT_SNAPSHOT_READS),
    windowEvents: limits.snapshotWindowEvents,
    maxBytes: limits.maxSnapshotBytes,
  });
  const scheduler = createFairScheduler();
  const unresolved = createUnresolvedWatch({
    lookup: deps.lookup,
    pollMs: limits.unresolvedPollMs,
    onError(error) {
      metrics.unavailable('catalogue');
      logger.warn({ err: error }, 'cannot look up the markets that subscriptions wait for');
    },
  });
  const sources: SourcesView = deps.sources ?? { freshness: () => [], all: () => [] };
  const sourceNotices = createSourceNotices(sources);
  const notify = (frames: readonly object[]) => {
    for (const frame of frames) {
      const message = JSON.stringify(frame);
      for (const [socket, peer] of sockets) if (socket.getUserData().notices) peer.sendControl(message);
    }
  };
  const bounds = createSocketBounds({
    // `peer` closes a connection at a lower bound, and one slice of the hub adds less than the difference.
    maxBackpressure: 3 * limits.peer.maxBufferedBytes + limits.maxSnapshotBytes,
    idleTimeoutS: limits.idleTimeoutS,
    maxUnreadBytes: limits.maxUnreadBytes,
    cutPermitMs: limits.cutPermitMs,
    onDropped: metrics.dropped,
    logger,
  });
  let stopping = false;

  const settle = (peer: Peer) => {
    natives.settle(peer);
    const { events, priceFeeds } = peer.takeUsage();
    if (events > 0) meter.add(peer, 'onchain', events);
    if (priceFeeds > 0) meter.add(peer, 'oracle_orderbook', priceFeeds);
  };

  const upgrade = createUpgradeHandler({
    allowedHosts: deps.allowedHosts,
    verifyKey: deps.verifyKey,
    admission: deps.admission,
    ready: deps.ready,
    stopping: () => stopping,
    nowMs,
    accept(response, client, [key, protocol, extensions], context) {
      const data: SocketData = { ...client, peer: null, connection: null, lastSeenMs: monotonicMs() };
      lateUpgrades.run(response, () => response.upgrade(data, key, protocol, extensions, context));
    },
    onRejected: metrics.rejected,
    onError: (error) => logger.error({ err: error }, 'admission failed'),
  });

  const heartbeats = createHeartbeats<WebSocket<SocketData>>({
    intervalMs: limits.heartbeatMs,
    send(socket) {
      const { peer, connection, lastSeenMs } = socket.getUserData();
      if (peer === null || peer.closed) return;
      if (monotonicMs() - lastSeenMs > limits.livenessMs) return peer.end('liveness');
      const now = nowMs();
      const freshness = sources.freshness(now);
      const shown = freshness.length === 0 ? {} : { sources: freshness };
      peer.heartbeat(JSON.stringify({ type: 'heartbeat', ts: now, ...connection?.position(), ...shown }));
    },
  });

  const seen = (socket: WebSocket<SocketData>) => {
    socket.getUserData().lastSeenMs = monotonicMs();
  };
  const behavior = {
    maxPayloadLength: MAX_MESSAGE_BYTES,
    ...bounds.behavior,
    upgrade,
    open(socket: WebSocket<SocketData>) {
      const data = socket.getUserData();
      const { accountId, permit } = data;
      bounds.onOpen(socket);
      const onClosing = () => {
        closing.add(socket);
        metrics.connections(sockets.size - closing.size);
        data.connection?.close();
        settle(peer);
      };
      const peer = createPeer({ ...data, socket, limits: limits.peer, totals, closingMs: limits.closingMs, onClosing });
      const connection = createConnection({
        peer,
        hub,
        recent,
        history,
        snapshots,
        scheduler,
        lookup: deps.lookup,
        unresolved,
        notices: data.notices,
        limits: limits.connection,
        nowMs,
        epoch,
        usedUpUntil: (meter) => deps.usedUpUntil?.(accountId, meter) ?? null,
        onUnavailable(dependency, error) {
          metrics.unavailable(dependency);
          logger.warn({ err: error, dependency }, 'cannot serve a subscription: dependency unavailable');
        },
        onError: (error) => logger.error({ err: error }, 'cannot handle a client message'),
      });
      data.peer = peer;
      data.connection = connection;
      sockets.set(socket, peer);
      heartbeats.add(socket, data.heartbeatMs ?? limits.heartbeatMs);
      metrics.connections(sockets.size - closing.size);
      if (data.notices) for (const frame of sourceNotices.current(nowMs())) peer.sendControl(JSON.stringify(frame));
      permit.onSessionTimeExhausted((resetsAtMs) => {
        if (!peer.closed) connection.sessionUsedUp(resetsAtMs);
      });
      permit.onExcess(() => peer.end('connectionLimit'));
    },
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
      heartbeats.remove(socket);
      metrics.connections(sockets.size - closing.size);
      bounds.onClose(socket, permit.release);
      if (peer === null) return;
      peer.onClose();
      connection?.close();
      settle(peer);
    },
  };
  app.ws<SocketData>('/ws', behavior);
  respondToPlainRequests(app, 'event', deps.accepts ?? deps.ready);

  const tick = setInterval(() => {
    slowReaders.sweep();
    notify(sourceNotices.changes(nowMs()));
    for (const peer of sockets.values()) settle(peer);
    checkKeys(sockets, { termsOfKey: deps.termsOfKey, isUsageEnforced: deps.usedUpUntil !== undefined });
    metrics.flush();
  }, limits.tickMs);

  const listener = await listen(app, deps.host, deps.port, deps.sharedPort).catch((error: unknown) => {
    heartbeats.close();
    unresolved.close();
    clearInterval(tick);
    lateUpgrades.close();
    throw error;
  });

  let closed: Promise<void> | undefined;
  const closeOnce = async (): Promise<void> => {
    stopping = true;
    heartbeats.close();
    unresolved.close();
    clearInterval(tick);
    listener.close();
    const deadline = performance.now() + limits.drainMs;
    const buffered = () => [...sockets.values()].some((peer) => peer.buffered() > 0);
    await yieldToEventLoop();
    while (buffered() && performance.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 10));
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
    firehoses: () => hub.firehoses,
    load: hub.load,
    publish(events) {
      let newest = hub.head;
      for (const { seq } of events) {
        if (newest >= 0 && seq > newest + 1)
          notify([{ type: 'notice', code: 'gap', ts: nowMs(), from_seq: newest + 1, to_seq: seq - 1 }]);
        newest = seq;
      }
      return hub.publish(events);
    },
    close: () => (closed ??= closeOnce()),
  };
}
