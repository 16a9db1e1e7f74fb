import pLimit from 'p-limit';
import { yieldToEventLoop } from '../../infra/event-loop.js';
import type { ChangeFeed } from '../catalog/change-feed.js';
import { backgroundThrottle, type YieldPolicy } from './background-throttle.js';
import {
  type CachedSeries,
  computeSeriesFromBuckets,
  computeSeriesFromEvents,
  readVersion,
  type SeriesDeps,
} from './cached-series.js';
import type { CurrentPnlFromPositions } from './current-pnl.js';
import { readEvents, versionOf } from './events.js';
import { type EventRow, firstEventTimeSql } from './series.sql.js';
import { covers, isRenewable, newestTimeOf, type SampleTimes, sumAt, type TimeGrid, timeGridFor } from './time-grid.js';

/** Cumulative PnL of a wallet at a time: base units, Unix seconds. */
export interface PnlPoint {
  readonly atS: number;
  readonly pnl: bigint;
}

/** Points counted back from the current minute, `stepS` apart; null: as many as the age of the wallet. */
export interface Period {
  readonly stepS: number;
  readonly points: number | null;
}

export interface PnlSeries {
  /** PnL of a wallet since its first event at the times of a period, the newest at current prices; null for a wallet without events. */
  readonly read: (wallet: string, period: Period) => Promise<readonly PnlPoint[] | null>;
  /** Precomputes the closed buckets of a wallet's series, unless they are cached. */
  readonly prefetch: (wallet: string, period: Period) => Promise<void>;
}

const MINUTE_S = 60;
/** Concurrent computations of series. */
const CONCURRENT_COMPUTATIONS = 4;
/** Number of events from which series are computed one at a time: a series of 100,000 positions needs 100 MB. */
const LARGE_WALLET_EVENTS = 3_000;
/** Up to this number, the events of a wallet with a cached series are read again to detect late ones; above it only their version. */
const REREAD_WALLET_EVENTS = 1_000;
/** Capacity of the cache in steps: about 16 MB. */
const MAX_CACHED_STEPS = 1_000_000;
/** Overhead of a cached series besides its steps, in steps. */
const SERIES_OVERHEAD_STEPS = 40;

/** All events of a wallet; null: too many; undefined: to be read when needed. */
type WalletEvents = readonly EventRow[] | null | undefined;

interface RequestedTimes {
  readonly sampleTimes: SampleTimes;
  /** Start of a grid that begins with the wallet's first event. */
  readonly sinceS: number | null;
}

/** A running computation. */
interface InFlightSeries {
  readonly timeGrid: TimeGrid;
  readonly series: Promise<StoredSeries>;
  /** True if a late event arrived that the result may lack. */
  isStale: boolean;
  /** True if it was started in the background. */
  readonly isPrefetch: boolean;
  /** True if a request waits for it. */
  isAwaited: boolean;
}

/** Closed buckets of a wallet's series. */
interface StoredSeries extends CachedSeries {
  readonly timeGrid: TimeGrid;
  /** Number of events of the wallet; infinite if too many. */
  readonly changes: number;
}

/**
 * Creates the reader. The closed buckets of a series stay valid as long as their grid, one to two hours, unless a late event changes them. They are cached, and a
 * request only reads the current PnL. In the last hour of a grid the next one is computed in the background.
 */
export function createPnlSeries(
  deps: SeriesDeps & {
    currentPnlFromPositions: CurrentPnlFromPositions;
    changes: ChangeFeed;
    nowMs: () => number;
  },
): PnlSeries {
  const { tables } = deps;
  const limit = pLimit(CONCURRENT_COMPUTATIONS);
  const largeLimit = pLimit(1);
  /** Background computations; requests do not wait behind them. */
  const prefetchLimit = pLimit(1);
  /** By wallet and period; the most recently used is last. */
  const cached = new Map<string, StoredSeries>();
  const inFlight = new Map<string, InFlightSeries>();
  let cachedSteps = 0;

  const weightOf = ({ steps }: StoredSeries): number => SERIES_OVERHEAD_STEPS + steps.bucketIndexes.length;
  const drop = (name: string) => {
    const series = cached.get(name);
    if (series !== undefined) cachedSteps -= weightOf(series);
    cached.delete(name);
  };
  const put = (name: string, series: StoredSeries) => {
    drop(name);
    cached.set(name, series);
    cachedSteps += weightOf(series);
    while (cachedSteps > MAX_CACHED_STEPS) drop(cached.keys().next().value as string);
  };
  deps.changes.subscribe(['fills', 'resolutions'], (ids, _source, sinceS) => {
    const isLate = (timeGrid: TimeGrid) => ids === null || sinceS <= newestTimeOf(timeGrid);
    for (const [name, { timeGrid }] of cached) if (isLate(timeGrid)) drop(name);
    for (const one of inFlight.values()) one.isStale ||= isLate(one.timeGrid);
  });

  /** Background computations run one at a time: a request for the last of them waits for all. */
  const isPrefetchAwaited = () => [...inFlight.values()].some(({ isPrefetch, isAwaited }) => isPrefetch && isAwaited);
  const compute = async (
    wallet: string,
    timeGrid: TimeGrid,
    known: WalletEvents,
    policy: YieldPolicy,
  ): Promise<StoredSeries> => {
    const events = known === undefined ? await readEvents(tables, wallet, LARGE_WALLET_EVENTS) : known;
    const result = await (events === null
      ? computeSeriesFromBuckets(deps, wallet, timeGrid, policy)
      : computeSeriesFromEvents(deps, wallet, timeGrid, events, policy));
    return { timeGrid, ...result, changes: events?.length ?? Number.POSITIVE_INFINITY };
  };
  /** The running computation of a series; starts one if there is none. */
  const computeShared = (
    name: string,
    wallet: string,
    timeGrid: TimeGrid,
    events: WalletEvents,
    isPrefetch: boolean,
  ): Promise<StoredSeries> => {
    const running = inFlight.get(name);
    if (running !== undefined && newestTimeOf(running.timeGrid) === newestTimeOf(timeGrid)) {
      running.isAwaited ||= !isPrefetch;
      return running.series;
    }
    const permits = isPrefetch ? prefetchLimit : events === null ? largeLimit : limit;
    const policy = isPrefetch ? backgroundThrottle(isPrefetchAwaited) : yieldToEventLoop;
    const computation: InFlightSeries = {
      timeGrid,
      series: permits(() => compute(wallet, timeGrid, events, policy)),
      isStale: false,
      isPrefetch,
      isAwaited: !isPrefetch,
    };
    inFlight.set(name, computation);
    return computation.series
      .then((series) => {
        if (!computation.isStale) put(name, series);
        return series;
      })
      .finally(() => {
        if (inFlight.get(name) === computation) inFlight.delete(name);
      });
  };
  /** Times of a period; null for a wallet without events. */
  const requestedTimesOf = async (wallet: string, { stepS, points }: Period): Promise<RequestedTimes | null> => {
    const endS = Math.floor(deps.nowMs() / 1000 / MINUTE_S) * MINUTE_S;
    if (points !== null) return { sampleTimes: { startS: endS - (points - 1) * stepS, stepS, points }, sinceS: null };
    const [row] = await tables.rows<{ first: number | string }>(firstEventTimeSql(wallet));
    if (row === undefined) return null;
    const sinceS = Number(row.first);
    const count = Math.max(0, Math.floor((endS - sinceS) / stepS)) + 1;
    return { sampleTimes: { startS: endS - (count - 1) * stepS, stepS, points: count }, sinceS };
  };
  const nameOf = (wallet: string, { stepS, points }: Period): string => `${wallet} ${stepS} ${points}`;
  const cachedFor = (name: string, grid: SampleTimes): StoredSeries | null => {
    const series = cached.get(name);
    if (series === undefined || !covers(series.timeGrid, grid)) return null;
    cached.delete(name);
    cached.set(name, series);
    return series;
  };

  const isLarge = (series: StoredSeries | null | undefined): boolean => series?.changes === Number.POSITIVE_INFINITY;
  const eventsOf = async (name: string, wallet: string): Promise<readonly EventRow[] | null> =>
    isLarge(cached.get(name)) ? null : limit(() => readEvents(tables, wallet, LARGE_WALLET_EVENTS));
  /** Like `read`, for cached closed buckets; undefined if a late event changed them. */
  const readFromCache = async (
    name: string,
    wallet: string,
    next: TimeGrid,
    grid: SampleTimes,
    series: StoredSeries,
  ) => {
    const [now, { version }] = await Promise.all([
      deps.currentPnlFromPositions(wallet),
      readVersion(tables, wallet, series.timeGrid),
    ]);
    if (now === null) return null;
    if (series.version !== version) return undefined;
    // A failed background refresh is not an error: the next request after the grid expires reports it.
    if (isRenewable(series.timeGrid, grid) && !inFlight.has(name))
      computeShared(name, wallet, next, isLarge(series) ? null : undefined, true).catch(() => undefined);
    return { series, now };
  };
  /** Closed buckets of a wallet's series at the times of a grid, and its current PnL; null for a wallet without events. */
  const read = async (wallet: string, period: Period, { sampleTimes, sinceS }: RequestedTimes) => {
    const name = nameOf(wallet, period);
    await deps.changes.sync();
    const next = timeGridFor(sampleTimes, sinceS);
    const known = cachedFor(name, sampleTimes);
    if (known !== null && known.changes > REREAD_WALLET_EVENTS) {
      const found = await readFromCache(name, wallet, next, sampleTimes, known);
      if (found !== undefined) return found;
    }
    const [events, now] = await Promise.all([eventsOf(name, wallet), deps.currentPnlFromPositions(wallet)]);
    if (events?.length === 0 || now === null) return null;
    if (known === null || events === null || known.version !== versionOf(events, known.timeGrid))
      return { series: await computeShared(name, wallet, next, events, false), now };
    // Few events are in memory already: start at once instead of after other background work.
    if (isRenewable(known.timeGrid, sampleTimes) && !inFlight.has(name))
      computeShared(name, wallet, next, events, false).catch(() => undefined);
    return { series: known, now };
  };

  return {
    async read(wallet, period) {
      const requested = await requestedTimesOf(wallet, period);
      const found = requested === null ? null : await read(wallet, period, requested);
      if (requested === null || found === null) return null;
      const { sampleTimes } = requested;
      const { series, now } = found;
      return Array.from({ length: sampleTimes.points }, (_, i) => {
        const atS = sampleTimes.startS + i * sampleTimes.stepS;
        return { atS, pnl: i === sampleTimes.points - 1 ? now : sumAt(series.steps, series.timeGrid, atS) };
      });
    },
    async prefetch(wallet, period) {
      const requested = await requestedTimesOf(wallet, period);
      if (requested === null) return;
      const name = nameOf(wallet, period);
      await deps.changes.sync();
      const known = cachedFor(name, requested.sampleTimes);
      if (known !== null && !isRenewable(known.timeGrid, requested.sampleTimes)) return;
      const running = inFlight.get(name);
      if (running !== undefined) {
        await running.series;
        return;
      }
      const timeGrid = timeGridFor(requested.sampleTimes, requested.sinceS);
      const isTooMany = isLarge(known) || (await readVersion(tables, wallet, timeGrid)).changes > LARGE_WALLET_EVENTS;
      await computeShared(name, wallet, timeGrid, isTooMany ? null : await eventsOf(name, wallet), true);
    },
  };
}
