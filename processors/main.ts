import { once } from 'node:events';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { createClickHouse } from '../infra/clickhouse/client.js';
import { clickHouseConnection } from '../infra/clickhouse/connection.js';
import { createClickHouseCheck } from '../infra/clickhouse/health.js';
import { migrate } from '../infra/clickhouse/migrations.js';
import { loadConfig, redactConfig } from '../infra/config/config.js';
import { createMembership } from '../infra/membership/membership.js';
import { openEventLog } from '../infra/registry/open-event-log.js';
import { startAdminServer } from '../infra/telemetry/admin-server.js';
import { createLogger } from '../infra/telemetry/logger.js';
import { createMetrics } from '../infra/telemetry/metrics.js';
import { createHealthRegistry } from '../infra/telemetry/readiness.js';
import { runProcess } from '../infra/telemetry/run-process.js';
import { topics } from '../schemas/topics.js';
import { createAccountsProcessor } from './accounts/processor.js';
import { createActivityProcessor } from './activity/processor.js';
import { assignTasks } from './assignment/assign-tasks.js';
import { createTaskRunner, type Task } from './assignment/task-runner.js';
import { catalogSink } from './catalog/sink.js';
import { chainSink } from './chain/sink.js';
import { createCompactor } from './compaction/compactor.js';
import { createCopyPnlTask } from './copy-pnl/task.js';
import { fillsSink } from './fills/sink.js';
import { createLeaderboardRefresher } from './leaderboards/leaderboard-refresher.js';
import { createTagLeaderboardRefresher } from './leaderboards/tag-leaderboard-refresher.js';
import { migrations } from './migrations.js';
import { oracleSink } from './oracle/sink.js';
import { createOrderBookTable } from './order-books/order-book-table.js';
import { createPositionsProcessor } from './positions/processor.js';
import { pnlSink, positionsSink } from './positions/sink.js';
import { publishViews } from './public-views/publish.js';
import { publicViews } from './public-views/views.js';
import { createReadiness, lagCheck, statefulCheck } from './readiness.js';
import { runConcurrently } from './run-concurrently.js';
import { createProgressWriter } from './sink/progress-table.js';
import { createReconciler } from './sink/reconcile.js';
import { retryUntilSuccess } from './sink/retry.js';
import { createSink } from './sink/sink.js';
import { socialSink } from './social/sink.js';
import { openStateStores } from './stateful/state-store.js';
import type { StatefulProcessor } from './stateful/stateful-processor.js';
import { createStreamProcessor } from './stream/processor.js';
import { usageSink } from './usage/sink.js';
import { createUsageSettlement } from './usage-settlement/usage-settlement.js';
import { walletActivitySink } from './wallet-activity/sink.js';
import { walletEventsSink } from './wallet-events/sink.js';
import { createWalletTagsUpdater } from './wallet-tags/wallet-tags-updater.js';

const sinkDefinitions = [
  fillsSink,
  chainSink,
  oracleSink,
  catalogSink,
  usageSink,
  walletEventsSink,
  positionsSink,
  pnlSink,
  walletActivitySink,
  socialSink,
];
/** Lag gauges are set on every readiness request and at this interval. */
const LAG_INTERVAL_MS = 5_000;

/** Request timeout of an OPTIMIZE FINAL, sufficient for a table of any size. */
const COMPACTION_TIMEOUT_MS = 12 * 3_600_000;

type StatefulProcessorDeps = Parameters<typeof createActivityProcessor>[0];

const aborted = async (signal: AbortSignal): Promise<void> => {
  if (!signal.aborted) await once(signal, 'abort');
};

const config = loadConfig();
const logger = createLogger({ process: 'processors', level: config.logLevel });

runProcess({
  logger,
  main: async (signal) => {
    logger.info({ config: redactConfig(config) }, 'starting');
    const metrics = createMetrics({ process: 'processors' });
    const healthRegistry = createHealthRegistry();
    const admin = await startAdminServer({
      host: config.host,
      port: config.ports.admin.processors,
      allowedHosts: config.allowedHosts,
      metrics,
      readiness: healthRegistry.readiness,
    });
    const { log, codec } = await openEventLog(config, { logger, metrics, signal, healthRegistry });
    const connection = await clickHouseConnection(config);
    const clickhouse = createClickHouse(connection, { logger });
    // One directory per process of a machine: a store has one write lock, which a suspended process may keep.
    const stores = openStateStores(join(config.dataDir, 'state', String(admin.port)));
    /** A task that runs a stateful processor with a local state store of the same name. */
    const statefulTask = (name: string, open: (deps: StatefulProcessorDeps) => StatefulProcessor): Task => ({
      name,
      create: () => {
        const processor = open({ log, codec, store: stores.open(name), logger, metrics });
        return { run: processor.run, check: async () => statefulCheck(await processor.state()) };
      },
    });
    const progress = createProgressWriter({ store: clickhouse, logger });
    let migrated = false;
    let joined = false;
    /** The stream and accounts processors do not wait for the table migrations; sinks, the compactor and the leaderboards do. */
    let tablesReady: () => void = () => undefined;
    const tables = new Promise<void>((resolve) => {
      tablesReady = resolve;
    });
    /** Runs `work` once the tables exist. */
    const withTables =
      (work: (signal: AbortSignal) => Promise<void>) =>
      async (signal: AbortSignal): Promise<void> => {
        await Promise.race([tables, aborted(signal)]);
        if (!signal.aborted) await work(signal);
      };
    /** A task that readiness does not depend on. */
    const backgroundTask = (name: string, create: () => { run(signal: AbortSignal): Promise<void> }): Task => ({
      name,
      create: () => ({ run: withTables(create().run), check: async () => ({ ok: true }) }),
    });
    const tasks: readonly Task[] = [
      {
        name: 'accounts',
        create: () => {
          const accounts = createAccountsProcessor({ log, codec, logger, metrics });
          return { run: accounts.run, check: async () => statefulCheck(await accounts.state()) };
        },
      },
      {
        name: 'stream',
        create: () => {
          const stream = createStreamProcessor({ log, codec, logger, metrics });
          return { run: stream.run, check: async () => statefulCheck(await stream.state()) };
        },
      },
      statefulTask('activity', createActivityProcessor),
      ...Array.from({ length: topics.positions.partitions }, (_, partition) =>
        statefulTask(`positions-${partition}`, (deps) => createPositionsProcessor({ ...deps, partition })),
      ),
      backgroundTask('leaderboards', () => {
        const deps = { clickhouse, logger, metrics, nowMs: Date.now };
        const loading = async () => Object.values(await runner.checks()).some((check) => check.loading === true);
        const refreshers = [createLeaderboardRefresher({ ...deps, loading }), createTagLeaderboardRefresher(deps)];
        return { run: async (signal) => void (await Promise.all(refreshers.map(({ run }) => run(signal)))) };
      }),
      backgroundTask('copy-pnl', () => createCopyPnlTask({ log, codec, clickhouse, logger, metrics, nowMs: Date.now })),
      // The API itself reports whether the sums were computed.
      backgroundTask('wallet-tags', () => createWalletTagsUpdater({ clickhouse, logger, metrics, nowMs: Date.now })),
      {
        name: 'order-books',
        create: () => {
          const table = createOrderBookTable({ log, codec, clickhouse, logger, metrics, nowMs: Date.now });
          return {
            run: withTables(table.run),
            async check() {
              const { lag, lastError } = await table.state();
              return lagCheck(lag, lastError);
            },
          };
        },
      },
      backgroundTask('usage-settlement', () =>
        createUsageSettlement({ log, codec, clickhouse, logger, metrics, nowMs: Date.now }),
      ),
      backgroundTask('compaction', () => ({
        async run(signal) {
          const { compactionEveryMs: everyMs } = config.clickhouse;
          if (everyMs === null) return aborted(signal);
          const longTimeoutClient = createClickHouse(
            { ...connection, requestTimeoutMs: COMPACTION_TIMEOUT_MS },
            { logger },
          );
          try {
            await createCompactor({ clickhouse: longTimeoutClient, everyMs, logger, metrics }).run(signal);
          } finally {
            await longTimeoutClient.close();
          }
        },
      })),
      ...sinkDefinitions.flatMap((definition) =>
        Array.from(
          { length: definition.topic.partitions },
          (_, partition): Task => ({
            name: `sink ${definition.name}/${definition.topic.name}/${partition}`,
            create: () => {
              const deps = { definition, partition, store: clickhouse, logger, metrics };
              const reconciler = createReconciler(deps);
              const sink = createSink({ ...deps, log, codec, onCommitted: reconciler.recordCommitted, progress });
              return {
                async run(runSignal) {
                  const work = (signal: AbortSignal) =>
                    runConcurrently(signal, (inner) => [sink.run(inner), reconciler.run(inner)]);
                  try {
                    await withTables(work)(runSignal);
                  } finally {
                    sink.removeMetrics();
                  }
                },
                async check() {
                  const { lag, lastError } = await sink.state();
                  return lagCheck(lag, lastError);
                },
              };
            },
          }),
        ),
      ),
    ];
    const runner = createTaskRunner({ tasks, logger, metrics });
    const readiness = createReadiness({ tasks: runner.checks, joined: () => joined, migrated: () => migrated });
    const clickhouseCheck = createClickHouseCheck({ client: clickhouse, metrics });
    healthRegistry.register('clickhouse', async () => ({ clickhouse: await clickhouseCheck() }));
    healthRegistry.markStarted('processors', async () => (await readiness()).checks);
    const lagGauges = setInterval(() => {
      healthRegistry.readiness().catch((error) => logger.warn({ err: error }, 'cannot measure lag'));
    }, LAG_INTERVAL_MS);

    const prepareTables = async (runSignal: AbortSignal): Promise<void> => {
      const retryOptions = {
        signal: runSignal,
        onFailure: (error: unknown, delayMs: number) =>
          logger.warn({ err: error, delayMs }, 'ClickHouse is not ready, trying again'),
      };
      await retryUntilSuccess('migrate', () => migrate({ client: clickhouse, migrations, logger }), retryOptions);
      const published = { client: clickhouse, database: config.clickhouse.analystDatabase, views: publicViews, logger };
      await retryUntilSuccess('publish the views for analysts', () => publishViews(published), retryOptions);
      migrated = true;
      tablesReady();
    };

    const names = tasks.map(({ name }) => name);
    const member = config.memberName ?? `${hostname()}:${admin.port}`;
    const membership = createMembership({ log, codec, logger, role: 'processors', member });

    try {
      await runConcurrently(signal, (runSignal) => [
        prepareTables(runSignal).then(() => progress.run(runSignal)),
        runner.run(runSignal),
        membership.run(runSignal, (members) => {
          joined = true;
          runner.assign(assignTasks(member, members, names));
        }),
      ]);
    } finally {
      clearInterval(lagGauges);
      await admin.close();
      await clickhouse.close();
      await stores.close();
      await log.close();
    }
  },
});
