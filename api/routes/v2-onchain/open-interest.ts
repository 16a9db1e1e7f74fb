import { z } from 'zod';
import { moneyToNumber } from '../../../schemas/primitives/money.js';
import { isKnown } from '../../catalog/conditions.js';
import { defineRoute, type Route } from '../../http/route.js';
import {
  conditionOpenInterestSql,
  gaplessFromSql,
  type OpenInterestRow,
  totalOpenInterestSql,
} from '../../positions/open-interest.sql.js';
import type { Readers } from '../../readers.js';
import { boolFrom } from '../../tables/values.js';
import { exampleTitle } from '../v3/trades/examples.js';
import { common, v2 } from './params.js';
import { SOURCE } from './serialize.js';

const MARKET_CACHE_S = 60;
const TOTAL_CACHE_S = 300;
const text = z.string().nullable();
const INCOMPLETE_HISTORY_NOTE =
  'Exact if the history contains every market from its preparation on without a gap. Otherwise `complete` is false and the sum null, because sets minted or redeemed in the missing time are unknown. The collateral of a neg-risk market backs all of its questions together: a conversion takes what it releases from the questions whose NO shares it takes, in equal parts, as the venue counts it, and the YES shares that it creates add nothing to the other questions, as the collateral of those NO shares backs them. So the sum over the questions is what their shares are paid whichever wins; that of one question can be above or below what its own shares claim, and is null if it is negative. `net_minted_usdc` is the amount minted minus the amounts merged and redeemed since the start of the history.';

const sums = {
  open_interest_usdc: z.number().nullable(),
  net_minted_usdc: z.number(),
  complete: z.boolean(),
};
/** A negative sum proves incomplete history, whatever the recorded start of the history; of a question of a neg-risk market it can also follow from conversions. */
function sumsFrom(row: OpenInterestRow | undefined) {
  const net = BigInt(row?.net ?? 0);
  const complete = row !== undefined && boolFrom(row.complete) && net >= 0n;
  return {
    open_interest_usdc: complete ? moneyToNumber(net) : null,
    net_minted_usdc: moneyToNumber(net),
    complete,
  };
}

/** GET open interest: of a market, and of all markets. */
export function createOpenInterestRoutes({ tables, cache, conditionsOf }: Readers): readonly Route[] {
  const gaplessFromS = async (): Promise<number> => {
    const { value } = await cache.get('v2 oi gapless from', MARKET_CACHE_S * 1000, async () => {
      const [row] = await tables.rows<{ at: number | string | null }>(gaplessFromSql());
      return Number(row?.at ?? 0);
    });
    return value;
  };

  const market = defineRoute({
    ...common,
    cacheS: MARKET_CACHE_S,
    path: '/v2/onchain/markets/{condition_id}/oi',
    reads: ['chain'],
    summary: 'Open interest of a market',
    description: `Collateral of the market's complete sets. ${INCOMPLETE_HISTORY_NOTE}`,
    params: z.object({ condition_id: v2.conditionId }),
    success: {
      description: 'The sum; null and `found: false` for an unknown market',
      schema: z.object({
        condition_id: z.string(),
        source: z.literal(SOURCE),
        found: z.boolean(),
        market: text,
        slug: text,
        image: text,
        ...sums,
      }),
      example: {
        condition_id: exampleTitle.conditionId,
        source: SOURCE,
        found: true,
        market: exampleTitle.market,
        slug: exampleTitle.slug,
        image: exampleTitle.image,
        open_interest_usdc: 8123.5,
        net_minted_usdc: 8123.5,
        complete: true,
      },
    },
    async handler({ params: { condition_id: id } }) {
      const cached = await cache.get(`v2 oi ${id}`, MARKET_CACHE_S * 1000, async () => {
        const [row] = await tables.rows<OpenInterestRow>(conditionOpenInterestSql(id, await gaplessFromS()));
        return { sums: sumsFrom(row), known: Number(row?.tokens ?? 0) > 0 };
      });
      const condition = (await conditionsOf([id])).get(id);
      const market = condition?.market ?? null;
      return {
        body: {
          condition_id: id,
          source: SOURCE,
          found: cached.value.known || isKnown(condition),
          market: market?.question ?? null,
          slug: market?.slug ?? null,
          image: market?.image ?? null,
          ...cached.value.sums,
        },
        cache: cached,
      };
    },
  });

  const total = defineRoute({
    ...common,
    cacheS: TOTAL_CACHE_S,
    path: '/v2/onchain/oi',
    reads: ['chain'],
    summary: 'Open interest of all markets',
    description: `Collateral of all complete sets, without combos. ${INCOMPLETE_HISTORY_NOTE}`,
    success: {
      description: 'The sum',
      schema: z.object({ source: z.literal(SOURCE), ...sums }),
      example: { source: SOURCE, open_interest_usdc: null, net_minted_usdc: 91234567.125, complete: false },
    },
    async handler() {
      const cached = await cache.get('v2 oi', TOTAL_CACHE_S * 1000, async () => {
        const [row] = await tables.rows<OpenInterestRow>(totalOpenInterestSql(await gaplessFromS()));
        return sumsFrom(row);
      });
      return {
        body: { source: SOURCE, ...cached.value },
        cache: cached,
      };
    },
  });

  return [market, total];
}
