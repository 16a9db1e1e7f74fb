import { RetryableError } from '../../infra/errors.js';
import type { Logger } from '../../infra/telemetry/logger.js';
import type { Metrics } from '../../infra/telemetry/metrics.js';
import type { Codec } from '../../schemas/codec.js';
import type { SourceLog } from '../shared/owned-log.js';
import { createProgress } from '../shared/progress.js';
import type { SourceStatusWriter } from '../shared/source-status.js';
import type { OraclePrice, OracleSource } from './source.js';
import { createTickWriter } from './tick-writer.js';

/**
 * Oracle ingest: writes the part of the source's history that is not in the log, then its live feed, to oracle.ticks. Resolves after the
 * signal once pending writes are durable, or when a recorded source ends; rejects with the first failure.
 */
export async function runOracle(deps: {
  source: OracleSource;
  log: SourceLog;
  codec: Codec;
  status: Pick<SourceStatusWriter, 'update'>;
  metrics: Metrics;
  logger: Logger;
  signal: AbortSignal;
}): Promise<void> {
  const { source, log, codec, status, metrics, signal } = deps;
  const logger = deps.logger.child({ source: 'oracle' });
  const newestTick = metrics.gauge('oracle_newest_tick_ms', 'Oracle time of the newest tick written');
  const ticker = createTickWriter({ log, codec, metrics });
  let newestMs = 0;
  const write = async (prices: readonly OraclePrice[]) => {
    const count = await ticker.write(prices);
    if (count === 0) return;
    for (const { timestampMs } of prices) newestMs = Math.max(newestMs, timestampMs);
    newestTick.set(newestMs);
    status.update({ last_event_ms: newestMs });
  };

  status.update({
    detail: source.description,
    shift_days: source.shiftDays,
    recorded_from_ms: source.recordedFromMs,
    phase: 'history',
  });
  const resume = await ticker.restore(source.hasEndedSeries === true ? 'all' : 'last minutes');
  const total = source.historyTotal(resume);
  if (total > 0) {
    const onRatio = (progress: number) => status.update({ progress });
    const progress = createProgress({ logger, source: 'oracle', unit: 'ticks', total, onRatio });
    let done = 0;
    for await (const prices of source.history(resume, signal)) {
      await write(prices);
      done += prices.length;
      progress.report(done);
    }
    if (signal.aborted) return;
    progress.finish();
  }
  status.update({ phase: 'live', progress: 1 });

  for await (const event of source.live(resume, signal)) {
    if (event.type === 'prices') await write(event.prices);
    else {
      logger[event.connected ? 'info' : 'warn']({ connected: event.connected }, event.detail);
      status.update({
        connected: event.connected,
        detail: `${source.description}: ${event.detail}`,
        shift_days: source.shiftDays,
      });
    }
  }
  // A recording that has ended has no age.
  if (!signal.aborted) newestTick.remove({});
  if (!signal.aborted && source.mode === 'live') throw new RetryableError('The oracle source ended unexpectedly');
}
