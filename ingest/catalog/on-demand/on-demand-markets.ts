import { RetryableError } from '../../../infra/errors.js';
import type { Logger } from '../../../infra/telemetry/logger.js';
import type { Metrics } from '../../../infra/telemetry/metrics.js';
import type { Codec } from '../../../schemas/codec.js';
import { tokenPair } from '../../../schemas/primitives/ids.js';
import { topics } from '../../../schemas/topics.js';
import { tryDecode } from '../../../schemas/try-decode.js';
import { addresses } from '../../chain/contracts.js';
import type { SourceLog } from '../../shared/owned-log.js';
import { pause } from '../../shared/pause.js';
import { GammaRejectedError } from '../gamma/client.js';
import { GammaShapeError } from '../gamma/pages.js';
import { createHydrationCounts, type HydrationCounts } from '../hydration-counts.js';
import { type CatalogSource, type MarketRequest, maxFindIds } from '../source.js';
import type { CatalogWriter } from '../writer.js';
import { kindsWithMarketReference, marketReferenceOf } from './market-reference.js';
import { createMissingMarketQueue, type MissingChange } from './missing-market-queue.js';

const CHAIN = topics.chainFinal.name;
const MISSING = topics.catalogMissing.name;
/** Whose position in chain.final says up to where every id has been answered. */
export const ON_DEMAND_GROUP = 'ingest-catalog-wanted';

export interface OnDemandTimes {
  /** A question that is not full waits this long for more ids. */
  readonly lingerMs: number;
  /** Between two looks for something to ask. */
  readonly pollMs: number;
  /** Between two commits of the position. */
  readonly commitMs: number;
  /** First pause after a question that failed; doubled up to the longest. */
  readonly retryDelayMs: number;
  readonly maxRetryDelayMs: number;
}

const defaults: OnDemandTimes = {
  lingerMs: 2_000,
  pollMs: 250,
  commitMs: 5_000,
  retryDelayMs: 5_000,
  maxRetryDelayMs: 300_000,
};

/**
 * The catalogue on demand: conditions and outcome tokens of final facts whose market the catalogue lacks are asked for, in full questions, one
 * at a time. What the service does not have is remembered in a topic of its own and asked for again later. The committed position in
 * chain.final never passes an id that has no answer yet, so a restart neither loses one nor asks for what was answered.
 */
export function createOnDemandMarkets(deps: {
  find: NonNullable<CatalogSource['find']>;
  writer: Pick<CatalogWriter, 'write' | 'hasMarket'>;
  log: SourceLog;
  codec: Codec;
  metrics: Metrics;
  counts?: HydrationCounts;
  logger: Logger;
  /** For people: how many wait and are missing. */
  onState?: (detail: string) => void;
  times?: Partial<OnDemandTimes>;
  nowMs?: () => number;
}) {
  const {
    find,
    writer,
    log,
    codec,
    metrics,
    logger,
    onState,
    nowMs = Date.now,
    counts = createHydrationCounts(),
  } = deps;
  const times = { ...defaults, ...deps.times };
  const enqueuedTotal = metrics.counter(
    'catalog_on_demand_ids_total',
    'Ids of the chain whose market the catalogue lacked',
    ['by'],
  );
  const requestedTotal = metrics.counter(
    'catalog_on_demand_requested_total',
    'Ids asked for, again or for the first time',
    ['by'],
  );
  const foundTotal = metrics.counter('catalog_on_demand_found_total', 'Ids asked for whose market came', ['by']);
  const droppedTotal = metrics.counter(
    'catalog_on_demand_dropped_total',
    'Missing ids that are not asked for again: too many',
  );
  const queuedGauge = metrics.gauge('catalog_on_demand_queued', 'Ids of the chain that wait for their first answer');
  const missingGauge = metrics.gauge('catalog_on_demand_missing', 'Ids of the chain that the service did not have');
  const lag = metrics.gauge('catalog_on_demand_lag_records', 'Records of chain.final whose ids have no answer yet');
  const unreadable = metrics.counter('catalog_on_demand_unreadable_total', 'Records passed over as unreadable');
  const skipUnreadable = (reason: string) => {
    unreadable.inc();
    logger.warn({ reason }, 'record passed over');
  };
  const queue = createMissingMarketQueue({
    hasMarket: writer.hasMarket,
    tokensOf: (condition) => [
      ...tokenPair(addresses.usdcE, condition),
      ...tokenPair(addresses.wrappedCollateral, condition),
    ],
    maxRequestIds: maxFindIds,
    lingerMs: times.lingerMs,
  });
  let readTo = 0;
  let committed = -1;

  const report = () => {
    queuedGauge.set(queue.queued);
    missingGauge.set(queue.missing);
    onState?.(`${queue.queued} markets to ask for, ${queue.missing} ids without a market`);
  };
  const commit = async () => {
    const nextOffset = queue.oldestOffset() ?? readTo;
    lag.set(Math.max(0, (await log.bounds(CHAIN, 0)).next - nextOffset));
    if (nextOffset === committed) return;
    await log.commit(ON_DEMAND_GROUP, [{ topic: CHAIN, partition: 0, nextOffset }]);
    committed = nextOffset;
  };
  const restore = async () => {
    for await (const { records } of log.read({ topic: MISSING, partition: 0, from: 'earliest', follow: false })) {
      const last = new Map(records.map(({ key, value }) => [key, value]));
      for (const [key, value] of last) {
        const event = value === null ? undefined : tryDecode(codec, value, skipUnreadable);
        if (event?.kind === 'catalog_missing') queue.restore(event.value);
        else queue.remove(key);
      }
    }
    const [position] = await log.committed(ON_DEMAND_GROUP, CHAIN);
    readTo = position?.nextOffset ?? (await log.bounds(CHAIN, 0)).earliest;
    committed = position === undefined ? -1 : readTo;
  };

  const read = async (signal: AbortSignal) => {
    for await (const batch of log.read({
      topic: CHAIN,
      partition: 0,
      from: { offset: readTo },
      follow: true,
      signal,
    })) {
      for (const { value, offset } of batch.records) {
        if (value === null || !needsDecoding(codec, value)) continue;
        const event = tryDecode(codec, value, skipUnreadable);
        const id = event === undefined ? null : marketReferenceOf(event);
        if (id === null || !queue.enqueue(id, offset, nowMs())) continue;
        enqueuedTotal.inc({ by: id.by });
        counts.hydration_queued++;
      }
      readTo = batch.nextOffset;
      while (queue.full && !signal.aborted) await pause(times.pollMs, signal);
      if (signal.aborted) return;
    }
  };

  /** Asks, writes the answer, and returns the ids that were answered. Rejects with what may pass. */
  const request = async (wanted: MarketRequest, signal: AbortSignal): Promise<void> => {
    requestedTotal.inc({ by: wanted.by }, wanted.ids.length);
    let responded = false;
    try {
      const rows = await find(wanted, signal);
      responded = true;
      await writer.write(rows);
    } catch (error) {
      if (!(error instanceof GammaRejectedError)) throw error;
      counts.hydration_failures++;
      logger.warn({ err: error, ids: wanted.ids.length }, 'the catalogue service refused a question');
      // One id it cannot bear must not hide the others.
      if (wanted.ids.length > 1) {
        const half = wanted.ids.length >> 1;
        await request({ ...wanted, ids: wanted.ids.slice(0, half) }, signal);
        return request({ ...wanted, ids: wanted.ids.slice(half) }, signal);
      }
    }
    const { changes, found, dropped } = queue.complete(wanted, nowMs());
    if (found > 0) counts.gamma_hydration_success++;
    else if (responded) counts.gamma_hydration_no_markets++;
    if (found > 0) foundTotal.inc({ by: wanted.by }, found);
    if (dropped > 0) droppedTotal.inc({}, dropped);
    if (changes.length > 0) await log.append(MISSING, changes.map(encode));
  };
  const encode = ({ key, value }: MissingChange) => ({
    key,
    value: value === null ? null : codec.encode('catalog_missing', value),
    timestampMs: nowMs(),
  });

  const requestAll = async (signal: AbortSignal) => {
    let failures = 0;
    let commitAtMs = nowMs();
    while (!signal.aborted) {
      const wanted = queue.nextRequest(nowMs());
      if (wanted !== null) {
        if (failures > 0) counts.hydration_retries++;
        try {
          await request(wanted, signal);
          failures = 0;
        } catch (error) {
          if (signal.aborted) break;
          if (!(error instanceof RetryableError || error instanceof GammaShapeError)) throw error;
          counts.hydration_failures++;
          if (error instanceof GammaShapeError) counts.gamma_hydration_parse_errors++;
          const waitMs = Math.min(times.maxRetryDelayMs, times.retryDelayMs * 2 ** Math.min(failures++, 20));
          logger.warn({ err: error, waitMs }, 'could not ask for markets');
          await pause(waitMs, signal);
        }
      }
      report();
      if (nowMs() >= commitAtMs) {
        await commit();
        commitAtMs = nowMs() + times.commitMs;
      }
      if (wanted === null) await pause(times.pollMs, signal);
    }
    await commit();
  };

  return {
    /** Tell the tokens of a market that is in the catalogue. */
    addTokens: queue.addTokens,
    /** Until the signal. The catalogue has to be restored before. Rejects with the first failure that is not the service's. */
    async run(signal: AbortSignal): Promise<void> {
      await restore();
      report();
      const stop = new AbortController();
      const both = AbortSignal.any([signal, stop.signal]);
      const loops = [read(both), requestAll(both)];
      try {
        await Promise.all(loops);
      } finally {
        stop.abort();
        await Promise.allSettled(loops);
      }
    },
  };
}

function needsDecoding(codec: Codec, bytes: Buffer): boolean {
  try {
    return kindsWithMarketReference.has(codec.kindOf(bytes));
  } catch {
    // The decoder says why.
    return true;
  }
}
