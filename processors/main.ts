import { once } from 'node:events';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { createClickHouse } from '../infra/clickhouse/client.js';
import { clickHouseConnection } from '../infra/clickhouse/connection.js';
import { createClickHouseCheck } from '../infra/clickhouse/health.js';
import { migrate } from '../infra/clickhouse/migrations.js';
import { loadConfig, redactConfig } from '../infra/config/config.js';
import { createMembership } from '../infra/membership/membership.js';
import { openTopics } from '../infra/registry/open-topics.js';
import { startAdminServer } from '../infra/telemetry/admin-server.js';
import { createLogger } from '../infra/telemetry/logger.js';
import { createMetrics } from '../infra/telemetry/metrics.js';
import { createReadinessBoard } from '../infra/telemetry/readiness.js';
import { runProcess } from '../infra/telemetry/run-process.js';
import { topics } from '../schemas/topics.js';
import { createAccountsProcessor } from './accounts/processor.js';
import { createActivityProcessor } from './activity/processor.js';
import { catalogFamily } from './catalog/family.js';
import { chainFamily } from './chain/family.js';
import { createCompactor } from './compaction/compactor.js';
import { fillsFamily } from './fills/family.js';
import type { Fold } from './fold/fold.js';
import { openFoldStores } from './fold/fold-store.js';
import { createPainter } from './leaderboards/painter.js';
import { migrations } from './migrations.js';
import { oracleFamily } from './oracle/family.js';
import { pnlFamily, positionsFamily } from './positions/family.js';
import { createPositionsProcessor } from './positions/processor.js';
import { publishViews } from './public-views/publish.js';
import { publicViews } from './public-views/views.js';
import { createReadiness, foldCheck, lagCheck } from './readiness.js';
import { runTogether } from './run-together.js';
import { createUnitRunner, type Unit } from './sharing/run-units.js';
import { shareOf } from './sharing/share.js';
import { createProgressWriter } from './sink/progress-table.js';
import { createReconciler } from './sink/reconcile.js';
import { untilDone } from './sink/retry.js';
import { createSink } from './sink/sink.js';
import { createStreamProcessor } from './stream/processor.js';
import { usageFamily } from './usage/family.js';
import { walletEventsFamily } from './wallet-events/family.js';

const families = [
  fillsFamily,
  chainFamily,
  oracleFamily,
  catalogFamily,
  usageFamily,
  walletEventsFamily,
  positionsFamily,
  pnlFamily,
];
/** Lag gauges are set when readiness is asked for, and this often. */
const LAG_EVERY_MS = 5_000;

/** A table of any size is put together within this. */
const COMPACTION_PATIENCE_MS = 12 * 3_600_000;

type FoldParts = Parameters<typeof createActivityProcessor>[0];

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
    const board = createReadinessBoard();
    const admin = await startAdminServer({
      host: config.host,
      port: config.ports.admin.processors,
      allowedHosts: config.allowedHosts,
      metrics,
      readiness: board.current,
    });
    const { log, codec } = await openTopics(config, { logger, metrics, signal, board });
    const connection = await clickHouseConnection(config);
    const clickhouse = createClickHouse(connection, { logger });
    // Of its own for each process of a machine: a store has one write lock, which a suspended process may hold.
    const stores = openFoldStores(join(config.dataDir, 'state', String(admin.port)));
    /** A fold keeps its state in a local store of its name. */
    const foldUnit = (name: string, open: (own: FoldParts) => Fold): Unit => ({
      name,
      create: () => {
        const fold = open({ log, codec, store: stores.open(name), logger, metrics });
        return { run: fold.run, check: async () => foldCheck(await fold.state()) };
      },
    });
    const progress = createProgressWriter({ store: clickhouse, logger });
    let migrated = false;
    let joined = false;
    /** Subscribers and accounts do not wait for the tables; sinks do. */
    let tablesReady: () => void = () => undefined;
    const tables = new Promise<void>((resolve) => {
      tablesReady = resolve;
    });
    const units: readonly Unit[] = [
      {
        name: 'accounts',
        create: () => {
          const accounts = createAccountsProcessor({ log, codec, logger, metrics });
          return { run: accounts.run, check: async () => foldCheck(await accounts.state()) };
        },
      },
      {
        name: 'stream',
        create: () => {
          const stream = createStreamProcessor({ log, codec, logger, metrics });
          return { run: stream.run, check: async () => foldCheck(await stream.state()) };
        },
      },
      foldUnit('activity', createActivityProcessor),
      ...Array.from({ length: topics.positions.partitions }, (_, partition) =>
        foldUnit(`positions-${partition}`, (own) => createPositionsProcessor({ ...own, partition })),
      ),
      {
        name: 'leaderboards',
        create: () => {
          const painter = createPainter({
            clickhouse,
            logger,
            metrics,
            nowMs: Date.now,
            loading: async () => Object.values(await runner.checks()).some((check) => check.loading === true),
          });
          return {
            async run(own) {
              await Promise.race([tables, aborted(own)]);
              if (!own.aborted) await painter.run(own);
            },
            // Nothing waits for a picture.
            check: async () => ({ ok: true }),
          };
        },
      },
      {
        name: 'compaction',
        create: () => ({
          async run(own) {
            const { compactionEveryMs: everyMs } = config.clickhouse;
            await Promise.race([tables, aborted(own)]);
            if (own.aborted || everyMs === null) return aborted(own);
            const patient = createClickHouse({ ...connection, patienceMs: COMPACTION_PATIENCE_MS }, { logger });
            try {
              await createCompactor({ clickhouse: patient, everyMs, logger, metrics }).run(own);
            } finally {
              await patient.close();
            }
          },
          check: async () => ({ ok: true }),
        }),
      },
      ...families.flatMap((family) =>
        Array.from(
          { length: family.topic.partitions },
          (_, partition): Unit => ({
            name: `sink ${family.name}/${family.topic.name}/${partition}`,
            create: () => {
              const deps = { family, partition, store: clickhouse, logger, metrics };
              const reconciler = createReconciler(deps);
              const sink = createSink({ ...deps, log, codec, onLanded: reconciler.landed, progress });
              return {
                async run(own) {
                  await Promise.race([tables, aborted(own)]);
                  try {
                    if (!own.aborted) await runTogether(own, (inner) => [sink.run(inner), reconciler.run(inner)]);
                  } finally {
                    sink.forget();
                  }
                },
                async check() {
                  const { lag, trouble } = await sink.state();
                  return lagCheck(lag, trouble);
                },
              };
            },
          }),
        ),
      ),
    ];
    const runner = createUnitRunner({ units, logger, metrics });
    const readiness = createReadiness({ units: runner.checks, joined: () => joined, migrated: () => migrated });
    const clickhouseCheck = createClickHouseCheck({ client: clickhouse, metrics });
    board.add('clickhouse', async () => ({ clickhouse: await clickhouseCheck() }));
    board.started('folds', async () => (await readiness()).checks);
    const lagGauges = setInterval(() => {
      board.current().catch((error) => logger.warn({ err: error }, 'cannot measure lag'));
    }, LAG_EVERY_MS);

    const prepareTables = async (own: AbortSignal): Promise<void> => {
      const trying = {
        signal: own,
        failed: (error: unknown, delayMs: number) =>
          logger.warn({ err: error, delayMs }, 'ClickHouse is not ready, trying again'),
      };
      await untilDone('migrate', () => migrate({ client: clickhouse, migrations, logger }), trying);
      const published = { client: clickhouse, database: config.clickhouse.analystDatabase, views: publicViews, logger };
      await untilDone('publish the views for analysts', () => publishViews(published), trying);
      migrated = true;
      tablesReady();
    };

    const names = units.map(({ name }) => name);
    const member = config.memberName ?? `${hostname()}:${admin.port}`;
    const membership = createMembership({ log, codec, logger, role: 'processors', member });

    try {
      await runTogether(signal, (own) => [
        prepareTables(own).then(() => progress.run(own)),
        runner.run(own),
        membership.run(own, (members) => {
          joined = true;
          runner.own(shareOf(member, members, names));
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
