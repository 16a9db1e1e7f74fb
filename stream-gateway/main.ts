import { hostname } from 'node:os';
import { createAccountsReadModel } from '../infra/accounts/read-model.js';
import { createUsedUpUntil } from '../infra/accounts/used-up.js';
import { createClickHouse } from '../infra/clickhouse/client.js';
import { clickHouseConnection } from '../infra/clickhouse/connection.js';
import { redactConfig } from '../infra/config/config.js';
import { openEventLog } from '../infra/registry/open-event-log.js';
import { createSourceStatusView } from '../infra/sources/source-status-view.js';
import { startAdminServer } from '../infra/telemetry/admin-server.js';
import { createLogger } from '../infra/telemetry/logger.js';
import { createMetrics } from '../infra/telemetry/metrics.js';
import { processConfig } from '../infra/telemetry/process-config.js';
import { createHealthRegistry } from '../infra/telemetry/readiness.js';
import { runProcess } from '../infra/telemetry/run-process.js';
import { createOnUnreadable } from '../infra/telemetry/unreadable-records.js';
import { createUsageRecorder } from '../infra/usage/usage-recorder.js';
import { accountTerms } from '../schemas/plans.js';
import { topics } from '../schemas/topics.js';
import { createLogAdmission } from './admission/log-admission.js';
import { createMarketLookup } from './filters/market-lookup.js';
import { defaultGatewayLimits } from './gateway-limits.js';
import { tailStream } from './hub/tail-stream.js';
import { createKeyVerifier, createTermsOfKey } from './key-verifier.js';
import { createMeter } from './metering/meter.js';
import { accountOf, createOrderBookAdmission, termsOfSession } from './order-book/admission.js';
import { startOrderBookSocket } from './order-book/order-book-socket.js';
import { createNamesReader } from './order-book/token-names.js';
import { createHistory } from './replay/history.js';
import { createRecentEvents } from './replay/recent-events.js';
import { type GatewayServer, startGatewayServer } from './server.js';

/** The snapshot window, so that most snapshots are served from memory. */
const RECENT_EVENTS = defaultGatewayLimits.snapshotWindowEvents;
const RECENT_BYTES = 128 * 1024 * 1024;

const config = processConfig('stream-gateway');
const logger = createLogger({ process: 'stream-gateway', level: config.logLevel });

runProcess({
  logger,
  main: async (signal) => {
    logger.info({ config: redactConfig(config) }, 'starting');
    const metrics = createMetrics({ process: 'stream-gateway' });
    const healthRegistry = createHealthRegistry();
    const admin = await startAdminServer({
      host: config.host,
      port: config.ports.admin.gateway,
      allowedHosts: config.allowedHosts,
      metrics,
      readiness: healthRegistry.readiness,
    });
    const { log, codec } = await openEventLog(config, { logger, metrics, signal, maintenance: false, healthRegistry });
    const onUnreadable = createOnUnreadable({ metrics, logger });
    const accounts = createAccountsReadModel({ log, codec, signal, onUnreadable });
    let newestReadMs: number | null = null;
    const sources = createSourceStatusView({ log, codec, signal, onUnreadable, newestReadMs: () => newestReadMs });
    const adminPort = config.ports.admin.gateway;
    let server: GatewayServer | undefined;
    const admission = createLogAdmission({
      log,
      codec,
      logger,
      metrics,
      onUnreadable,
      // Each process of a machine has its own admin port.
      instance: `${hostname()}:${adminPort === 0 ? `pid ${process.pid}` : adminPort}`,
      termsOf(sessionAccount) {
        const account = accounts.account(accountOf(sessionAccount));
        return account === undefined ? undefined : termsOfSession(sessionAccount, accountTerms(account));
      },
      load: () => ({ connections: server?.connections() ?? 0, firehoses: server?.firehoses() ?? 0 }),
    });
    await Promise.all([accounts.ready(), admission.ready(), sources.ready()]);
    const usage = createUsageRecorder({ log, codec, logger, metrics });
    const clickhouse = createClickHouse(await clickHouseConnection(config), { logger });
    const recent = createRecentEvents({ maxEvents: RECENT_EVENTS, maxBytes: RECENT_BYTES });
    const unreadable = metrics.counter(
      'gateway_unreadable_records_total',
      'Records of stream.events that could not be decoded',
    );
    const lastSeq = metrics.gauge('gateway_last_seq', 'seq of the newest event passed to the fan-out');
    const lag = metrics.gauge('gateway_lag_records', 'Records of stream.events not yet passed to the fan-out');
    const onUnreadableEvent = (reason: string) => {
      unreadable.inc();
      logger.warn({ reason }, 'unreadable stream event skipped');
    };
    let caughtUp = false;
    let hasBooks = () => false;
    let deliveredOffset: number | undefined;

    const usedUpUntil = createUsedUpUntil(accounts);
    const access = {
      host: config.host,
      sharedPort: config.gatewayProcesses > 1,
      allowedHosts: config.allowedHosts,
      verifyKey: createKeyVerifier(accounts),
      termsOfKey: createTermsOfKey(accounts),
      meter: createMeter(usage),
      lookup: createMarketLookup(clickhouse),
      metrics,
      logger,
    };
    const opened = await startGatewayServer({
      ...access,
      port: config.ports.gateway,
      ...(config.usageEnforcement
        ? { usedUpUntil: (accountId, meter) => usedUpUntil(accountId, meter, Date.now()) }
        : {}),
      admission,
      ready: () => caughtUp,
      accepts: () => caughtUp && hasBooks(),
      epoch: () => sources.stream()?.epoch ?? null,
      sources,
      recent,
      history: createHistory({ log, codec, onUnreadableEvent }),
    });
    server = opened;
    const stop = new AbortController();
    const running = AbortSignal.any([signal, stop.signal]);
    const orderBook = await startOrderBookSocket({
      ...access,
      port: config.ports.orderbook,
      ...(config.usageEnforcement
        ? { usedUpUntil: (accountId) => usedUpUntil(accountId, 'orderbook_chainlink_bytes', Date.now()) }
        : {}),
      admission: createOrderBookAdmission(admission),
      log,
      codec,
      signal: running,
      names: createNamesReader(clickhouse),
      onUnreadable,
    });
    hasBooks = orderBook.ready;
    healthRegistry.markStarted('stream-gateway', async () => {
      if (deliveredOffset !== undefined)
        lag.set(Math.max(0, (await log.bounds(topics.streamEvents.name, 0)).next - deliveredOffset));
      return {
        stream: caughtUp ? { ok: true } : { ok: false, loading: true, detail: 'loading recent events' },
        orderbook: orderBook.ready() ? { ok: true } : { ok: false, loading: true, detail: 'loading order books' },
      };
    });
    logger.info({ port: opened.port }, 'event socket is listening');
    logger.info({ port: orderBook.server.port }, 'order-book socket is listening');
    try {
      const books = orderBook.run();
      const events = tailStream({
        log,
        codec,
        lookbackEvents: RECENT_EVENTS,
        signal: running,
        load(event) {
          newestReadMs = Math.max(newestReadMs ?? 0, event.timestamp_ms);
          opened.load(event);
        },
        publish(events) {
          for (const event of events) newestReadMs = Math.max(newestReadMs ?? 0, event.timestamp_ms);
          lastSeq.set(events.at(-1)?.seq ?? 0);
          return opened.publish(events);
        },
        onCaughtUp: () => {
          caughtUp = true;
        },
        onDelivered: (nextOffset) => {
          deliveredOffset = nextOffset;
        },
        onUnreadableEvent,
      });
      await Promise.all([events, books]);
    } finally {
      stop.abort();
      await Promise.all([opened.close(), orderBook.server.close()]);
      await Promise.all([admission.close(), usage.close()]);
      await admin.close();
      await clickhouse.close();
      await log.close();
    }
  },
});
