import { z } from 'zod';
import { positionConditionId } from '../../../../schemas/primitives/ids.js';
import { MAX_RANKED } from '../../../catalog/markets.sql.js';
import { walletParam } from '../../../http/chain-params.js';
import { defineRoute, type Route } from '../../../http/route.js';
import { rankedPage } from '../../../pagination/ranked-page.js';
import { MAX_ORDER_AGE_MS } from '../../../positions/combos.js';
import { comboSorts, type RankedCombo } from '../../../positions/combos.sql.js';
import type { Readers } from '../../../readers.js';
import { pageFields, pagingOf } from '../envelope.js';
import { paging, v3, v3Route } from '../params.js';
import { comboEventRoutes } from '../positions/combo-events.js';
import { examplePaging } from '../trades/examples.js';
import { comboAliases, comboParams, comboTokensOf } from '../trades/query.js';
import {
  comboMarketFrom,
  comboMarketSchema,
  exampleComboMarket,
  globalEventFrom,
  globalEventSchema,
  globalRedemptionFrom,
  globalRedemptionSchema,
} from './combos.serialize.js';

/** GET /v3/combos/...: combo markets, and the position changes and redemptions of all wallets in them. */
export function createGlobalComboRoutes(readers: Readers): readonly Route[] {
  const { combos } = readers;

  const markets = defineRoute({
    ...v3Route,
    tag: 'Markets',
    path: '/v3/combos/markets',
    reads: ['pnl', 'chain'],
    summary: 'Combos with activity',
    description: `The first ${MAX_RANKED.toLocaleString('en')} of an order that is computed at most ${MAX_ORDER_AGE_MS / 1000} s before the request; the numbers are current.`,
    query: z.object({
      ...comboParams,
      sort: v3
        .choice('sort', comboSorts, 'Sort key, descending. `recent`: by the last position change. Default recent.')
        .default('recent'),
      status: v3
        .choice(
          'status',
          ['open', 'closed', 'resolved', 'all'],
          'open: not settled; closed, or resolved: settled. Default all.',
        )
        .default('all'),
      ...paging,
    }),
    aliases: comboAliases,
    success: {
      description: 'A page of combos',
      schema: z.object({
        markets: z.array(comboMarketSchema),
        position_type: z.literal('combo'),
        source: z.literal('v3.combos.markets'),
        ...pageFields,
      }),
      example: {
        markets: [comboMarketFrom(exampleComboMarket)],
        position_type: 'combo',
        source: 'v3.combos.markets',
        ...examplePaging,
        next_cursor: null,
      },
    },
    async handler({ query }, context) {
      const named = comboTokensOf(query);
      const closed = query.status === 'resolved' ? 'closed' : query.status;
      const status = closed === 'all' ? null : closed;
      // The combos of a request that names them are one page.
      const list =
        named === null
          ? await combos.order(query.sort, status)
          : (
              await combos.withStatus([...new Set(named.map((token) => positionConditionId(BigInt(token))))], status)
            ).map((id) => ({ id, value: '0' }));
      const by = { value: (one: RankedCombo) => BigInt(one.value), id: (one: RankedCombo) => one.id };
      const page = rankedPage(list, by, query, { endpoint: context.endpoint, order: query.sort });
      const found = await combos.markets(page.rows.map((one) => one.id));
      return {
        body: {
          markets: found.map(comboMarketFrom),
          position_type: 'combo' as const,
          source: 'v3.combos.markets' as const,
          ...pagingOf(query, { ...page, rows: found }, context),
        },
      };
    },
  });

  return [
    markets,
    ...comboEventRoutes(readers, {
      path: '/v3/combos',
      source: 'v3.combos',
      tag: 'Trades',
      reads: ['pnl', 'chain'],
      filter: { wallet: walletParam({ invalid: 'invalid wallet: use 0x and 40 hex digits' }).optional() },
      aliases: { address: 'wallet' },
      head: {},
      activity: {
        summary: 'Position changes in combos, newest first',
        description: 'One row per wallet and position: a fill has one row per side, a split or a merge has two.',
      },
      redemptions: { summary: 'Redemptions of combos, newest first' },
      event: globalEventSchema,
      eventFrom: globalEventFrom,
      redemption: globalRedemptionSchema,
      redemptionFrom: globalRedemptionFrom,
    }),
  ];
}
