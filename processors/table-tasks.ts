import { once } from 'node:events';
import { type ClickHouse, createClickHouse } from '../infra/clickhouse/client.js';
import type { clickHouseConnection } from '../infra/clickhouse/connection.js';
import { migrate } from '../infra/clickhouse/migrations.js';
import type { Config } from '../infra/config/config.js';
import { partitionsOf } from '../infra/log/partitions.js';
import type { Log } from '../infra/log/port.js';
import type { Logger } from '../infra/telemetry/logger.js';
import type { Metrics } from '../infra/telemetry/metrics.js';
import type { Check } from '../infra/telemetry/readiness.js';
import { createOnUnreadable } from '../infra/telemetry/unreadable-records.js';
import type { Codec } from '../schemas/codec.js';
import { consumerGroups } from '../schemas/consumer-groups.js';
import { topics } from '../schemas/topics.js';
import { createActivityProcessor } from './activity/processor.js';
import type { Task } from './assignment/task-runner.js';
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
import { lagCheck, statefulCheck } from './readiness.js';
import { createHistoryTrimmer } from './retention/history-trimmer.js';
import { createRawTopics } from './retention/raw-topics.js';
import { createTickRowDeletion } from './retention/tick-rows.js';
import { runConcurrently } from './run-concurrently.js';
import { createSchemaCreation } from './schema-creation.js';
import { createChunkRecorder } from './sink/chunk-recorder.js';
import { isChunkCommitted } from './sink/committed-chunk.js';
import { createProgressWriter } from './sink/progress-table.js';
import { createReconciler } from './sink/reconcile.js';
import { createSink } from './sink/sink.js';
import type { SinkDefinition } from './sink/sink-definition.js';
import { socialSink } from './social/sink.js';
import type { StateStores } from './stateful/state-store.js';
import type { StatefulProcessor } from './stateful/stateful-processor.js';
import { usageSink } from './usage/sink.js';
import { createSteadyClock } from './usage-settlement/steady-clock.js';
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
/** Request timeout of an OPTIMIZE FINAL, sufficient for a table of any size. */
const COMPACTION_TIMEOUT_MS = 12 * 3_600_000;
/** Request timeout of a migration, which may convert every row. One that takes longer is tried again, and finds less to convert. */
const MIGRATION_TIMEOUT_MS = 3_600_000;

type StatefulProcessorDeps = Parameters<typeof createActivityProcessor>[0];

const aborted = async (signal: AbortSignal): Promise<void> => {
  if (!signal.aborted) await once(signal, 'abort');
};

export interface TableTasks {
  readonly tasks: readonly Task[];
  /** Creates the tables and the views for analysts, then writes the progress of the sinks until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
  /** Passes when the tables and the views for analysts exist. */
  check(): Check;
}

/** The tasks of the group `tables`. Those that write tables wait until `run` has created them. */
export async function createTableTasks(options: {
  config: Config;
  log: Log;
  codec: Codec;
  connection: Awaited<ReturnType<typeof clickHouseConnection>>;
  clickhouse: ClickHouse;
  stores: StateStores;
  logger: Logger;
  metrics: Metrics;
  /** Whether a task of this process is still loading history. */
  loading: () => Promise<boolean>;
}): Promise<TableTasks> {
  const { config, log, codec, connection, clickhouse, stores, logger, metrics } = options;
  /** A task that runs a stateful processor with a local state store of the same name. */
  const statefulTask = (name: string, open: (deps: StatefulProcessorDeps) => StatefulProcessor): Task => ({
    name,
    create: () => {
      const processor = open({ log, codec, store: stores.open(name), logger, metrics });
      return { run: processor.run, check: async () => statefulCheck(await processor.state()) };
    },
  });
  /** Runs `work` with a client of its own, whose statements may take that long. */
  const withClient = async <T>(requestTimeoutMs: number, work: (client: ClickHouse) => Promise<T>): Promise<T> => {
    const client = createClickHouse({ ...connection, requestTimeoutMs }, { logger });
    try {
      return await work(client);
    } finally {
      await client.close();
    }
  };
  const progress = createProgressWriter({ store: clickhouse, logger });
  const chunkRecorder = createChunkRecorder({ store: clickhouse, shared: true });
  const published = { client: clickhouse, database: config.clickhouse.analystDatabase, views: publicViews, logger };
  const schema = createSchemaCreation({
    tables: () => withClient(MIGRATION_TIMEOUT_MS, (client) => migrate({ client, migrations, logger })),
    views: () => publishViews(published),
    logger,
  });
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
  const sinkTask = (definition: SinkDefinition, partition: number): Task => ({
    name: `sink ${definition.name}/${definition.topic.name}/${partition}`,
    create: () => {
      const deps = { definition, partition, store: clickhouse, logger, metrics };
      const reconciler = createReconciler(deps);
      const sink = createSink({
        ...deps,
        log,
        codec,
        onCommitted: reconciler.recordCommitted,
        progress,
        chunkRecorder,
        // Each server of a cluster has its own tables and progress.
        isCommitted: clickhouse.cluster === undefined ? (chunk) => isChunkCommitted(clickhouse, chunk) : undefined,
      });
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
  });
  const pnlPartitions = await log.partitions(topics.pnlEvents.name);
  const sinkTasks = async (definition: SinkDefinition): Promise<readonly Task[]> =>
    (await partitionsOf(log, definition.topic)).map((partition) => sinkTask(definition, partition));
  const tasks: readonly Task[] = [
    statefulTask(consumerGroups.activity, createActivityProcessor),
    ...(await partitionsOf(log, topics.positions)).map((partition) =>
      statefulTask(consumerGroups.positions(partition), (deps) =>
        createPositionsProcessor({ ...deps, partition, pnlPartitions }),
      ),
    ),
    backgroundTask('leaderboards', () => {
      const deps = { clickhouse, logger, metrics, nowMs: Date.now, loading: options.loading };
      const refreshers = [createLeaderboardRefresher(deps), createTagLeaderboardRefresher(deps)];
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
      createUsageSettlement({
        log,
        codec,
        clickhouse,
        logger,
        metrics,
        nowMs: createSteadyClock(Date.now, () => performance.now()),
      }),
    ),
    backgroundTask('compaction', () => ({
      async run(signal) {
        const { compactionEveryMs: everyMs } = config.clickhouse;
        if (everyMs === null) return aborted(signal);
        await withClient(COMPACTION_TIMEOUT_MS, (client) =>
          createCompactor({ clickhouse: client, everyMs, logger, metrics }).run(signal),
        );
      },
    })),
    backgroundTask('raw-history', () => ({
      async run(signal) {
        const { rawHistoryDays: days } = config;
        if (days === null) return aborted(signal);
        const onUnreadable = createOnUnreadable({ metrics, logger });
        const rawTopics = createRawTopics({ log, codec, store: clickhouse, sinks: sinkDefinitions, onUnreadable });
        const deleteTickRows = createTickRowDeletion({ log, clickhouse });
        await createHistoryTrimmer({ log, days, rawTopics, deleteTickRows, logger, metrics }).run(signal);
      },
    })),
    ...(await Promise.all(sinkDefinitions.map(sinkTasks))).flat(),
  ];

  return {
    tasks,
    async run(signal) {
      await schema.createTables(signal);
      tablesReady();
      // Tables are loaded while the views are created.
      await Promise.all([schema.createViews(signal), progress.run(signal)]);
    },
    check: schema.check,
  };
}
