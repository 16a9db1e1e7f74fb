import { hostname } from 'node:os';
import type { Config } from '../infra/config/config.js';
import { FencedError } from '../infra/log/errors.js';
import type { Log } from '../infra/log/port.js';
import { runAsLeader } from '../infra/membership/run-as-leader.js';
import { openEventLog } from '../infra/registry/open-event-log.js';
import { startAdminServer } from '../infra/telemetry/admin-server.js';
import type { Logger } from '../infra/telemetry/logger.js';
import type { Metrics } from '../infra/telemetry/metrics.js';
import { createHealthRegistry, type HealthRegistry } from '../infra/telemetry/readiness.js';
import { createOnUnreadable } from '../infra/telemetry/unreadable-records.js';
import type { Codec } from '../schemas/codec.js';
import { topics } from '../schemas/topics.js';
import { createHydrationCounts } from './catalog/hydration-counts.js';
import { openCatalogSource } from './catalog/open-source.js';
import { runCatalog } from './catalog/run-catalog.js';
import { blockEvent, decodeBlock, decodePending } from './chain/decode/index.js';
import { runChain } from './chain/run-chain.js';
import { openChainSource } from './open-chain.js';
import { openOracleSource } from './oracle/open-source.js';
import { runOracle } from './oracle/run-oracle.js';
import { openBookFeed } from './orderbook/open-feed.js';
import { runOrderBook } from './orderbook/run-orderbook.js';
import { readinessOf } from './readiness.js';
import { createDeadLetters } from './shared/dead-letters.js';
import { openImported } from './shared/imported/open-imported.js';
import { keepRunning } from './shared/keep-running.js';
import { createOwnedLog } from './shared/owned-log.js';
import { pause } from './shared/pause.js';
import { createLiveMarkets, openRecording } from './shared/recorded/index.js';
import { removeOtherSources } from './shared/remove-other-sources.js';
import { assertSingleSourceMode } from './shared/single-source-mode.js';
import { createSourceStatus, type SourceStatusWriter } from './shared/source-status.js';
import { readRecordedPosts } from './social/recorded-posts.js';
import { runSocial } from './social/run-social.js';

/** Computes a value on first use. */
function lazy<T>(compute: () => T): () => T {
  let cached: { readonly value: T } | null = null;
  return () => {
    cached ??= { value: compute() };
    return cached.value;
  };
}

/**
 * Ingest process: writes chain, oracle, catalogue, order books and recorded posts into one log until the signal. A failed source is restarted while the others run. An error
 * that an operator must fix, or the loss of topic ownership, ends all sources (their last records are durable) and is the rejection reason.
 * One process per log is active, others are on standby. The active process owns the topics of the sources, so a process that was wrongly
 * declared dead rejects with FencedError at its next append.
 */
export async function runIngest(deps: {
  config: Config;
  logger: Logger;
  metrics: Metrics;
  signal: AbortSignal;
}): Promise<void> {
  const { config, logger, metrics, signal } = deps;
  const cleanups: (() => Promise<void>)[] = [];
  try {
    const healthRegistry = createHealthRegistry();
    const admin = await startAdminServer({
      host: config.host,
      port: config.ports.admin.ingest,
      allowedHosts: config.allowedHosts,
      metrics,
      readiness: healthRegistry.readiness,
    });
    cleanups.push(() => admin.close());
    const { log, codec } = await openEventLog(config, { logger, metrics, signal, healthRegistry });
    cleanups.push(() => log.close());
    const active = metrics.gauge('ingest_active', '1 while this process writes the sources, 0 while it is on standby');
    active.set(0);
    const member = config.memberName ?? `${hostname()}:${admin.port}`;
    healthRegistry.markStarted('sources', () => ({ sources: { ok: true, detail: 'on standby' } }));
    await runAsLeader(
      { log, codec, logger, role: 'ingest', member, signal },
      (own) => runSources({ ...deps, log, codec, board: healthRegistry, signal: own, onOwned: () => active.set(1) }),
      (workers) => logger.info({ workers }, 'on standby'),
    );
  } finally {
    for (const cleanup of cleanups.reverse()) await cleanup();
  }
}

/** Interval of the ownership check: a fenced process that has nothing to append ends within this time. */
const OWNERSHIP_CHECK_INTERVAL_MS = 5_000;
/** Topics with one writing process at a time. Source statuses and dead letters may be written by any process. */
const ownedTopics = [
  topics.chainHead,
  topics.chainFinal,
  topics.oracleTicks,
  topics.catalog,
  topics.catalogMissing,
  topics.orderbookUpdates,
].map(({ name }) => name);

async function runSources(deps: {
  config: Config;
  logger: Logger;
  metrics: Metrics;
  log: Log;
  codec: Codec;
  board: HealthRegistry;
  signal: AbortSignal;
  /** Called once this process owns the topics of the sources. */
  onOwned: () => void;
}): Promise<void> {
  const { config, logger, metrics, log, codec, board } = deps;
  const { sources } = config;
  const stop = new AbortController();
  const signal = AbortSignal.any([deps.signal, stop.signal]);
  const cleanups: (() => Promise<void>)[] = [];
  try {
    const lastStatuses = await assertSingleSourceMode({
      log,
      codec,
      mode: sources.mode,
      onUnreadable: createOnUnreadable({ metrics, logger }),
    });
    const deadLetters = createDeadLetters({ log, codec, metrics, logger });
    const counts = createHydrationCounts();
    const allStatuses: SourceStatusWriter[] = [];
    const statusOf = (source: string) => {
      const last = lastStatuses.get(source);
      const { gap = null, reread = null, rereading = null, read_until_ms = null } = last ?? {};
      const initial = { gap, reread, rereading, read_until_ms };
      const status = createSourceStatus({ log, codec, logger, source, mode: sources.mode, initial });
      allStatuses.push(status);
      cleanups.push(() => status.close());
      return status;
    };
    const statuses = { chain: statusOf('chain'), oracle: statusOf('oracle'), catalog: statusOf('catalog') };
    // Not part of readiness: all other data is complete without order books. A recording without live tail has no trades to make books around.
    const imported = sources.mode === 'recorded' ? await openImported(sources.recordedDir) : null;
    const historyOnly = imported !== null || sources.recordedHistoryOnly;
    const orderBookStatus = sources.orderbookTokens > 0 && !historyOnly ? statusOf('orderbook') : null;
    board.markStarted(
      'sources',
      () =>
        readinessOf(
          Object.entries(statuses).map(([source, status]) => ({ source, mode: sources.mode, facts: status.current })),
          Date.now(),
        ).checks,
    );
    logger.info({ mode: sources.mode }, 'ingest started');

    const owned = await createOwnedLog(log, ownedTopics);
    deps.onOwned();
    const running = [...Object.keys(statuses), ...(orderBookStatus === null ? [] : ['orderbook'])];
    const removed = await removeOtherSources({ log, codec, running });
    if (removed.length > 0) logger.info({ sources: removed }, 'removed the status of sources that are switched off');
    const recording = lazy(() => openRecording(sources.recordedDir));
    const liveMarkets = sources.mode === 'recorded' && imported === null ? createLiveMarkets(recording()) : undefined;
    const shared = { log: owned, codec, deadLetters, metrics, logger, signal };
    const supervise = (
      source: string,
      run: () => Promise<void>,
      status: Pick<SourceStatusWriter, 'update'>,
    ): Promise<void> =>
      keepRunning(run, {
        source,
        logger,
        metrics,
        signal,
        onFailed: (reason) => status.update({ connected: false, detail: reason.slice(0, 500) }),
      });
    const network = { isVerified: false, hasFinalizedTag: false };
    const runChainSource = async () => {
      const source = await openChainSource({ sources, recording, imported, liveMarkets, network, metrics, logger });
      const close = () => void source.close();
      signal.addEventListener('abort', close, { once: true });
      try {
        await runChain({
          ...shared,
          source,
          decoder: { decodeBlock, blockEvent, decodePending },
          status: statuses.chain,
        });
      } finally {
        signal.removeEventListener('abort', close);
        await source.close();
      }
    };
    const runOracleSource = async () => {
      const source = openOracleSource({ sources, recording, imported, deadLetters, metrics, logger });
      await runOracle({ ...shared, source, status: statuses.oracle });
    };
    const runCatalogSource = async () => {
      const source = await openCatalogSource({
        sources,
        recording,
        imported,
        liveMarkets,
        log,
        deadLetters,
        metrics,
        counts,
        logger,
        readUntilMs: statuses.catalog.current.read_until_ms,
        onReachable: (connected) => statuses.catalog.update({ connected }),
      });
      await runCatalog({ ...shared, source, counts, status: statuses.catalog });
    };
    const runOrderBookSource = (status: SourceStatusWriter) =>
      runOrderBook({
        ...shared,
        openFeed: openBookFeed({ sources, log: owned, codec, metrics, logger }),
        status,
        maxTokens: sources.orderbookTokens,
        onRejected: (reason, payload) => {
          deadLetters
            .put({ origin: 'orderbook', stage: 'orderbook.decode', reason, payload })
            .catch((error: unknown) => {
              logger.error({ err: error }, 'could not write a dead letter');
            });
        },
      });
    const loops = [
      () => supervise('chain', runChainSource, statuses.chain),
      () => supervise('oracle', runOracleSource, statuses.oracle),
      () => supervise('catalog', runCatalogSource, statuses.catalog),
      async () => {
        if (orderBookStatus !== null)
          await supervise('orderbook', () => runOrderBookSource(orderBookStatus), orderBookStatus);
      },
      async () => {
        // Live posts are fetched by the API on request.
        if (sources.mode === 'live') return;
        const run = async () => runSocial({ ...shared, pages: await readRecordedPosts(sources.recordedDir) });
        await supervise('social', run, { update: () => undefined });
      },
      async () => {
        while (!signal.aborted) {
          await pause(OWNERSHIP_CHECK_INTERVAL_MS, signal);
          if (!signal.aborted) await owned.confirmOwnership();
        }
      },
    ];
    const runs = loops.map((run) => run());
    const stopped = new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      else signal.addEventListener('abort', () => resolve(), { once: true });
    });
    try {
      // A recording may end; the process keeps running to write the status of its sources.
      await Promise.all([...runs, stopped]);
    } catch (error) {
      // The process that has taken the topics over reports the sources.
      if (error instanceof FencedError) for (const status of allStatuses) status.abandon();
      throw error;
    } finally {
      stop.abort();
      await Promise.allSettled(runs);
    }
  } finally {
    for (const cleanup of cleanups.reverse()) await cleanup();
  }
}
