import type { ClickHouse } from '../../infra/clickhouse/client.js';
import { ddlFor, localName } from '../../infra/clickhouse/cluster-ddl.js';
import { migrate } from '../../infra/clickhouse/migrations.js';
import { RetryableError } from '../../infra/errors.js';
import { FencedError } from '../../infra/log/errors.js';
import { partitionsOf } from '../../infra/log/partitions.js';
import type { Log } from '../../infra/log/port.js';
import type { Logger } from '../../infra/telemetry/logger.js';
import { createMetrics } from '../../infra/telemetry/metrics.js';
import type { Codec } from '../../schemas/codec.js';
import { migrations } from '../migrations.js';
import { runConcurrently } from '../run-concurrently.js';
import { createChunkJournal } from '../sink/chunk-journal.js';
import { type ChunkPlans, createChunkPlans } from '../sink/chunk-plans.js';
import { isChunkCommitted, type NewestChunk } from '../sink/committed-chunk.js';
import { resumePoint } from '../sink/resume-point.js';
import { createSink, type Sink } from '../sink/sink.js';
import { boundedLog, discardPlans, type SinkLog } from './bounded-log.js';
import { requireCompleteLog } from './complete-log.js';
import { type Differences, findDifferences } from './differences.js';
import { type Fingerprint, fingerprint } from './fingerprint.js';
import { computedTablesOf, createChunksTable, type RebuildTask } from './rebuild-tasks.js';

export interface TableReport {
  readonly table: string;
  readonly live: Fingerprint;
  readonly rebuilt: Fingerprint;
  readonly identical: boolean;
  /** null: identical, or the differing rows could not be queried. */
  readonly differences: Differences | null;
}

export interface RebuildOptions {
  readonly tasks: readonly RebuildTask[];
  readonly log: SinkLog & Pick<Log, 'partitions'>;
  readonly codec: Codec;
  /** Client of the live tables. */
  readonly live: ClickHouse;
  /** Client of a separate database, which is emptied first and dropped at the end. */
  readonly shadow: ClickHouse;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  /** Compares without exchanging the live tables. */
  readonly checkOnly?: boolean;
  readonly progressIntervalMs?: number;
}

const PROGRESS_INTERVAL_MS = 2_000;
/** They keep rows of versions of a key that a compacted topic no longer has, and are read as supersets: the rebuilt ones may lack rows. */
const SUPERSETS: ReadonlySet<string> = new Set(['tag_tokens']);
const LIVE_TABLES_UNCHANGED = 'the live tables are unchanged';

/**
 * Processes the log from offset 0 (rejects with FatalError if it has deleted records) into a shadow database up to the position of the live tables, compares every table, and exchanges the live
 * tables with the rebuilt ones. No other process may write the tables meanwhile; ingest, api and stream-gateway may keep running. The rebuild
 * owns the sinks' consumer groups: processors that start nevertheless fence it, and it rejects with RetryableError.
 *
 * Safe to kill at any point and to repeat: the live tables first catch up with the exact end of the last planned chunk, and an empty chunk is
 * planned after it before the first table is exchanged, so a sink that starts later repeats no insert into either set of tables.
 */
export async function rebuild(options: RebuildOptions): Promise<readonly TableReport[]> {
  const { tasks, log, codec, live, shadow, logger, signal } = options;
  const ddl = ddlFor(live);
  const dropShadow = () =>
    live.command(`DROP DATABASE IF EXISTS {name:Identifier}${ddl.onCluster} SYNC`, { name: shadow.database });

  await requireCompleteLog(log, tasks);
  await migrate({ client: live, migrations, logger });
  for (const sql of tasks.flatMap((task) => task.create(ddl))) await live.command(sql);
  const ends = await plannedEnds(options);
  const endOf = (topic: string, partition: number) => ends.get(`${topic}/${partition}`)?.next ?? 0;
  const sinksOn = async (
    store: ClickHouse,
    plans: Parameters<typeof boundedLog>[0]['plans'],
    isCommitted?: Parameters<typeof createSink>[0]['isCommitted'],
  ) => {
    const ofTask = async ({ definition }: RebuildTask) =>
      (await partitionsOf(log, definition.topic)).map((partition) => {
        // Sinks of a shared topic may have committed different offsets, so each sink has its own end.
        const bounded = boundedLog({
          log,
          ends: (topic) => endOf(`${definition.name}/${topic}`, partition),
          plans,
        });
        // Progress is logged; a command exposes no metrics endpoint.
        const metrics = createMetrics({ process: 'rebuild', defaults: false });
        return createSink({ definition, partition, log: bounded, store, codec, logger, metrics, isCommitted });
      });
    return (await Promise.all(tasks.map(ofTask))).flat();
  };

  logger.info('finishing the newest chunks of the live tables');
  // As in processors: restored tables have no deduplication tokens.
  const isCommitted = live.cluster === undefined ? (chunk: NewestChunk) => isChunkCommitted(live, chunk) : undefined;
  await runToEnd(await sinksOn(live, log, isCommitted), { ...options, label: 'live' });

  const ownedSinks = await acquireSinks(options, ends);

  await dropShadow();
  await shadow.ensureDatabase();
  const tables = [...createChunksTable(ddl), ...tasks.flatMap((task) => task.create(ddl))];
  for (const sql of tables) await shadow.command(sql);
  // The live sink has already written unprocessable records to dead.letters.
  await runToEnd(await sinksOn(shadow, discardPlans), { ...options, label: 'rebuilt' });

  const reports: TableReport[] = [];
  for (const { name: table } of tasks.flatMap((task) => task.tables)) {
    signal.throwIfAborted();
    const [before, rebuilt] = [await fingerprint(live, table), await fingerprint(shadow, table)];
    const isSame = before.rows === rebuilt.rows && before.hash === rebuilt.hash;
    const found = isSame ? null : await explain(options, table);
    const identical = isSame || (SUPERSETS.has(table) && found?.onlyRebuilt === 0);
    const differences = identical ? null : found;
    reports.push({ table, live: before, rebuilt, identical, differences });
    if (identical) logger.info({ table, rows: rebuilt.rows }, 'identical');
    else logger.warn({ table, live: before, rebuilt, differences }, 'DIFFERENT');
  }

  if (options.checkOnly !== true) {
    for (const sink of ownedSinks) await sink.close();
    // Before the exchange: killed in between, the processors compute them from the tables that are there.
    for (const { name } of computedTablesOf(tasks))
      await live.command(`TRUNCATE TABLE {table:Identifier}${ddl.onCluster} SYNC`, { table: name });
    for (const spec of tasks.flatMap((task) => task.tables)) {
      const table = live.cluster === undefined ? spec.name : localName(spec);
      await live.command(
        `EXCHANGE TABLES {live:Identifier}.{table:Identifier} AND {shadow:Identifier}.{table:Identifier}${ddl.onCluster}`,
        { live: live.database, shadow: shadow.database, table },
      );
    }
    for (const sink of ownedSinks) await sink.confirmOwnership();
    logger.info('live tables exchanged with the rebuilt ones');
  }
  await dropShadow();
  return reports;
}

/** The differing rows; null when they cannot be queried, which does not change the result of the comparison. */
async function explain({ live, shadow, logger }: RebuildOptions, table: string): Promise<Differences | null> {
  try {
    return await findDifferences(live, shadow, table);
  } catch (error) {
    logger.warn({ err: error, table }, 'cannot list the rows that differ');
    return null;
  }
}

interface OwnedSink {
  /** Plans an empty chunk after the last one, once the live tables contain all planned chunks. */
  close(): Promise<void>;
  /** Rejects if another process has taken over the sink. */
  confirmOwnership(): Promise<void>;
}

/** Acquires ownership of the tasks' sinks, which are at their ends. Every call rejects with RetryableError when processors were started meanwhile. */
async function acquireSinks(
  options: Pick<RebuildOptions, 'tasks' | 'log' | 'codec' | 'live'>,
  ends: ReadonlyMap<string, PlannedEnd>,
): Promise<readonly OwnedSink[]> {
  const { tasks, log, codec, live } = options;
  const ownedSinks: OwnedSink[] = [];
  for (const { definition } of tasks)
    for (const partition of await partitionsOf(log, definition.topic)) {
      const topic = definition.topic.name;
      const { next, plannedLast } = ends.get(`${definition.name}/${topic}/${partition}`) ?? NOTHING_PLANNED;
      const journal = createChunkJournal({ store: live, sink: definition.name, topic, partition });
      const plans: ChunkPlans = createChunkPlans({ definition, partition, log, codec, onUnreadable: () => undefined });
      const requireOwnership = async (step: () => Promise<void>, state: string): Promise<void> => {
        try {
          await step();
        } catch (error) {
          if (!(error instanceof FencedError)) throw error;
          throw new RetryableError(`Processors were started during the rebuild: ${state}`, { cause: error });
        }
      };
      const newest = await plans.acquireOwnership();
      if ((newest?.lastOffset ?? null) !== plannedLast)
        throw new RetryableError(`Processors were started during the rebuild: ${LIVE_TABLES_UNCHANGED}`);
      const empty = { firstOffset: next, lastOffset: next - 1, previousLastOffset: next - 1 };
      ownedSinks.push({
        async close() {
          await requireOwnership(
            () => (next === 0 ? plans.confirmOwnership(empty, 0) : plans.commit(empty, [])),
            LIVE_TABLES_UNCHANGED,
          );
          if (next > 0) await journal.record(empty);
        },
        confirmOwnership: () => requireOwnership(() => plans.confirmOwnership(empty, 0), 'stop them and rebuild again'),
      });
    }
  return ownedSinks;
}

interface PlannedEnd {
  /** Offset after the newest chunk that the live tables have or catch up to. */
  readonly next: number;
  /** Last offset of the newest plan in the log; it is beyond `next` if the tables are from a backup. null: no plan. */
  readonly plannedLast: number | null;
}
const NOTHING_PLANNED: PlannedEnd = { next: 0, plannedLast: null };

/** By `sink/topic/partition`. */
async function plannedEnds(
  options: Pick<RebuildOptions, 'tasks' | 'log' | 'codec' | 'live'>,
): Promise<ReadonlyMap<string, PlannedEnd>> {
  const { tasks, log, codec, live } = options;
  const ends = new Map<string, PlannedEnd>();
  for (const { definition } of tasks)
    for (const partition of await partitionsOf(log, definition.topic)) {
      const topic = definition.topic.name;
      const journal = createChunkJournal({ store: live, sink: definition.name, topic, partition });
      const plans = createChunkPlans({ definition, partition, log, codec, onUnreadable: () => undefined });
      // Plans precede their rows, so plans that are read later are never behind.
      const recorded = await journal.newest();
      const planned = await plans.newest();
      const { chunk } = resumePoint(planned, recorded);
      ends.set(`${definition.name}/${topic}/${partition}`, {
        next: chunk === null ? 0 : chunk.lastOffset + 1,
        plannedLast: planned?.lastOffset ?? null,
      });
    }
  return ends;
}

/** Runs sinks over a bounded log until their lag is 0 and logs their progress. */
async function runToEnd(
  sinks: readonly Sink[],
  options: { signal: AbortSignal; logger: Logger; label: string; progressEveryMs?: number },
): Promise<void> {
  const { logger, label } = options;
  const done = new AbortController();
  const finished = async () => (await Promise.all(sinks.map((sink) => sink.state()))).every((state) => state.lag === 0);
  let reportedMs = Date.now();
  const stopAtEnd = async (runSignal: AbortSignal): Promise<void> => {
    for (;;) {
      runSignal.throwIfAborted();
      if (await finished()) return done.abort();
      if (Date.now() - reportedMs >= (options.progressEveryMs ?? PROGRESS_INTERVAL_MS)) {
        reportedMs = Date.now();
        for (const state of await Promise.all(sinks.map((sink) => sink.state())))
          if (state.lag > 0)
            logger.info({ sink: state.name, recordsLeft: state.lag, lastError: state.lastError }, label);
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  const stop = AbortSignal.any([options.signal, done.signal]);
  await runConcurrently(stop, (runSignal) => [...sinks.map((sink) => sink.run(runSignal)), stopAtEnd(runSignal)]);
  options.signal.throwIfAborted();
}
