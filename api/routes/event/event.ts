import { z } from 'zod';
import { marketsOfEventsSql } from '../../catalog/events.sql.js';
import { notFound } from '../../errors/failure.js';
import { slugParam } from '../../http/params.js';
import { defineRoute, notFoundResponse, type Route } from '../../http/route.js';
import type { EventMarket } from '../../positions/event-markets.js';
import { CURRENT_PRICES_DESCRIPTION, outcomePriceFields, outcomePricesFrom } from '../../positions/outcome-prices.js';
import type { Readers } from '../../readers.js';
import { numericId } from '../../tables/catalog-id.js';
import { inEventOrder } from '../../tables/event-order.js';
import { boolFrom, isoFrom } from '../../tables/values.js';
import { recurrenceFrom } from '../crypto/catalog.serialize.js';
import { v1Route } from '../v1-route.js';
import { type EventDetailRow, type EventSeriesRow, eventSeriesSql, eventSql } from './event.sql.js';

const EVENT_CACHE_S = 60;
const MAX_CACHED_MISS_MS = 1_000;

const market = z.object({
  question: z.string(),
  conditionId: z.string(),
  outcomes: z.array(z.string()),
  outcomePrices: z
    .array(z.string())
    .meta({ description: `Decimal text, USD per share, same order as outcomes. ${CURRENT_PRICES_DESCRIPTION}` }),
  ...outcomePriceFields,
  volume: z.number(),
  liquidity: z.number(),
  active: z.boolean(),
  closed: z.boolean(),
  groupItemTitle: z.string(),
  tokenId: z.string().meta({ description: 'Token of the first outcome, decimal.' }),
});

const event = z.object({
  id: z.string().meta({ description: 'A number, as text.' }),
  slug: z.string(),
  title: z.string(),
  description: z.string(),
  image: z.string().nullable(),
  icon: z.string().nullable(),
  active: z.boolean(),
  closed: z.boolean().meta({ description: 'Whether all its markets are closed, or the catalogue marks it as closed.' }),
  volume: z.number(),
  volume24hr: z.number(),
  liquidity: z.number(),
  openInterest: z.number(),
  startDate: z.string().nullable(),
  endDate: z.string().nullable(),
  markets: z.array(market),
  series: z.object({ id: z.string(), slug: z.string(), title: z.string(), recurrence: z.string() }).nullable(),
  similarMarkets: z.int(),
  annotations: z.int(),
});

/** Builds the event detail from its rows. Markets are in the order of the event. */
function eventDetail(
  row: EventDetailRow,
  markets: readonly EventMarket[],
  series: EventSeriesRow | undefined,
): z.input<typeof event> {
  return {
    id: numericId(row.id),
    slug: row.slug,
    title: row.title,
    description: row.description,
    image: row.image,
    icon: row.icon,
    active: boolFrom(row.active),
    closed: boolFrom(row.closed) || (markets.length > 0 && markets.every(({ closed }) => closed)),
    volume: row.volume,
    volume24hr: row.volume_24h,
    liquidity: row.liquidity,
    openInterest: row.open_interest,
    startDate: isoFrom(row.start_ms),
    endDate: isoFrom(row.end_ms),
    markets: inEventOrder(markets, row.market_condition_ids).map((entry) => ({
      question: entry.question,
      conditionId: entry.condition_id,
      outcomes: [...entry.outcomes],
      ...outcomePricesFrom(entry.prices),
      volume: entry.volume,
      liquidity: entry.liquidity,
      active: boolFrom(entry.active),
      closed: entry.closed,
      groupItemTitle: entry.group_item_title ?? '',
      tokenId: entry.tokens[0] ?? '',
    })),
    series:
      series === undefined
        ? null
        : { ...series, id: numericId(series.id), recurrence: recurrenceFrom(series.recurrence) },
    similarMarkets: 0,
    annotations: 0,
  };
}

/** GET /v1/event/{slug}: an event with its markets. */
export function createEventRoute({ tables, cache, eventMarkets }: Readers): Route {
  const load = async (slug: string) => {
    const [row] = await tables.rows<EventDetailRow>(eventSql(slug));
    if (row === undefined) return null;
    const named = row.series_id !== null || row.series_slug !== null;
    const [markets, series] = await Promise.all([
      eventMarkets(marketsOfEventsSql([row.id])),
      named ? tables.rows<EventSeriesRow>(eventSeriesSql({ id: row.series_id, slug: row.series_slug })) : [],
    ]);
    return eventDetail(row, markets, series[0]);
  };
  return defineRoute({
    ...v1Route,
    path: '/v1/event/{slug}',
    reads: ['catalog'],
    tag: 'Events',
    cacheS: EVENT_CACHE_S,
    summary: 'One event with its markets',
    params: z.object({
      slug: slugParam({
        description: 'Event slug, exact.',
        invalid: 'Invalid event slug',
        example: 'how-many-launches-in-2027',
      }),
    }),
    success: {
      description: 'The event',
      schema: event,
      example: {
        id: '660001',
        slug: 'how-many-launches-in-2027',
        title: 'How many launches in 2027?',
        description: 'Resolves to the count of launches.',
        image: 'https://img.example/x.jpg',
        icon: 'https://img.example/x.jpg',
        active: true,
        closed: false,
        volume: 40211.4,
        volume24hr: 812,
        liquidity: 9120.2,
        openInterest: 3001,
        startDate: '2027-01-02T10:00:00.100Z',
        endDate: '2027-12-31T00:00:00Z',
        markets: [
          {
            question: 'Will there be 0 launches in 2027?',
            conditionId: `0x5c${'0'.repeat(61)}3`,
            outcomes: ['Yes', 'No'],
            outcomePrices: ['0.031', '0.969'],
            priceSources: ['last_fill', 'last_fill'],
            pricesUpdatedAt: [1811000400, 1811000390],
            volume: 1200.5,
            liquidity: 300.1,
            active: true,
            closed: false,
            groupItemTitle: '0',
            tokenId: '52000000000000000000000000000000000000000000000000000000000000000000000000007',
          },
        ],
        series: null,
        similarMarkets: 0,
        annotations: 0,
      },
    },
    otherResponses: notFoundResponse('No event has this slug.', 'Event how-many-launches-in-2027 not found'),
    async handler({ params }) {
      const cached = await cache.get(
        `event:${params.slug}`,
        (found) => (found === null ? MAX_CACHED_MISS_MS : EVENT_CACHE_S * 1000),
        () => load(params.slug),
      );
      if (cached.value === null) throw notFound(`Event ${params.slug} not found`);
      return { body: cached.value, cache: cached };
    },
  });
}
