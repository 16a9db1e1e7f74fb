import { seriesSlugOf, tagsOfMarket } from './series.js';
import type { GammaObject, RecordedCatalog, RecordedMarket } from './types.js';

/** Fields of a recorded object that depend on the market's outcome; omitted while the market is open. */
const FINAL_ONLY = [
  'closedTime',
  'umaEndDate',
  'umaResolutionStatus',
  'lastTradePrice',
  'bestBid',
  'bestAsk',
  'spread',
  'competitive',
  'oneHourPriceChange',
  'oneDayPriceChange',
] as const;
const VOLUMES = [
  'volume24hr',
  'volume1wk',
  'volume1mo',
  'volume1yr',
  'volumeNum',
  'volumeClob',
  'volume24hrClob',
  'volume1wkClob',
  'volume1moClob',
  'volume1yrClob',
] as const;

const iso = (timeS: number): string => new Date(timeS * 1000).toISOString().replace('.000Z', 'Z');

/** Whether the market is closed in the catalog at `nowMs`: after its resolution on chain or, without one, after the end of the window. */
function isClosedAt(market: RecordedMarket, nowMs: number): boolean {
  const closedS = market.resolvedS ?? market.endS;
  return closedS !== null && nowMs >= closedS * 1000;
}

/** Whether the catalog contains the market at `nowMs`. */
export function existsAt(market: RecordedMarket, nowMs: number): boolean {
  return market.createdS === null || nowMs >= market.createdS * 1000;
}

function pricesAt(market: RecordedMarket, closed: boolean): [string, string] {
  if (closed && market.outcome !== null) return market.outcome === 0 ? ['1', '0'] : ['0', '1'];
  if (market.lastPrice === null || (!closed && market.endS !== null)) return ['0.5', '0.5'];
  const permille = Math.round(market.lastPrice * 1000);
  return [String(permille / 1000), String((1000 - permille) / 1000)];
}

/**
 * The market in the catalogue API's own shape (arrays as JSON text, volumes as text and number, dates as ISO text), as it would have been
 * served at `nowMs`. Fields that the recording lacks are absent; unknown ids are `r-<slug>`.
 */
export function gammaMarket(market: RecordedMarket, nowMs: number): GammaObject {
  const closed = isClosedAt(market, nowMs);
  const state: GammaObject = {
    active: true,
    closed,
    acceptingOrders: !closed && (market.endS === null || nowMs < market.endS * 1000),
    outcomePrices: JSON.stringify(pricesAt(market, closed)),
  };
  if (market.raw !== null) {
    if (market.outcomeFrom !== 'recorded') return { ...market.raw };
    if (closed) return { ...market.raw };
    const open: GammaObject = { ...market.raw, ...state, updatedAt: market.raw.createdAt, volume: '0' };
    for (const key of FINAL_ONLY) delete open[key];
    for (const key of VOLUMES) if (key in open) open[key] = 0;
    return open;
  }
  return {
    id: `r-${market.slug}`,
    slug: market.slug,
    question: market.title,
    conditionId: market.conditionId,
    questionID: market.questionId ?? '',
    clobTokenIds: JSON.stringify(market.tokenIds),
    outcomes: JSON.stringify(market.outcomes),
    ...state,
    archived: false,
    negRisk: market.negRisk,
    ...(market.icon === null ? {} : { icon: market.icon, image: market.icon }),
    ...(market.startS === null ? {} : { eventStartTime: iso(market.startS) }),
    ...(market.endS === null ? {} : { endDate: iso(market.endS) }),
    ...(market.createdS === null ? {} : { createdAt: iso(market.createdS), startDate: iso(market.createdS) }),
    ...(closed && market.resolvedS !== null
      ? { closedTime: iso(market.resolvedS).replace('T', ' ').replace('Z', '+00'), umaResolutionStatus: 'resolved' }
      : {}),
  };
}

/** `will-x-happen-2026` -> `Will x happen 2026`: title of an event of which only the slug is recorded. */
export function titleFromSlug(slug: string): string {
  const words = slug.replaceAll('-', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function eventOf(
  recording: RecordedCatalog,
  slug: string,
  markets: readonly RecordedMarket[],
  nowMs: number,
): GammaObject {
  const nested = markets.map((market) => gammaMarket(market, nowMs));
  const served = recording.gammaEvents.find((event) => event.slug === slug);
  if (served !== undefined) return { ...served, markets: nested };
  const first = markets[0]!;
  const seriesSlug = seriesSlugOf(first);
  const series = recording.series.find((one) => one.slug === seriesSlug);
  const closed = markets.every((market) => isClosedAt(market, nowMs));
  const own = first.slug === slug ? nested[0]! : {};
  return {
    id: first.eventId ?? `r-${slug}`,
    ticker: slug,
    slug,
    title: first.slug === slug ? first.title : titleFromSlug(slug),
    ...(typeof own.description === 'string' ? { description: own.description } : {}),
    ...(first.icon === null ? {} : { icon: first.icon, image: first.icon }),
    ...(own.startDate === undefined ? {} : { startDate: own.startDate, creationDate: own.createdAt ?? own.startDate }),
    ...(own.endDate === undefined ? {} : { endDate: own.endDate }),
    ...(first.startS === null ? {} : { startTime: iso(first.startS) }),
    active: true,
    closed,
    archived: false,
    negRisk: markets.some((market) => market.negRisk),
    volume: nested.reduce((total, market) => total + Number(market.volume ?? 0), 0),
    ...(seriesSlug === null ? {} : { seriesSlug }),
    ...(series === undefined
      ? {}
      : {
          series: [
            {
              id: series.id ?? `r-${series.slug}`,
              slug: series.slug,
              title: series.title,
              seriesType: 'single',
              recurrence: series.recurrence,
              active: true,
              closed: false,
            },
          ],
        }),
    tags: tagsOfMarket(first),
    markets: nested,
  };
}

/** Events of the given markets, in order of their first market, each with its markets nested as the API does. */
export function gammaEvents(
  recording: RecordedCatalog,
  markets: readonly RecordedMarket[],
  nowMs: number,
): GammaObject[] {
  const bySlug = new Map<string, RecordedMarket[]>();
  for (const market of markets) {
    const group = bySlug.get(market.eventSlug);
    if (group === undefined) bySlug.set(market.eventSlug, [market]);
    else group.push(market);
  }
  return [...bySlug].map(([slug, group]) => eventOf(recording, slug, group, nowMs));
}
