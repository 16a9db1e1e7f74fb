import { RetryableError } from '../../../infra/errors.js';
import type { Logger } from '../../../infra/telemetry/logger.js';
import type { Metrics } from '../../../infra/telemetry/metrics.js';
import type { Codec } from '../../../schemas/codec.js';
import { consumerGroups } from '../../../schemas/consumer-groups.js';
import { venueTokenPairs } from '../../../schemas/primitives/venue-tokens.js';
import { topics } from '../../../schemas/topics.js';
import { tryDecode } from '../../../schemas/try-decode.js';
import type { SourceLog } from '../../shared/owned-log.js';
import { pause } from '../../shared/pause.js';
import { GammaRejectedError } from '../gamma/client.js';
import { GammaShapeError } from '../gamma/pages.js';
import { createHydrationCounts, type HydrationCounts } from '../hydration-counts.js';
import { type CatalogSource, type MarketRequest, maxFindIds } from '../source.js';
import type { CatalogWriter } from '../writer.js';
import { kindsWithMarketReference, marketReferenceOf } from './market-reference.js';
import { createMissingMarketQueue, keyOf, type MissingChange } from './missing-market-queue.js';

const CHAIN = topics.chainFinal.name;
const MISSING = topics.catalogMissing.name;
/** Attempts of a request before it is divided. */
const WHOLE_ATTEMPTS = 3;
const GROUP = consumerGroups.onDemandMarkets;

export interface OnDemandTimes {
  /** A request below the maximum size waits this long for more ids. */
  readonly lingerMs: number;
  /** Interval between two checks of the queue. */
  readonly pollMs: number;
  /** Interval between two offset commits. */
  readonly commitMs: number;
  /** Delay after the first failed request; doubles up to `maxRetryDelayMs`. */
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
 * Looks up markets that final chain events name and the catalog lacks, by condition or outcome token: batches of ids, one request at a
 * time. Ids that the service does not have are written to `catalog.missing` and requested again later. The committed offset in
 * chain.final never passes an id without a result, so a restart neither loses an id nor repeats a completed lookup.
 */
export function createOnDemandMarkets(deps: {
  find: NonNullable<CatalogSource['find']>;
  writer: Pick<CatalogWriter, 'write' | 'hasMarket'>;
  log: SourceLog;
  codec: Codec;
  metrics: Metrics;
  counts?: HydrationCounts;
  logger: Logger;
  /** Human-readable counts of queued and missing ids. */
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
    'Ids of the chain whose market was not in the catalog',
    ['by'],
  );
  const requestedTotal = metrics.counter(
    'catalog_on_demand_requested_total',
    'Ids requested, for the first time or again',
    ['by'],
  );
  const foundTotal = metrics.counter('catalog_on_demand_found_total', 'Requested ids whose market was found', ['by']);
  const droppedTotal = metrics.counter(
    'catalog_on_demand_dropped_total',
    'Missing ids that are not requested again because the limit of missing ids is reached',
  );
  const queuedGauge = metrics.gauge('catalog_on_demand_queued', 'Ids of the chain that wait for their first lookup');
  const missingGauge = metrics.gauge('catalog_on_demand_missing', 'Ids of the chain that the service did not have');
  const lag = metrics.gauge('catalog_on_demand_lag_records', 'Records of chain.final whose ids wait for their lookup');
  const unreadable = metrics.counter('catalog_on_demand_unreadable_total', 'Unreadable records that were skipped');
  const skipUnreadable = (reason: string) => {
    unreadable.inc();
    logger.warn({ reason }, 'unreadable record skipped');
  };
  const queue = createMissingMarketQueue({
    hasMarket: writer.hasMarket,
    tokensOf: (condition) => venueTokenPairs(condition).flat(),
    maxRequestIds: maxFindIds,
    lingerMs: times.lingerMs,
  });
  let readTo = 0;
  let committed = -1;

  const report = () => {
    queuedGauge.set(queue.queued);
    missingGauge.set(queue.missing);
    onState?.(`${queue.queued} market lookups queued, ${queue.missing} ids without a market`);
  };
  const commit = async () => {
    const nextOffset = queue.oldestOffset() ?? readTo;
    lag.set(Math.max(0, (await log.bounds(CHAIN, 0)).next - nextOffset));
    if (nextOffset === committed) return;
    await log.commit(GROUP, [{ topic: CHAIN, partition: 0, nextOffset }]);
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
    const [position] = await log.committed(GROUP, CHAIN);
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

  const complete = async (lookup: MarketRequest): Promise<number> => {
    const { changes, found, dropped } = queue.complete(lookup, nowMs());
    if (found > 0) foundTotal.inc({ by: lookup.by }, found);
    if (dropped > 0) droppedTotal.inc({}, dropped);
    if (changes.length > 0) await log.append(MISSING, changes.map(encode));
    return found;
  };
  /** Requests the markets, writes the rows and updates the queue. Rejects with retryable errors; a rejected request is split in halves. */
  const request = async (lookup: MarketRequest, signal: AbortSignal): Promise<void> => {
    requestedTotal.inc({ by: lookup.by }, lookup.ids.length);
    let responded = false;
    try {
      for await (const rows of find(lookup, signal)) await writer.write(rows);
      responded = true;
    } catch (error) {
      if (!(error instanceof GammaRejectedError)) throw error;
      counts.hydration_failures++;
      logger.warn({ err: error, ids: lookup.ids.length }, 'the catalog service rejected a lookup');
      // One id that the service rejects must not block the lookup of the others.
      if (lookup.ids.length > 1) {
        const half = lookup.ids.length >> 1;
        await request({ ...lookup, ids: lookup.ids.slice(0, half) }, signal);
        return request({ ...lookup, ids: lookup.ids.slice(half) }, signal);
      }
    }
    if ((await complete(lookup)) > 0) counts.gamma_hydration_success++;
    else if (responded) counts.gamma_hydration_no_markets++;
  };
  const encode = ({ key, value }: MissingChange) => ({
    key,
    value: value === null ? null : codec.encode('catalog_missing', value),
    timestampMs: nowMs(),
  });

  /**
   * One request after the other. A request that keeps failing is divided; an id that fails alone is left out, and counts as missing, to be
   * requested later, once another request has succeeded: until then the service may be unreachable for all.
   */
  const requestAll = async (signal: AbortSignal) => {
    let failures = 0;
    let limit = maxFindIds;
    let commitAtMs = nowMs();
    const failed = new Map<string, MarketRequest>();
    while (!signal.aborted) {
      const lookup = queue.nextRequest(nowMs(), { limit, skip: failed });
      if (lookup !== null) {
        if (failures > 0) counts.hydration_retries++;
        try {
          await request(lookup, signal);
          failures = 0;
          limit = Math.min(maxFindIds, limit * 2);
          for (const one of failed.values()) await complete(one);
          failed.clear();
        } catch (error) {
          if (signal.aborted) break;
          if (!(error instanceof RetryableError || error instanceof GammaShapeError)) throw error;
          counts.hydration_failures++;
          if (error instanceof GammaShapeError) counts.gamma_hydration_parse_errors++;
          const [id = ''] = lookup.ids;
          const isDivided = failures >= WHOLE_ATTEMPTS - 1 && lookup.ids.length > 1;
          if (isDivided) limit = lookup.ids.length >> 1;
          else if (lookup.ids.length === 1) failed.set(keyOf(lookup.by, id), lookup);
          const grown = times.retryDelayMs * 2 ** Math.min(failures++, 20);
          const waitMs = isDivided ? times.retryDelayMs : Math.min(times.maxRetryDelayMs, grown);
          logger.warn({ err: error, waitMs, ids: lookup.ids.length }, 'market lookup failed, retrying');
          await pause(waitMs, signal);
        }
      } else failed.clear();
      report();
      if (nowMs() >= commitAtMs) {
        await commit();
        commitAtMs = nowMs() + times.commitMs;
      }
      if (lookup === null) await pause(times.pollMs, signal);
    }
    await commit();
  };

  return {
    /** Registers the tokens of a market in the catalog. */
    addTokens: queue.addTokens,
    /** Runs until the signal. The catalog writer must be restored before. Rejects with the first error that is not an error of the service. */
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
    // The decoder reports the reason.
    return true;
  }
}
