import { z } from 'zod';
import { type EventRow, marketsOfEventsSql } from '../../catalog/events.sql.js';
import { defineRoute, type Route } from '../../http/route.js';
import { CURRENT_PRICES_DESCRIPTION, outcomePriceFields } from '../../positions/outcome-prices.js';
import type { Readers } from '../../readers.js';
import { v1Route } from '../v1-route.js';
import { activeEntry, periodicEvent, seriesEntry } from './catalog.serialize.js';
import { coinSeriesSql, eventsBySlugSql, marketsBySlugSql, periodicEventsSql, type SeriesRow } from './catalog.sql.js';
import { coinSlugPattern, SHORT_WINDOW_S, windowSlugs, windowStartAt } from './coins.js';

const MARKETS_CACHE_S = 180;
const ACTIVE_CACHE_S = 30;
const SERIES_CACHE_S = 300;
const MAX_EVENTS = 500;

const iso = z.string().nullable().meta({ description: 'ISO-8601 UTC; null if the catalogue has no value.' });

const market = z.object({
  id: z.string(),
  question: z.string(),
  conditionId: z.string(),
  outcomes: z.array(z.string()),
  outcomePrices: z
    .array(z.number())
    .meta({ description: `USD per share, same order as outcomes. ${CURRENT_PRICES_DESCRIPTION}` }),
  ...outcomePriceFields,
  volume: z.number(),
  liquidity: z.number(),
  active: z.boolean(),
  closed: z.boolean(),
  groupItemTitle: z.string(),
});

const event = z.object({
  id: z.string(),
  slug: z.string(),
  title: z.string(),
  startDate: iso,
  endDate: iso,
  active: z.boolean(),
  volume: z.number(),
  volume24hr: z.number(),
  liquidity: z.number(),
  openInterest: z.number(),
  seriesSlug: z.string(),
  markets: z.array(market),
});

const active = z.object({
  id: z.string(),
  slug: z.string().meta({ description: '`{coin}-updown-5m-{windowStart}`' }),
  title: z.string(),
  active: z.boolean(),
  closed: z.boolean(),
  startDate: iso,
  endDate: iso,
  markets: z.array(
    z.object({
      question: z.string(),
      conditionId: z.string(),
      outcomes: z.string().meta({ description: 'JSON array of labels, as a string.' }),
      outcomePrices: z
        .array(z.number())
        .meta({ description: `USD per share, same order as outcomes. ${CURRENT_PRICES_DESCRIPTION}` }),
      ...outcomePriceFields,
      tokenId: z.string().meta({ description: 'Token of the first outcome (Up).' }),
      active: z.boolean(),
      closed: z.boolean(),
    }),
  ),
});

const series = z.object({
  id: z.string(),
  slug: z.string(),
  title: z.string(),
  recurrence: z.string().meta({ description: '5m, 15m, 1h, 4h, daily, weekly, monthly.' }),
  active: z.boolean(),
  eventCount: z.int().nullable(),
});

const exampleCondition = `0x5c${'0'.repeat(61)}1`;

/** GET crypto markets: periodic markets, current 5-minute markets, series. */
export function createCatalogRoutes({ tables, cache, eventMarkets }: Readers): readonly Route[] {
  const common = { ...v1Route, tag: 'Crypto' } as const;

  const markets = defineRoute({
    ...common,
    path: '/v1/crypto/markets',
    reads: ['catalog', 'fills'],
    cacheS: MARKETS_CACHE_S,
    summary: 'Daily, weekly and monthly crypto markets',
    description: 'Open events of the seven coins with their markets, highest 24-hour volume first.',
    success: {
      description: 'Events',
      schema: z.object({ events: z.array(event) }),
      example: {
        events: [
          {
            id: '990001',
            slug: 'what-price-will-ethereum-hit-in-may-2027',
            title: 'What price will Ethereum hit in May?',
            startDate: '2027-05-01T04:10:02.511Z',
            endDate: '2027-06-01T04:00:00Z',
            active: true,
            volume: 1250300.5,
            volume24hr: 90412.11,
            liquidity: 330120.7,
            openInterest: 401200,
            seriesSlug: 'ethereum-hit-price-monthly',
            markets: [
              {
                id: '7700012',
                question: '$9,000?',
                conditionId: exampleCondition,
                outcomes: ['Yes', 'No'],
                outcomePrices: [0.12, 0.88],
                priceSources: ['last_fill', 'v1_condition'],
                pricesUpdatedAt: [1811000400, 1811000390],
                volume: 50213.3,
                liquidity: 12002.9,
                active: true,
                closed: false,
                groupItemTitle: '↑ 9,000',
              },
            ],
          },
        ],
      },
    },
    async handler() {
      const cached = await cache.get('crypto-markets', MARKETS_CACHE_S * 1000, async () => {
        const events = await tables.rows<EventRow>(periodicEventsSql(coinSlugPattern, MAX_EVENTS));
        const rows = events.length === 0 ? [] : await eventMarkets(marketsOfEventsSql(events.map((row) => row.id)));
        return events.map((row) =>
          periodicEvent(
            row,
            rows.filter((entry) => entry.event_id === row.id),
          ),
        );
      });
      return { body: { events: cached.value }, cache: cached };
    },
  });

  const current = defineRoute({
    ...common,
    path: '/v1/crypto/active',
    reads: ['catalog', 'fills'],
    cacheS: ACTIVE_CACHE_S,
    summary: 'Current 5-minute up/down markets',
    description:
      'One entry per coin, in the order BTC, ETH, SOL, BNB, XRP, DOGE, HYPE; a coin without a market is omitted. Finished windows are never listed.',
    success: {
      description: 'Markets of the current window',
      schema: z.object({ markets: z.array(active), count: z.int(), windowStart: z.int() }),
      example: {
        markets: [
          {
            id: '880011',
            slug: 'sol-updown-5m-1811000400',
            title: 'Solana Up or Down - May 22, 11:40AM-11:45AM ET',
            active: true,
            closed: false,
            startDate: '2027-05-21T15:46:10.500Z',
            endDate: '2027-05-22T15:45:00Z',
            markets: [
              {
                question: 'Solana Up or Down - May 22, 11:40AM-11:45AM ET',
                conditionId: exampleCondition,
                outcomes: '["Up", "Down"]',
                outcomePrices: [0.48, 0.52],
                priceSources: ['clob_mid', 'clob_mid'],
                pricesUpdatedAt: [1811000400, 1811000400],
                tokenId: '41000000000000000000000000000000000000000000000000000000000000000000000000001',
                active: true,
                closed: false,
              },
            ],
          },
        ],
        count: 1,
        windowStart: 1811000400,
      },
    },
    async handler(_input, context) {
      const windowStart = windowStartAt(context.nowMs);
      const cached = await cache.get(`crypto-active:${windowStart}`, ACTIVE_CACHE_S * 1000, async () => {
        const slugs = windowSlugs(windowStart);
        const [events, rows] = await Promise.all([
          tables.rows<EventRow>(eventsBySlugSql(slugs)),
          eventMarkets(marketsBySlugSql(slugs)),
        ]);
        return slugs.flatMap((slug) => {
          const row = rows.find((candidate) => candidate.slug === slug);
          const event = events.find((candidate) => candidate.slug === slug);
          return row === undefined ? [] : [activeEntry(row, event)];
        });
      });
      // HTTP caches keep a response at most until its window ends.
      const leftS = windowStart + SHORT_WINDOW_S - Math.ceil(context.nowMs / 1000);
      return {
        body: { markets: cached.value, count: cached.value.length, windowStart },
        cache: { ageMs: cached.ageMs, maxAgeS: Math.min(ACTIVE_CACHE_S, leftS + Math.floor(cached.ageMs / 1000)) },
      };
    },
  });

  const recurring = defineRoute({
    ...common,
    path: '/v1/crypto/series',
    reads: ['catalog'],
    cacheS: SERIES_CACHE_S,
    summary: 'Recurring crypto series',
    success: {
      description: 'Series',
      schema: z.object({ series: z.array(series), count: z.int() }),
      example: {
        series: [
          {
            id: '20501',
            slug: 'sol-up-or-down-5m',
            title: 'SOL Up or Down 5m',
            recurrence: '5m',
            active: true,
            eventCount: null,
          },
        ],
        count: 1,
      },
    },
    async handler() {
      const cached = await cache.get('crypto-series', SERIES_CACHE_S * 1000, async () =>
        (await tables.rows<SeriesRow>(coinSeriesSql(coinSlugPattern))).map(seriesEntry),
      );
      return {
        body: { series: cached.value, count: cached.value.length },
        cache: cached,
      };
    },
  });

  return [markets, current, recurring];
}
