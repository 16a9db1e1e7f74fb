import { z } from 'zod';
import { moneyToNumber } from '../../../schemas/primitives/money.js';
import type { TtlCache } from '../../cache/ttl-cache.js';
import { cacheOf } from '../../http/replies.js';
import { defineRoute, type Route } from '../../http/route.js';
import { conditionInterestSql, type InterestRow, totalInterestSql } from '../../positions/interest.sql.js';
import type { Reads } from '../../reads.js';
import type { Tables } from '../../tables/port.js';
import { exampleTitle } from '../v3/trades/examples.js';
import { common, v2 } from './params.js';
import { SOURCE } from './serialize.js';

const MARKET_CACHE_S = 60;
const TOTAL_CACHE_S = 300;
const text = z.string().nullable();
const LATE =
  'A market whose first sets were made before the history begins may have more seen to leave than to come: it counts as 0.';

/** Open interest: of a market, and of all. */
export function createInterestRoutes(deps: { tables: Tables; cache: TtlCache; reads: Reads }): readonly Route[] {
  const { tables, cache, reads } = deps;

  const market = defineRoute({
    ...common,
    cacheS: MARKET_CACHE_S,
    path: '/v2/onchain/markets/{condition_id}/oi',
    reads: ['chain'],
    summary: 'Open interest of a market',
    description: `Collateral held by its full sets. ${LATE}`,
    params: z.object({ condition_id: v2.conditionId }),
    success: {
      description: 'The sum; 0 and `found: false` for an unknown market',
      schema: z.object({
        condition_id: z.string(),
        source: z.literal(SOURCE),
        found: z.boolean(),
        market: text,
        slug: text,
        image: text,
        open_interest_usdc: z.number(),
      }),
      example: {
        condition_id: exampleTitle.conditionId,
        source: SOURCE,
        found: true,
        market: exampleTitle.market,
        slug: exampleTitle.slug,
        image: exampleTitle.image,
        open_interest_usdc: 8123.5,
      },
    },
    async handler({ params: { condition_id: id } }) {
      const cached = await cache.get(`v2 oi ${id}`, MARKET_CACHE_S * 1000, async () => {
        const [row] = await tables.rows<InterestRow>(conditionInterestSql(id));
        const amount = BigInt(row?.amount ?? 0);
        return { amount: amount < 0n ? 0n : amount, known: Number(row?.tokens ?? 0) > 0 };
      });
      const condition = (await reads.conditionsOf([id])).get(id);
      return {
        body: {
          condition_id: id,
          source: SOURCE,
          found: cached.value.known || condition?.known === true,
          market: condition?.question ?? null,
          slug: condition?.slug ?? null,
          image: condition?.image ?? null,
          open_interest_usdc: moneyToNumber(cached.value.amount),
        },
        cache: cacheOf(cached, MARKET_CACHE_S),
      };
    },
  });

  const total = defineRoute({
    ...common,
    cacheS: TOTAL_CACHE_S,
    path: '/v2/onchain/oi',
    reads: ['chain'],
    summary: 'Open interest of all markets',
    description: LATE,
    success: {
      description: 'The sum',
      schema: z.object({ source: z.literal(SOURCE), open_interest_usdc: z.number() }),
      example: { source: SOURCE, open_interest_usdc: 91234567.125 },
    },
    async handler() {
      const cached = await cache.get('v2 oi', TOTAL_CACHE_S * 1000, async () => {
        const [row] = await tables.rows<InterestRow>(totalInterestSql());
        return BigInt(row?.amount ?? 0);
      });
      return {
        body: { source: SOURCE, open_interest_usdc: moneyToNumber(cached.value) },
        cache: cacheOf(cached, TOTAL_CACHE_S),
      };
    },
  });

  return [market, total];
}
