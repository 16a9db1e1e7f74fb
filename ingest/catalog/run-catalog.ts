import { RetryableError } from '../../infra/errors.js';
import type { Logger } from '../../infra/telemetry/logger.js';
import type { Metrics } from '../../infra/telemetry/metrics.js';
import type { Codec } from '../../schemas/codec.js';
import type { DeadLetters } from '../shared/dead-letters.js';
import type { SourceLog } from '../shared/owned-log.js';
import { createProgress } from '../shared/progress.js';
import type { SourceStatusWriter } from '../shared/source-status.js';
import type { HydrationCounts } from './hydration-counts.js';
import { createOnDemandMarkets } from './on-demand/on-demand-markets.js';
import type { CatalogSource, CatalogUpdate } from './source.js';
import { createCatalogWriter } from './writer.js';

/**
 * Catalog ingest: writes the full load of the source, then its increments and the markets looked up for chain events, to the compacted
 * topic; changed rows only. Resolves after the signal once pending writes are durable, or when a recorded source ends. Rejects with the
 * first failure.
 */
export async function runCatalog(deps: {
  source: CatalogSource;
  log: SourceLog;
  codec: Codec;
  deadLetters: DeadLetters;
  status: Pick<SourceStatusWriter, 'update' | 'updateDeferred' | 'flush'>;
  metrics: Metrics;
  counts: HydrationCounts;
  logger: Logger;
  signal: AbortSignal;
  nowMs?: () => number;
}): Promise<void> {
  const { source, log, codec, deadLetters, status, metrics, counts, signal, nowMs = Date.now } = deps;
  const logger = deps.logger.child({ source: 'catalog' });
  const writer = createCatalogWriter({
    log,
    codec,
    metrics,
    nowMs,
    onMarket: source.find === undefined ? undefined : (market) => onDemandMarkets?.addTokens(market.token_ids),
    onRejected: (reason, payload) => {
      counts.gamma_hydration_unusable++;
      deadLetters.put({ origin: 'catalog', stage: 'catalog.write', reason, payload }).catch((error: unknown) => {
        logger.error({ err: error }, 'could not write a dead letter');
      });
    },
  });
  let connection = '';
  let onDemandState = '';
  const updateDetail = () =>
    status.update({
      detail: [`${source.description}${connection === '' ? '' : `: ${connection}`}`, onDemandState]
        .filter((part) => part !== '')
        .join('; '),
    });
  const onDemandMarkets =
    source.find === undefined
      ? null
      : createOnDemandMarkets({
          find: source.find,
          writer,
          log,
          codec,
          metrics,
          counts,
          logger,
          nowMs,
          onState: (state) => {
            onDemandState = state;
            updateDetail();
          },
        });
  const lastDelivery = metrics.gauge(
    'catalog_last_delivery_ms',
    'Time at which the catalog source last delivered rows, Unix ms',
  );
  /** Returns the number of markets in the update. */
  const applyUpdate = async (update: CatalogUpdate): Promise<number> => {
    if (update.type === 'connected') {
      logger[update.connected ? 'info' : 'warn']({ connected: update.connected }, update.detail);
      connection = update.detail;
      status.update({ connected: update.connected, shift_days: source.shiftDays });
      updateDetail();
      return 0;
    }
    if (update.type === 'read_until') {
      status.updateDeferred({ read_until_ms: update.ms });
      // The first one is durable before the rows after it.
      await status.flush();
      return 0;
    }
    lastDelivery.set(nowMs());
    if ((await writer.write(update.rows)) > 0) status.update({ last_event_ms: nowMs() });
    return update.rows.filter((row) => row.kind === 'catalog_market').length;
  };

  // The status holds the counts themselves: every later write of it has their current values.
  status.updateDeferred({ metadata: counts });
  status.update({
    detail: source.description,
    shift_days: source.shiftDays,
    recorded_from_ms: source.recordedFromMs,
    phase: 'history',
  });
  const keys = await writer.restore();
  logger.debug({ keys }, 'catalog restored');
  const progress = createProgress({
    logger,
    source: 'catalog',
    unit: 'markets',
    total: source.totalMarkets,
    onRatio: (share) => status.update({ progress: share }),
  });
  let done = 0;
  for await (const update of source.load(signal)) {
    done += await applyUpdate(update);
    progress.report(done);
  }
  if (signal.aborted) return;
  progress.finish();
  status.update({ phase: 'live', progress: 1 });

  const stop = new AbortController();
  const either = AbortSignal.any([signal, stop.signal]);
  const increments = async () => {
    for await (const update of source.live(either)) await applyUpdate(update);
    // A recording that has ended has no age.
    if (!either.aborted) lastDelivery.remove({});
    if (!either.aborted && source.mode === 'live') throw new RetryableError('The catalog source ended unexpectedly');
  };
  const loops = [increments(), onDemandMarkets?.run(either)];
  try {
    await Promise.all(loops);
  } finally {
    stop.abort();
    await Promise.allSettled(loops);
  }
}
