import { z } from 'zod';
import { moneyToNumber, priceNumber } from '../../../schemas/primitives/money.js';
import { anchorBlockSql, anchorTxSql, resolutions } from '../../candles/candles.sql.js';
import { exampleCandles } from '../../candles/examples.js';
import { type Candle, type CandlePage, readCandles } from '../../candles/reader.js';
import { badParameter } from '../../errors/failure.js';
import type { untitled } from '../../fills/titles.js';
import { marketAliases } from '../../http/aliases.js';
import { hashParam } from '../../http/chain-params.js';
import { priceDocs, sideDocs } from '../../http/field-docs.js';
import { named } from '../../http/named-params.js';
import { integerParam } from '../../http/params.js';
import { defineRoute, type Route } from '../../http/route.js';
import type { Readers } from '../../readers.js';
import { exampleFill, exampleTitle } from '../v3/trades/examples.js';
import { common as onchain, tokensOfMarket, v2 } from './params.js';

const CACHE_S = 300;
const [MIN_TRADES, MAX_TRADES] = [100, 1_000];
const names = Object.keys(resolutions) as (keyof typeof resolutions)[];
const text = z.string().nullable();

const candleSchema = z.object({
  time: z.int().meta({ description: 'Start of the bucket, Unix milliseconds.' }),
  open: z.number().describe(priceDocs.open),
  high: z.number().describe(priceDocs.high),
  low: z.number().describe(priceDocs.low),
  close: z.number().describe(priceDocs.close),
  volume: z.number().meta({ description: 'USD; sum of volume_buy and volume_sell.' }),
  volume_shares: z.number(),
  volume_buy: z.number().describe(sideDocs.buyUsd),
  volume_sell: z.number().describe(sideDocs.sellUsd),
  trades: z.int(),
  vwap: z.number().nullable().describe(priceDocs.vwap),
});
const candleFrom = (candle: Candle): z.input<typeof candleSchema> => ({
  time: candle.startS * 1000,
  open: moneyToNumber(candle.open),
  high: moneyToNumber(candle.high),
  low: moneyToNumber(candle.low),
  close: moneyToNumber(candle.close),
  volume: moneyToNumber(candle.usdc),
  volume_shares: moneyToNumber(candle.shares),
  volume_buy: moneyToNumber(candle.buyUsdc),
  volume_sell: moneyToNumber(candle.usdc - candle.buyUsdc),
  trades: candle.trades,
  vwap: priceNumber(candle.usdc, candle.shares, 6),
});

const shape = {
  resolution: named.choice('resolution', names, 'Default 1h.').default('1h'),
  limit: integerParam({
    description: `Number of trades, ${MIN_TRADES} to ${MAX_TRADES}; the last bucket is always complete. Default 500.`,
    invalid: 'Invalid limit. Use a whole number, 1 or more',
    min: MIN_TRADES,
    max: MAX_TRADES,
    clamp: true,
  }).default(500),
  direction: named
    .choice(
      'direction',
      ['before', 'after'],
      'The newest trades up to the anchor, or the oldest trades from the anchor on. Default before.',
    )
    .default('before'),
  anchor_ts: v2.time('anchor_ts', 'Anchor, Unix seconds; its bucket is complete.').optional(),
  anchor_block: integerParam({
    description: 'Anchor by block; takes precedence over anchor_ts.',
    invalid: 'Invalid anchor_block',
    min: 0,
    max: Number.MAX_SAFE_INTEGER,
    documentedMax: false,
  }).optional(),
  anchor_tx: hashParam({
    description: 'Anchor by the transaction of a trade; takes precedence over the others.',
    invalid: 'Invalid anchor_tx',
  }).optional(),
  gap_fill: named
    .flag(
      'gap_fill',
      'Fill buckets without trades, between the first and the newest trade of the token, with the previous close. Default false.',
    )
    .default(false),
};
/** Further names of a token; they are ANDed with its id. */
const marketSelectors = { condition_id: v2.conditionId.optional(), market_slug: v2.slug.optional() };
type MarketSelectors = z.output<z.ZodObject<typeof marketSelectors>>;
const query = z.object(shape);
type Query = z.output<typeof query>;

/** Trims a page to the whole buckets that contain the requested number of trades, counted from the anchor. */
function trimToTradeCount(page: CandlePage, given: Query): CandlePage {
  const newest = given.direction === 'before';
  const kept: Candle[] = [];
  let trades = 0;
  for (const candle of newest ? [...page.candles].reverse() : page.candles) {
    if (trades >= given.limit) break;
    kept.push(candle);
    trades += candle.trades;
  }
  const edge = kept.at(-1);
  if (edge === undefined || kept.length === page.candles.length) return page;
  return {
    candles: newest ? kept.reverse() : kept,
    olderEndS: newest ? edge.startS - 1 : page.olderEndS,
    newerStartS: newest ? page.newerStartS : edge.startS + resolutions[given.resolution],
    hasMore: true,
  };
}

const bodySchema = z.object({
  token_id: z.string(),
  resolution: z.enum(names),
  window: z.object({
    start_ts: z.int().nullable().meta({ description: 'First and last trade, Unix seconds.' }),
    end_ts: z.int().nullable(),
    trade_count: z.int(),
    duration_seconds: z.int(),
  }),
  count: z.int(),
  candles: z.array(candleSchema),
  pagination: z.object({
    older_end_ts: z.int().nullable().meta({ description: 'anchor_ts of the previous page, with direction=before.' }),
    newer_start_ts: z.int().nullable().meta({ description: 'anchor_ts of the next page, with direction=after.' }),
  }),
  question: text,
  slug: text,
  outcome: text,
  condition_id: text,
  image: text,
});

function bodyFrom(tokenId: string, given: Query, page: CandlePage, title: typeof untitled): z.input<typeof bodySchema> {
  const { candles } = page;
  const startS = candles.find(({ first }) => first !== null)?.first?.atS ?? null;
  const endS = candles.findLast(({ last }) => last !== null)?.last?.atS ?? null;
  return {
    token_id: tokenId,
    resolution: given.resolution,
    window: {
      start_ts: startS,
      end_ts: endS,
      trade_count: candles.reduce((sum, { trades }) => sum + trades, 0),
      duration_seconds: startS === null || endS === null ? 0 : endS - startS,
    },
    count: candles.length,
    candles: candles.map(candleFrom),
    pagination: { older_end_ts: page.olderEndS, newer_start_ts: page.newerStartS },
    question: title.market,
    slug: title.slug,
    outcome: title.outcome,
    condition_id: title.conditionId,
    image: title.image,
  };
}

/** GET candles of an outcome token, computed from its trades. */
export function createOnchainCandleRoutes(readers: Readers): readonly Route[] {
  const { tables, cache, titleOf } = readers;
  const momentOf = async (tokenId: string, given: Query): Promise<number | null> => {
    const { anchor_tx: hash, anchor_block: block } = given;
    if (hash === undefined && block === undefined) return given.anchor_ts ?? null;
    const sql = hash === undefined ? anchorBlockSql(block as number) : anchorTxSql(tokenId, hash);
    const [row] = await tables.rows<{ at: number | string }>(sql);
    if (row === undefined) throw badParameter(`${hash === undefined ? 'anchor_block' : 'anchor_tx'} not found`);
    return Number(row.at);
  };
  const respond = async (tokenId: string, given: Query) => {
    const cached = await cache.get(`v2 candles ${tokenId} ${JSON.stringify(given)}`, CACHE_S * 1000, async () => {
      const anchor = await momentOf(tokenId, given);
      const page = await readCandles(tables, {
        tokenId,
        seconds: resolutions[given.resolution],
        limit: MAX_TRADES,
        direction: given.direction,
        fromS: given.direction === 'after' ? anchor : null,
        toS: given.direction === 'before' ? anchor : null,
        gapFill: given.gap_fill,
      });
      return trimToTradeCount(page, given);
    });
    const title = await titleOf(tokenId);
    return { body: bodyFrom(tokenId, given, cached.value, title), cache: cached };
  };

  /** The token that all given names agree on. Throws ApiError for none and for several. */
  const outcomeOf = async (tokenId: string | undefined, market: MarketSelectors): Promise<string> => {
    let left: readonly string[] | null = tokenId === undefined ? null : [tokenId];
    let name = 'token_id';
    for (const by of ['condition_id', 'market_slug'] as const) {
      const found = await tokensOfMarket(readers, by, market);
      if (found === null) continue;
      if (found.length === 0) throw badParameter(`${by} has no known outcome tokens`);
      const before = left;
      left = before === null ? found : before.filter((id) => found.includes(id));
      if (left.length === 0) throw badParameter(`${name} is not of this ${by}`);
      name = by;
    }
    if (left === null) throw badParameter('Missing token_id, condition_id or market_slug');
    const [one, ...rest] = left;
    if (one === undefined || rest.length > 0) throw badParameter(`${name} has several outcomes: use token_id`);
    return one;
  };

  const common = {
    ...onchain,
    cacheS: CACHE_S,
    description: 'Each match counts once. Oldest first; empty for a token without trades.',
    success: {
      description: 'Candles',
      schema: bodySchema,
      example: bodyFrom(exampleFill.token_id, query.parse({}), exampleCandles, exampleTitle),
    },
  } as const;

  const one = defineRoute({
    ...common,
    path: '/v2/onchain/candles/{token_id}',
    reads: ['fills'],
    summary: 'Candles of an outcome token',
    params: z.object({ token_id: v2.tokenId }),
    query: z.object({ ...shape, ...marketSelectors }),
    aliases: marketAliases('market_slug'),
    async handler({ params: { token_id: tokenId }, query: { condition_id, market_slug, ...given } }) {
      await outcomeOf(tokenId, { condition_id, market_slug });
      return respond(tokenId, given);
    },
  });

  const byQuery = defineRoute({
    ...common,
    path: '/v2/onchain/candles',
    reads: ['fills'],
    summary: 'Candles of an outcome token, named by the query',
    query: z.object({
      ...shape,
      token_id: v2.tokenId.optional(),
      ...marketSelectors,
    }),
    aliases: marketAliases('market_slug'),
    async handler({ query: { token_id, condition_id, market_slug, ...given } }) {
      return respond(await outcomeOf(token_id, { condition_id, market_slug }), given);
    },
  });

  return [one, byQuery];
}
