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

/** A wallet's total profit at a moment: base units, Unix seconds. */
export interface PnlPoint {
  readonly atS: number;
  readonly pnl: bigint;
}

/** Moments counted back from the minute of now, `stepS` apart; null: as many as the wallet is old. */
export interface Period {
  readonly stepS: number;
  readonly points: number | null;
}

export interface PnlSeries {
  /** The profit of a wallet over its whole life at the moments of a period, the newest at the prices of now; null for a wallet that never did anything. */
  readonly read: (wallet: string, period: Period) => Promise<readonly PnlPoint[] | null>;
  /** Puts together what is over of a series, so that who asks for it need not wait; nothing where that is held. */
  readonly prefetch: (wallet: string, period: Period) => Promise<void>;
}

const MINUTE_S = 60;
/** Series put together at once. */
const CONCURRENT_COMPUTATIONS = 4;
/** Changes of positions. With 100,000 positions a series takes some 100 MB while it is put together: those of large wallets are made one by one. */
const LARGE_WALLET_EVENTS = 3_000;
/** Where what is over of a series is held, so many are read to see whether something came in late; of more, their version alone. */
const REREAD_WALLET_EVENTS = 1_000;
/** Steps of all parts together: some 16 MB. */
const MAX_CACHED_STEPS = 1_000_000;
/** What a part takes besides its steps, in steps. */
const SERIES_OVERHEAD_STEPS = 40;

/** All changes of a wallet; null where they are many, undefined where they are to be read when they are needed. */
type WalletEvents = readonly EventRow[] | null | undefined;

interface RequestedTimes {
  readonly sampleTimes: SampleTimes;
  /** Of a grid that goes back to the wallet's first moment. */
  readonly sinceS: number | null;
}

/** A part that is being made. */
interface InFlightSeries {
  readonly timeGrid: TimeGrid;
  readonly series: Promise<StoredSeries>;
  /** Whether something came in that it may lack. */
  isStale: boolean;
  /** Whether it was begun beside the answers. */
  readonly isPrefetch: boolean;
  /** Whether an answer waits for it. */
  isAwaited: boolean;
}

/** What is over of a wallet's series. */
interface StoredSeries extends CachedSeries {
  readonly timeGrid: TimeGrid;
  /** Of the wallet; infinite where they are many. */
  readonly changes: number;
}

/**
 * What is over of a series stays as it is while its frame serves, for an hour or two, unless something older comes in late: it is held, and an answer reads what
 * the wallet has now and nothing else. In the last hour of a part the next one is made beside the answers.
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
  /** What is made ahead of questions: answers do not wait behind it. */
  const prefetchLimit = pLimit(1);
  /** By wallet and period; the one used last comes last. */
  const cached = new Map<string, StoredSeries>();
  const inFlight = new Map<string, InFlightSeries>();
  let cachedSteps = 0;

  const weightOf = ({ steps }: StoredSeries): number => SERIES_OVERHEAD_STEPS + steps.bucketIndexes.length;
  const drop = (name: string) => {
    const part = cached.get(name);
    if (part !== undefined) cachedSteps -= weightOf(part);
    cached.delete(name);
  };
  const put = (name: string, part: StoredSeries) => {
    drop(name);
    cached.set(name, part);
    cachedSteps += weightOf(part);
    while (cachedSteps > MAX_CACHED_STEPS) drop(cached.keys().next().value as string);
  };
  deps.changes.subscribe(['fills', 'resolutions'], (ids, _source, sinceS) => {
    const isLate = (frame: TimeGrid) => ids === null || sinceS <= newestTimeOf(frame);
    for (const [name, { timeGrid }] of cached) if (isLate(timeGrid)) drop(name);
    for (const one of inFlight.values()) one.isStale ||= isLate(one.timeGrid);
  });

  /** What is made ahead is made one by one: who waits for the last of them waits for all. */
  const isPrefetchAwaited = () => [...inFlight.values()].some(({ isPrefetch, isAwaited }) => isPrefetch && isAwaited);
  const compute = async (
    wallet: string,
    timeGrid: TimeGrid,
    known: WalletEvents,
    pace: YieldPolicy,
  ): Promise<StoredSeries> => {
    const events = known === undefined ? await readEvents(tables, wallet, LARGE_WALLET_EVENTS) : known;
    const made = await (events === null
      ? computeSeriesFromBuckets(deps, wallet, timeGrid, pace)
      : computeSeriesFromEvents(deps, wallet, timeGrid, events, pace));
    return { timeGrid, ...made, changes: events?.length ?? Number.POSITIVE_INFINITY };
  };
  /** The part that is being made, begun here where there is none. */
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
    const pace = isPrefetch ? backgroundThrottle(isPrefetchAwaited) : yieldToEventLoop;
    const one: InFlightSeries = {
      timeGrid,
      series: permits(() => compute(wallet, timeGrid, events, pace)),
      isStale: false,
      isPrefetch,
      isAwaited: !isPrefetch,
    };
    inFlight.set(name, one);
    return one.series
      .then((part) => {
        if (!one.isStale) put(name, part);
        return part;
      })
      .finally(() => {
        if (inFlight.get(name) === one) inFlight.delete(name);
      });
  };
  /** null for a wallet that never did anything. */
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
    const part = cached.get(name);
    if (part === undefined || !covers(part.timeGrid, grid)) return null;
    cached.delete(name);
    cached.set(name, part);
    return part;
  };

  const isLarge = (part: StoredSeries | null | undefined): boolean => part?.changes === Number.POSITIVE_INFINITY;
  const eventsOf = async (name: string, wallet: string): Promise<readonly EventRow[] | null> =>
    isLarge(cached.get(name)) ? null : limit(() => readEvents(tables, wallet, LARGE_WALLET_EVENTS));
  /** As `read` has it, where what is over is held and nothing came in late; undefined where something did. */
  const readFromCache = async (name: string, wallet: string, next: TimeGrid, grid: SampleTimes, part: StoredSeries) => {
    const [now, { version }] = await Promise.all([
      deps.currentPnlFromPositions(wallet),
      readVersion(tables, wallet, part.timeGrid),
    ]);
    if (now === null) return null;
    if (part.version !== version) return undefined;
    // Whoever asks when this one no longer serves hears of a failure.
    if (isRenewable(part.timeGrid, grid) && !inFlight.has(name))
      computeShared(name, wallet, next, isLarge(part) ? null : undefined, true).catch(() => undefined);
    return { part, now };
  };
  /** What is over of a wallet's series at the moments of a grid, and what it made up to now; null for a wallet that never did anything. */
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
      return { part: await computeShared(name, wallet, next, events, false), now };
    // Changes that are few are at hand: they are not kept until others are done.
    if (isRenewable(known.timeGrid, sampleTimes) && !inFlight.has(name))
      computeShared(name, wallet, next, events, false).catch(() => undefined);
    return { part: known, now };
  };

  return {
    async read(wallet, period) {
      const moments = await requestedTimesOf(wallet, period);
      const found = moments === null ? null : await read(wallet, period, moments);
      if (moments === null || found === null) return null;
      const { sampleTimes } = moments;
      const { part, now } = found;
      return Array.from({ length: sampleTimes.points }, (_, i) => {
        const atS = sampleTimes.startS + i * sampleTimes.stepS;
        return { atS, pnl: i === sampleTimes.points - 1 ? now : sumAt(part.steps, part.timeGrid, atS) };
      });
    },
    async prefetch(wallet, period) {
      const moments = await requestedTimesOf(wallet, period);
      if (moments === null) return;
      const name = nameOf(wallet, period);
      await deps.changes.sync();
      const known = cachedFor(name, moments.sampleTimes);
      if (known !== null && !isRenewable(known.timeGrid, moments.sampleTimes)) return;
      const running = inFlight.get(name);
      if (running !== undefined) {
        await running.series;
        return;
      }
      const frame = timeGridFor(moments.sampleTimes, moments.sinceS);
      const isMany = isLarge(known) || (await readVersion(tables, wallet, frame)).changes > LARGE_WALLET_EVENTS;
      await computeShared(name, wallet, frame, isMany ? null : await eventsOf(name, wallet), true);
    },
  };
}
