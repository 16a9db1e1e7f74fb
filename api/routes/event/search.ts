import { z } from 'zod';
import { marketsOfEventsSql } from '../../catalog/events.sql.js';
import { integerParam, requiredText } from '../../http/params.js';
import { defineRoute, type Route } from '../../http/route.js';
import { MAX_WORDS, wordsOf } from '../../http/search-words.js';
import type { EventMarket } from '../../positions/event-markets.js';
import { CURRENT_PRICES_DESCRIPTION } from '../../positions/outcome-prices.js';
import { priceSource } from '../../positions/price-fields.js';
import type { Readers } from '../../readers.js';
import { numericId } from '../../tables/catalog-id.js';
import { inEventOrder } from '../../tables/event-order.js';
import { boolFrom } from '../../tables/values.js';
import { v1Route } from '../v1-route.js';
import { type FoundEventRow, searchEventsSql } from './search.sql.js';

const SEARCH_CACHE_S = 180;

const market = z.object({
  question: z.string(),
  groupItemTitle: z.string(),
  conditionId: z.string(),
  tokenId: z.string().meta({ description: 'Token of the first outcome, decimal.' }),
  price: z.number().meta({ description: `Price of the first outcome, USD per share. ${CURRENT_PRICES_DESCRIPTION}` }),
  priceSource,
  priceUpdatedAt: z.int().nullable().meta({ description: 'Unix seconds.' }),
  active: z
    .boolean()
    .meta({ description: 'Whether the catalogue marks it as active, and it is not closed or settled.' }),
});
const event = z.object({
  id: z.string().meta({ description: 'A number, as text.' }),
  slug: z.string(),
  title: z.string(),
  image: z.string().nullable(),
  active: z.boolean(),
  markets: z.array(market),
});

const numberOf = (text: string | undefined): number => {
  const price = Number(text ?? '');
  return Number.isFinite(price) ? price : 0;
};

const marketFrom = ({ prices, ...row }: EventMarket): z.input<typeof market> => ({
  question: row.question,
  groupItemTitle: row.group_item_title ?? '',
  conditionId: row.condition_id,
  tokenId: row.tokens[0] ?? '',
  price: numberOf(prices.texts[0]),
  priceSource: prices.sources[0] ?? null,
  priceUpdatedAt: prices.updatedAtS[0] ?? null,
  active: boolFrom(row.active) && !row.closed,
});

/** GET /v1/events/search: events by words of their title or slug. */
export function createEventSearchRoute({ tables, cache, eventMarkets }: Readers): Route {
  const load = async (words: readonly string[], limit: number): Promise<z.input<typeof event>[]> => {
    const events = await tables.rows<FoundEventRow>(searchEventsSql(words, limit));
    const ids = events.map((row) => row.id);
    const markets = ids.length === 0 ? [] : await eventMarkets(marketsOfEventsSql(ids));
    return events.map((row) => ({
      id: numericId(row.id),
      slug: row.slug,
      title: row.title,
      image: row.image,
      active: boolFrom(row.active),
      markets: inEventOrder(
        markets.filter((one) => one.event_id === row.id),
        row.market_condition_ids,
      ).map(marketFrom),
    }));
  };
  return defineRoute({
    ...v1Route,
    path: '/v1/events/search',
    reads: ['catalog'],
    tag: 'Events',
    cacheS: SEARCH_CACHE_S,
    summary: 'Events whose title or slug contain every word',
    description: 'Open events first, then by volume. Case-insensitive.',
    query: z.object({
      q: requiredText('q')
        .max(300, 'Invalid q. Max 300 characters')
        .refine((text) => wordsOf(text).length <= MAX_WORDS, `Invalid q. Max ${MAX_WORDS} words`)
        .meta({ description: 'Words, each of which must occur.', example: 'launches 2027' }),
      limit: integerParam({
        description: 'Default 10.',
        invalid: 'Invalid limit. Max 20',
        min: 1,
        max: 20,
      }).default(10),
    }),
    success: {
      description: 'Events with their markets',
      schema: z.object({ query: z.string(), events: z.array(event), count: z.int() }),
      example: {
        query: 'launches',
        events: [
          {
            id: '660001',
            slug: 'how-many-launches-in-2027',
            title: 'How many launches in 2027?',
            image: null,
            active: true,
            markets: [
              {
                question: 'Will there be 0 launches in 2027?',
                groupItemTitle: '0',
                conditionId: `0x5c${'0'.repeat(61)}3`,
                tokenId: '52',
                price: 0.031,
                priceSource: 'last_fill',
                priceUpdatedAt: 1811000400,
                active: true,
              },
            ],
          },
        ],
        count: 1,
      },
    },
    async handler({ query }) {
      const words = wordsOf(query.q);
      const key = `events search ${query.limit} ${JSON.stringify(words)}`;
      const cached = await cache.get(key, SEARCH_CACHE_S * 1000, () => load(words, query.limit));
      return {
        body: { query: query.q, events: cached.value, count: cached.value.length },
        cache: cached,
      };
    },
  });
}
