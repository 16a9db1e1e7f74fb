import { z } from 'zod';
import { formatFixed } from '../../../schemas/primitives/money.js';
import { offsetParam, parsedMoney } from '../../http/chain-params.js';
import { named } from '../../http/named-params.js';
import { integerParam, parsedText } from '../../http/params.js';
import { defineRoute, type Route } from '../../http/route.js';
import { secondsParam } from '../../http/time-params.js';
import { createOverlapLimiter } from '../../overlap/limiter.js';
import { overlapSorts } from '../../overlap/overlap.sql.js';
import { createOverlapReader, type OverlapWallet } from '../../overlap/reader.js';
import type { Readers } from '../../readers.js';

const CACHE_S = 60;
const [MIN_TAGS, MAX_TAGS] = [2, 10];
const MAX_SLUG = 100;
const MAX_LIMIT = 500;
const MAX_OFFSET = 10_000;
/** Time budget of one page; shorter than the statement timeout of the client. */
const BUDGET_MS = 12_000;
const MAX_WAIT_MS = 10_000;
const MAX_VOLUME = 2n ** 63n;
/** End of a time range without `before`. */
const NO_END_S = 9_999_999_999;

const invalidTags = `tags must list ${MIN_TAGS} to ${MAX_TAGS} tag slugs`;
const tagsParam = parsedText<readonly string[]>(
  {
    text: z.string({ error: () => invalidTags }),
    parse(text) {
      const tags = [...new Set(text.split(',').map((tag) => tag.trim()))];
      const isSlug = (tag: string) => tag !== '' && tag.length <= MAX_SLUG && !/\p{Cc}/u.test(tag);
      return tags.length >= MIN_TAGS && tags.length <= MAX_TAGS && tags.every(isSlug) ? tags : undefined;
    },
    invalid: invalidTags,
  },
  {
    type: 'string',
    description: `Tag slugs, separated by commas: ${MIN_TAGS} to ${MAX_TAGS} distinct slugs of the catalogue. A market has its own tags and the tags of its event.`,
    example: 'nba,nfl',
  },
);

const volumeParam = parsedText(
  {
    parse(text) {
      const units = parsedMoney(text);
      return units !== undefined && units <= MAX_VOLUME ? units : undefined;
    },
    invalid: 'Invalid min_volume. Use a USDC amount of at least 0',
  },
  { type: 'number', minimum: 0, description: 'Minimum total_volume_usdc, up to 6 decimals.', example: 1000 },
);

const walletSchema = z.object({
  wallet: z.string().meta({ description: 'Address, lower case.' }),
  tags_matched: z.int().meta({ description: 'Number of tags: each listed wallet traded all of them.' }),
  total_fills: z.int().meta({
    description:
      "Fills of the wallet's own orders, as maker or taker, summed over the tags: a fill in a market with two of the tags counts twice.",
  }),
  total_volume_usdc: z.string().meta({
    description: 'USDC of those fills before fees, 6 decimals, summed over the tags in the same way.',
  }),
  total_markets: z.int().meta({ description: 'Number of distinct markets (conditions) over all tags.' }),
});

const walletFrom = (row: OverlapWallet, tags: number): z.input<typeof walletSchema> => ({
  wallet: row.wallet,
  tags_matched: tags,
  total_fills: Number(row.fills),
  total_volume_usdc: formatFixed(row.volume, 6),
  total_markets: row.markets,
});

/** GET /api/datasets/sports-esports/wallets/overlap: the wallets that traded markets of each of several tags. */
export function createOverlapRoute({ tables, cache, nowMs }: Pick<Readers, 'tables' | 'cache' | 'nowMs'>): Route {
  const reader = createOverlapReader({ tables, nowMs, budgetMs: BUDGET_MS });
  const limiter = createOverlapLimiter({ nowMs, maxWaitMs: MAX_WAIT_MS });
  return defineRoute({
    method: 'get',
    path: '/api/datasets/sports-esports/wallets/overlap',
    reads: ['positions', 'pnl', 'catalog'],
    apiGroup: 'root',
    tag: 'Datasets',
    auth: 'optional',
    cacheS: CACHE_S,
    summary: 'Wallets active in all of several tags',
    description:
      'Wallets with at least one fill in a market of each of the tags. A match counts once for each wallet with an order in it. An unknown tag has no wallets: the list is empty. `after` (inclusive) and `before` (exclusive) restrict the fills. Ties are in order of the wallet. 503 until the sums per wallet and tag were computed once, and if a page takes too long to compute.',
    query: z.object({
      tags: tagsParam,
      min_volume: volumeParam.optional(),
      after: secondsParam({
        description: 'Only fills at or after this time, Unix seconds.',
        invalid: 'Invalid after. Use Unix seconds',
      }).optional(),
      before: secondsParam({
        description: 'Only fills before this time, Unix seconds.',
        invalid: 'Invalid before. Use Unix seconds',
      }).optional(),
      sort: named.choice('sort', overlapSorts, 'Sort key, highest first. Default: volume.').optional(),
      limit: integerParam({
        min: 1,
        max: MAX_LIMIT,
        clamp: true,
        description: `Maximum number of wallets, up to ${MAX_LIMIT}. Default: 50.`,
        invalid: `Invalid limit. Use 1 to ${MAX_LIMIT}`,
      }).optional(),
      offset: offsetParam({
        invalid: 'Invalid offset. Use a whole number, 0 or more',
        tooDeep: `Invalid offset. Max ${MAX_OFFSET}`,
        max: MAX_OFFSET,
      }).optional(),
    }),
    success: {
      description: 'Wallets',
      schema: z.object({
        count: z.int().meta({ description: 'Number of wallets in this response.' }),
        tags: z.array(z.string()).meta({ description: 'The requested tags without duplicates.' }),
        wallets: z.array(walletSchema),
      }),
      example: {
        count: 1,
        tags: ['nba', 'nfl'],
        wallets: [
          {
            wallet: '0x3f1c0de5a7b2948c6e0d1f2a3b4c5d6e7f809102',
            tags_matched: 2,
            total_fills: 214,
            total_volume_usdc: '18230.550000',
            total_markets: 37,
          },
        ],
      },
    },
    async handler({ query }, context) {
      const { tags, after, before, min_volume: minVolume = 0n, sort = 'volume', limit = 50, offset = 0 } = query;
      const span = after === undefined && before === undefined ? null : { fromS: after ?? 0, toS: before ?? NO_END_S };
      const name = JSON.stringify(['overlap', tags, String(minVolume), span, sort, limit, offset]);
      const caller = { accountId: context.caller?.accountId ?? null, clientIp: context.clientIp };
      const cached = await cache.getLimited<readonly OverlapWallet[]>(name, CACHE_S * 1000, (shared) =>
        limiter.run(caller, () => shared(() => reader.page({ tags, minVolume, span, sort, limit, offset }))),
      );
      const wallets = cached.value.map((row) => walletFrom(row, tags.length));
      return { body: { count: wallets.length, tags: [...tags], wallets }, cache: cached };
    },
  });
}
