import { z } from 'zod';
import { formatMoney } from '../../../../schemas/primitives/money.js';
import { EXAMPLE_WALLET } from '../../../http/chain-params.js';
import { defineRoute, type Route } from '../../../http/route.js';
import { rankedPage } from '../../../pagination/ranked-page.js';
import type { Readers } from '../../../readers.js';
import {
  endingMarketsSql,
  type MarketDayRow,
  marketsOfDaySql,
  type WalletDayRow,
  walletsOfDaySql,
} from '../../../volumes/last-day.sql.js';
import { pageFields, pagingOf } from '../envelope.js';
import { exampleLabels, exampleMarket, marketFrom, marketSchema } from '../markets/serialize.js';
import type { MarketViews, RankedId } from '../markets/views.js';
import { paging, v3Route } from '../params.js';
import { examplePaging } from '../trades/examples.js';

const DAY_CACHE_MS = 60_000;
const usd = z.string().meta({ description: 'USD, decimal text.' });

/** Markets and wallets with the largest volume of the last 24 hours, and open markets that end soon. */
export function createLastDayRoutes({ tables, cache }: Readers, views: MarketViews): readonly Route[] {
  const marketsOfDay = async (nowMs: number): Promise<readonly MarketDayRow[]> =>
    (await cache.get('v3 markets of the day', DAY_CACHE_MS, () => tables.rows<MarketDayRow>(marketsOfDaySql(nowMs))))
      .value;
  const walletsOfDay = async (nowMs: number): Promise<readonly WalletDayRow[]> =>
    (await cache.get('v3 wallets of the day', DAY_CACHE_MS, () => tables.rows<WalletDayRow>(walletsOfDaySql(nowMs))))
      .value;

  const dayFields = {
    volume_24h: usd.meta({ description: 'USD of the last 24 hours, each match once, decimal text.' }),
    matches_24h: z.int(),
  };
  const trending = defineRoute({
    ...v3Route,
    tag: 'Markets',
    path: '/v3/markets/trending',
    reads: ['fills', 'catalog'],
    summary: 'Markets by volume of the last 24 hours',
    description:
      'Trades on the exchange, each match once; computed at most once a minute. Markets that the catalogue does not list are left out.',
    query: z.object(paging),
    success: {
      description: 'A page of markets',
      schema: z.object({ data: z.array(marketSchema.extend(dayFields)), ...pageFields }),
      example: {
        data: [{ ...marketFrom(exampleMarket, exampleLabels), volume_24h: '812.5', matches_24h: 40 }],
        ...examplePaging,
        next_cursor: null,
      },
    },
    async handler({ query }, context) {
      const rows = await marketsOfDay(context.nowMs);
      const by = { value: (row: MarketDayRow) => BigInt(row.usdc), id: (row: MarketDayRow) => row.condition_id };
      const page = rankedPage(rows, by, query, context);
      const { markets, labels } = await views.listed(page.rows.map((row) => row.condition_id));
      const byId = new Map(markets.map((market) => [market.conditionId, market]));
      const data = page.rows.flatMap(({ condition_id: id, usdc, matches }) => {
        const market = byId.get(id);
        if (market === undefined) return [];
        return [{ ...marketFrom(market, labels), volume_24h: formatMoney(BigInt(usdc)), matches_24h: Number(matches) }];
      });
      return { body: { data, ...pagingOf(query, { ...page, rows: data }, context) } };
    },
  });

  const ending = defineRoute({
    ...v3Route,
    tag: 'Markets',
    path: '/v3/markets/ending',
    reads: ['catalog', 'fills'],
    summary: 'Open markets that end within a week, the next one first',
    description: 'Without the windows of 5 and 15 minutes: `/v1/crypto/active` lists those.',
    query: z.object(paging),
    success: {
      description: 'A page of markets',
      schema: z.object({ data: z.array(marketSchema), ...pageFields }),
      example: { data: [marketFrom(exampleMarket, exampleLabels)], ...examplePaging, next_cursor: null },
    },
    async handler({ query }, context) {
      const load = () => tables.rows<RankedId>(endingMarketsSql(context.nowMs));
      const page = await views.ranked('v3 ending', query, { context, direction: 'asc', load });
      return { body: { data: page.serialize(marketFrom), ...page.fields() } };
    },
  });

  const walletRow = z.object({ rank: z.int(), wallet: z.string(), ...dayFields });
  const wallets = defineRoute({
    ...v3Route,
    tag: 'Wallets',
    path: '/v3/leaderboard/day',
    reads: ['fills'],
    summary: 'Wallets by volume of the last 24 hours',
    description: 'USD of the matches in which the wallet was maker or taker; computed at most once a minute.',
    query: z.object(paging),
    success: {
      description: 'A page of wallets',
      schema: z.object({ leaderboard: z.array(walletRow), ...pageFields }),
      example: {
        leaderboard: [{ rank: 1, wallet: EXAMPLE_WALLET, volume_24h: '812.5', matches_24h: 40 }],
        ...examplePaging,
        next_cursor: null,
      },
    },
    async handler({ query }, context) {
      const rows = await walletsOfDay(context.nowMs);
      const by = { value: (row: WalletDayRow) => BigInt(row.usdc), id: (row: WalletDayRow) => row.wallet };
      const page = rankedPage(rows, by, query, context);
      const leaderboard = page.rows.map((row, index) => ({
        rank: page.from + index + 1,
        wallet: row.wallet,
        volume_24h: formatMoney(BigInt(row.usdc)),
        matches_24h: Number(row.matches),
      }));
      return { body: { leaderboard, ...pagingOf(query, page, context) } };
    },
  });

  return [trending, ending, wallets];
}
