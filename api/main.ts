import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { createAccountCommands } from '../infra/accounts/commands.js';
import { createLedgerView } from '../infra/accounts/ledger-view.js';
import { createAccountsReadModel } from '../infra/accounts/read-model.js';
import { createUsedUpUntil } from '../infra/accounts/used-up.js';
import { createClickHouse } from '../infra/clickhouse/client.js';
import { analystConnection, clickHouseConnection } from '../infra/clickhouse/connection.js';
import { createClickHouseCheck } from '../infra/clickhouse/health.js';
import { redactConfig } from '../infra/config/config.js';
import { readOrCreateSecret } from '../infra/files/secret.js';
import { openEventLog } from '../infra/registry/open-event-log.js';
import { createPlatform } from '../infra/social/platform/platform.js';
import { createSourceStatusView } from '../infra/sources/source-status-view.js';
import { startAdminServer } from '../infra/telemetry/admin-server.js';
import { createLogger } from '../infra/telemetry/logger.js';
import { createMetrics } from '../infra/telemetry/metrics.js';
import { processConfig } from '../infra/telemetry/process-config.js';
import { createHealthRegistry } from '../infra/telemetry/readiness.js';
import { runProcess } from '../infra/telemetry/run-process.js';
import { createOnUnreadable } from '../infra/telemetry/unreadable-records.js';
import { createUsageRecorder } from '../infra/usage/usage-recorder.js';
import { createKeyDirectory } from './auth/key-directory.js';
import { createPasswordHasher } from './auth/password-hasher.js';
import { createSessionDirectory } from './auth/session.js';
import { createPaymentProvider } from './billing/provider.js';
import { createPoolDirectory } from './copy-pnl/pool-directory.js';
import { listen } from './http/server.js';
import { openRateLimitStore } from './limits/open-rate-limit-store.js';
import { createMailer } from './mail/mailer.js';
import { loadStatusCheck } from './readiness/load-status.js';
import { createTableProgress } from './readiness/table-progress.js';
import { chainCheck } from './routes/health/health.js';
import { createService } from './service.js';
import { createKnownContent } from './social/known-content.js';
import { createPostWriter } from './social/post-writer.js';
import { createGatewayView } from './sources/gateway-view.js';
import { createAnalystQueries } from './sql/analyst-queries.js';
import { createClickHouseTables } from './tables/clickhouse-tables.js';
import { createProfiles } from './wallets/profiles.js';

/** Drain time of running requests; the process has 4 s to stop. */
const DRAIN_MS = 2_500;

// Responses become garbage at once. By default V8 lets the heap double before a collection; 30 % growth suffices and needs half the memory.
setFlagsFromString('--heap-growing-percent=30');

const config = processConfig('api');
const logger = createLogger({ process: 'api', level: config.logLevel });

runProcess({
  logger,
  main: async (signal) => {
    logger.info({ config: redactConfig(config) }, 'starting');
    const metrics = createMetrics({ process: 'api' });
    const healthRegistry = createHealthRegistry();
    const admin = await startAdminServer({
      host: config.host,
      port: config.ports.admin.api,
      allowedHosts: config.allowedHosts,
      metrics,
      readiness: healthRegistry.readiness,
    });
    if (config.addressSecret === undefined && !config.logUrl.startsWith('lmdb:'))
      logger.warn(
        'ADDRESS_SECRET is not set: each API process on this log counts free keys per address separately; set the same ADDRESS_SECRET for all of them',
      );
    const { log, codec } = await openEventLog(config, { logger, metrics, signal, maintenance: false, healthRegistry });
    const onUnreadable = createOnUnreadable({ metrics, logger });
    const pools = createPoolDirectory();
    const ledger = createLedgerView();
    const onState: typeof pools.apply = (...change) => {
      pools.apply(...change);
      ledger.apply(...change);
    };
    const accounts = createAccountsReadModel({ log, codec, signal, onUnreadable, onState });
    const sources = createSourceStatusView({ log, codec, signal, onUnreadable });
    const gateways = createGatewayView({ log, codec, signal, onUnreadable });
    await Promise.all([accounts.ready(), sources.ready(), gateways.ready()]);
    const client = createClickHouse(await clickHouseConnection(config), { logger });
    const tables = createClickHouseTables(client);
    const progress = createTableProgress({ tables, log, sources, nowMs: Date.now, logger });
    const metered = metrics.counter('api_metered_requests_total', 'Completed authenticated requests', [
      'plan',
      'billable',
    ]);

    const processId = randomUUID();
    const usage = createUsageRecorder({ log, codec, logger, metrics, processId });
    const rateWindow = await openRateLimitStore({ redisUrl: config.redisUrl, logger, metrics });
    const commands = createAccountCommands({ log, codec });
    const service = createService({
      tables,
      analystQueries: createAnalystQueries(analystConnection(config), { logger }),
      log,
      sources,
      gateways,
      keys: createKeyDirectory(accounts),
      sessions: createSessionDirectory(accounts.users),
      accounts,
      sendCommand: commands.send,
      ledger,
      payments: await createPaymentProvider(config.billing, config.publicUrl),
      passwords: createPasswordHasher(),
      mailer: createMailer({ mail: config.signIn.mail, logger, metrics }),
      provider:
        config.signIn.oidc === undefined
          ? null
          : (await import('./auth/identity-provider.js')).createIdentityProvider(
              config.signIn.oidc,
              `${config.publicUrl}/v1/auth/oidc/callback`,
            ),
      addressSecret: config.addressSecret ?? (await readOrCreateSecret(config.dataDir, 'address-secret')),
      pools,
      rateLimitStore: rateWindow.store,
      usedUpUntil: config.usageEnforcement ? createUsedUpUntil(accounts) : null,
      meter: ({ caller, billable, requests }) => {
        metered.inc({ plan: caller.plan, billable: String(billable) });
        if (billable) usage.add(caller, 'api_requests', requests);
      },
      progress,
      logger,
      metrics,
      chainState:
        config.sources.rpcUrl === undefined
          ? null
          : (await import('./wallets/chain-state.js')).createChainState({ url: config.sources.rpcUrl }),
      profiles: config.sources.mode === 'live' ? createProfiles({ url: config.sources.gammaUrl }) : null,
      social: {
        platform:
          config.social.token === undefined
            ? null
            : createPlatform({ ...config.social, token: config.social.token, logger, metrics, nowMs: Date.now, pause }),
        writer: createPostWriter({
          log,
          codec,
          known: createKnownContent({ tables, logger }),
          metrics,
          nowMs: Date.now,
        }),
        countSearch: (caller) => usage.add(caller, 'social_searches', 1),
        processId,
      },
      cacheBytes: config.apiCacheMb * 1024 * 1024,
      cachedMarkets: config.apiCachedMarkets,
      nowMs: Date.now,
      trustedProxies: config.trustedProxies,
      allowedHosts: config.allowedHosts,
      baseUrl: config.publicUrl,
      socket: { url: config.eventSocketUrl ?? null, port: config.ports.gateway },
      orderBookSocket: { url: config.orderBookSocketUrl ?? null, port: config.ports.orderbook },
    });
    const rejected = metrics.counter(
      'api_connections_rejected_total',
      'Connections closed because the connection limit was reached',
    );
    const server = await listen(service.app, {
      host: config.host,
      port: config.ports.api,
      onConnectionRejected: () => rejected.inc(),
    });
    const clickhouseCheck = createClickHouseCheck({ client, metrics });
    healthRegistry.markStarted('api', async () => ({
      chain: chainCheck(sources, Date.now()),
      tables: await clickhouseCheck(),
      history: loadStatusCheck(progress.current()),
    }));
    logger.info({ host: server.host, port: server.port }, 'listening');
    void progress.run(signal);
    // Never rejects; a running statement ends when the client is closed.
    void service.runCacheWarmup(signal);
    try {
      await Promise.all([sources.done, gateways.done]);
    } finally {
      await server.close(DRAIN_MS);
      await usage.close();
      await admin.close();
      await rateWindow.close();
      await client.close();
      await log.close();
    }
  },
});
