import { z } from 'zod';
import { moneyToNumber } from '../../../schemas/primitives/money.js';
import { type TagRow, tagsSql } from '../../catalog/markets.sql.js';
import { sideDocs } from '../../http/field-docs.js';
import { named } from '../../http/named-params.js';
import { integerParam, slugParam } from '../../http/params.js';
import { defineRoute, type Route } from '../../http/route.js';
import type { Readers } from '../../readers.js';
import { exampleVolume } from '../../volumes/examples.js';
import { readTokenVolume, type TokenVolume } from '../../volumes/reader.js';
import { exampleFill, exampleTitle } from '../v3/trades/examples.js';
import { common as onchain, v2 } from './params.js';
import { marketFields, marketOf, SOURCE } from './serialize.js';

const CACHE_S = 60;
const common = {
  ...onchain,
  cacheS: CACHE_S,
} as const;
const MAX_TAGS = 10_000;

const volumeSchema = z.object({
  token_id: z.string(),
  source: z.literal(SOURCE),
  found: z.boolean(),
  ...marketFields,
  condition_id: z.string().nullable(),
  total_trades: z.int(),
  buys: z.int().describe(sideDocs.buys),
  sells: z.int().describe(sideDocs.sells),
  volume_usdc: z.number(),
  buy_volume_usdc: z.number().describe(sideDocs.buyUsd),
  sell_volume_usdc: z.number().describe(sideDocs.sellUsd),
});

const sumsFrom = ({ trades, buys, sells, usdc, buyUsdc, sellUsdc }: TokenVolume) => ({
  total_trades: trades,
  buys,
  sells,
  volume_usdc: moneyToNumber(usdc),
  buy_volume_usdc: moneyToNumber(buyUsdc),
  sell_volume_usdc: moneyToNumber(sellUsdc),
});

const tagSchema = z.object({
  slug: z.string(),
  markets: z.int(),
  events: z.int(),
  first_seen_at: z.int().nullable().meta({ description: 'Creation of its oldest market, Unix seconds.' }),
  last_seen_at: z.int().nullable(),
});

/** GET lifetime volume of an outcome token, and the catalogue's tags. */
export function createOnchainMarketRoutes({ tables, cache, titleOf }: Readers): readonly Route[] {
  const volume = defineRoute({
    ...common,
    path: '/v2/onchain/markets/{token_id}/volume',
    reads: ['fills'],
    summary: 'Lifetime volume of an outcome token',
    description: 'All exchange generations. Each match counts once, by the side of its maker.',
    params: z.object({ token_id: v2.tokenId }),
    success: {
      description: 'Sums; zeros and `found: false` for an unknown token',
      schema: volumeSchema,
      example: {
        token_id: exampleFill.token_id,
        source: SOURCE,
        found: true,
        ...marketOf(exampleTitle),
        condition_id: exampleTitle.conditionId,
        ...sumsFrom(exampleVolume),
      },
    },
    async handler({ params: { token_id: id } }) {
      const cached = await cache.get(`v2 volume ${id}`, CACHE_S * 1000, () => readTokenVolume(tables, id, 1));
      const title = await titleOf(id);
      return {
        body: {
          token_id: id,
          source: SOURCE,
          found: cached.value.trades > 0 || title.conditionId !== null,
          ...marketOf(title),
          condition_id: title.conditionId,
          ...sumsFrom(cached.value),
        },
        cache: cached,
      };
    },
  });

  const tags = defineRoute({
    ...common,
    path: '/v2/onchain/tags',
    reads: ['fills', 'catalog'],
    summary: 'Tags of the catalogue',
    query: z.object({
      details: named
        .flag('details', 'Return objects with counts and times instead of slugs. Default false.')
        .default(false),
      prefix: slugParam({ description: 'Only tags with this prefix.', invalid: 'Invalid prefix' }).optional(),
      min_markets: integerParam({
        description: 'Only tags with at least this number of markets.',
        invalid: 'Invalid min_markets',
        min: 0,
        max: Number.MAX_SAFE_INTEGER,
        documentedMax: false,
      }).default(0),
      sort: named.choice('sort', ['popularity', 'alpha'], 'Default popularity.').default('popularity'),
      limit: named.limit(MAX_TAGS, MAX_TAGS, `Default and maximum ${MAX_TAGS}.`),
    }),
    success: {
      description: 'Slugs, or objects with `details`',
      schema: z.object({ count: z.int(), tags: z.array(z.union([z.string(), tagSchema])) }),
      example: { count: 1, tags: ['weather'] },
    },
    async handler({ query }) {
      const cached = await cache.get('v2 tags', CACHE_S * 1000, () => tables.rows<TagRow>(tagsSql()));
      const { prefix } = query;
      const fitting = cached.value.filter(
        (row) => Number(row.markets) >= query.min_markets && (prefix === undefined || row.tag.startsWith(prefix)),
      );
      const sorted = query.sort === 'alpha' ? [...fitting].sort((a, b) => (a.tag < b.tag ? -1 : 1)) : fitting;
      const secondsOrNull = (at: number | string) => (Number(at) === 0 ? null : Number(at));
      const found = sorted.slice(0, query.limit).map((row) =>
        query.details
          ? {
              slug: row.tag,
              markets: Number(row.markets),
              events: Number(row.events),
              first_seen_at: secondsOrNull(row.first_seen),
              last_seen_at: secondsOrNull(row.last_seen),
            }
          : row.tag,
      );
      return { body: { count: found.length, tags: found }, cache: cached };
    },
  });

  return [volume, tags];
}
