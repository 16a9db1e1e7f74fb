import { RetryableError } from '../../infra/errors.js';
import type { Logger } from '../../infra/telemetry/logger.js';
import type { Metrics } from '../../infra/telemetry/metrics.js';
import { createOnUnreadable } from '../../infra/telemetry/unreadable-records.js';
import type { Codec } from '../../schemas/codec.js';
import type { DeadLetters } from '../shared/dead-letters.js';
import type { SourceLog } from '../shared/owned-log.js';
import type { SourceStatusWriter } from '../shared/source-status.js';
import { createBlockCache } from './block-cache.js';
import { createBlockEncoder } from './block-records.js';
import { createChainMetrics } from './chain-metrics.js';
import type { ChainDecoder } from './decoder.js';
import { createFinalWriter } from './final-writer.js';
import type { RereadReport } from './head-gap.js';
import { createHeadTracker, type HeadTrackerOptions } from './head-tracker.js';
import type { ChainSource } from './source.js';

/** Maximum number of records in encoded blocks that are cached between head and finality: about 15 MB. */
const CACHE_RECORDS = 50_000;

/**
 * Chain ingest: writes the live head to chain.head and, concurrently, the history and finalised blocks to chain.final. Resolves after the
 * signal once pending writes are durable; rejects with the first failure (after stopping the other half). Does not close the source.
 */
export async function runChain(deps: {
  source: ChainSource;
  log: SourceLog;
  codec: Codec;
  decoder: ChainDecoder;
  deadLetters: DeadLetters;
  status: SourceStatusWriter;
  metrics: Metrics;
  logger: Logger;
  signal: AbortSignal;
  now?: () => number;
  headOptions?: Partial<HeadTrackerOptions>;
}): Promise<void> {
  const { source, log, codec, decoder, deadLetters, status } = deps;
  const now = deps.now ?? Date.now;
  const logger = deps.logger.child({ source: 'chain' });
  const metrics = createChainMetrics(deps.metrics);
  const stop = new AbortController();
  const signal = AbortSignal.any([deps.signal, stop.signal]);
  const cache = createBlockCache({ maxRecords: CACHE_RECORDS });
  const encodeBlock = createBlockEncoder({ codec, decoder });
  const origin = source.mode === 'live' ? 'polygon-rpc' : 'polygon-recorded';
  const onUnreadable = createOnUnreadable({ metrics: deps.metrics, logger });
  const shared = { log, codec, encodeBlock, cache, deadLetters, metrics, logger, origin, onUnreadable };
  const onPendingCount = (pending: number) => status.updateDeferred({ pending });
  const reread: RereadReport = {
    begin(from_block, to_block) {
      status.updateDeferred({ rereading: { from_block, to_block, at_ms: now() } });
      return status.flush();
    },
    end(from_block, to_block) {
      const last = status.current.reread;
      // The rest of a range whose reading failed or was interrupted.
      const first = last !== null && last.to_block + 1 === from_block ? last.from_block : from_block;
      const range = to_block < from_block ? last : { from_block: first, to_block, at_ms: now() };
      status.update({ reread: range, rereading: null });
    },
  };
  const tracker = createHeadTracker({
    ...shared,
    source,
    decoder,
    signal,
    now,
    onPendingCount,
    reread,
    onGap: (from_block, to_block) => {
      status.update({ gap: { from_block, to_block, at_ms: now() } });
      // A restart after the next block would not find the gap again.
      return status.flush();
    },
    options: deps.headOptions,
  });
  const final = createFinalWriter({
    ...shared,
    source,
    onProgress: (progress) => status.update({ progress }),
    onHistoryDone: () => {
      status.update({ phase: 'live', progress: 1 });
      logger.info({ written: final.written }, 'history is complete');
    },
  });

  status.update({
    detail: source.description,
    shift_days: source.shiftDays,
    recorded_from_ms: source.recordedFromMs,
    phase: 'history',
  });
  await tracker.recover();
  const interrupted = status.current.rereading;
  if (interrupted !== null)
    reread.end(interrupted.from_block, Math.min(interrupted.to_block, tracker.head ?? Number.NEGATIVE_INFINITY));
  status.update({ head: tracker.head });

  const live = async () => {
    for await (const event of source.live(signal)) {
      if (signal.aborted) break;
      switch (event.type) {
        case 'pending':
          tracker.onPending(event.transaction, event.seenAtMs);
          break;
        case 'head':
          tracker.onHead(event.block, event.seenAtMs);
          final.onHead(event.block.number);
          metrics.lastEventMs.set(event.seenAtMs);
          status.update({ head: event.block.number, last_event_ms: event.seenAtMs });
          break;
        case 'finalized':
          tracker.onFinalized(event.number, event.hash);
          final.onFinalized(event.number, event.hash);
          status.update({ finalized: event.number });
          break;
        case 'connected':
          logger[event.connected ? 'info' : 'warn']({ connected: event.connected }, event.detail);
          status.update({ connected: event.connected });
          break;
      }
    }
    // A recording that has ended has no age.
    if (!signal.aborted) metrics.lastEventMs.remove({});
    await tracker.idle();
    if (!signal.aborted && source.mode === 'live') throw new RetryableError('The chain source ended unexpectedly');
  };

  const parts = [live(), final.run(signal)];
  try {
    await Promise.race([Promise.all(parts), tracker.failed]);
  } catch (error) {
    // Stopping aborts requests in flight; their blocks are read again at the next start.
    if (!deps.signal.aborted) throw error;
  } finally {
    stop.abort();
    await Promise.allSettled(parts);
    await tracker.idle().catch((error: unknown) => {
      if (!deps.signal.aborted) logger.warn({ err: error }, 'the head tracker did not drain');
    });
  }
}
