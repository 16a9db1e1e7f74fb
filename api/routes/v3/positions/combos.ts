import { z } from 'zod';
import { EXAMPLE_WALLET } from '../../../http/chain-params.js';
import { defineRoute, type Route } from '../../../http/route.js';
import { rankedPage } from '../../../pagination/ranked-page.js';
import { emptyPnlSummary } from '../../../pnl/reader.js';
import { exampleOpenPosition } from '../../../positions/examples.js';
import { ordered } from '../../../positions/order.js';
import type { Position } from '../../../positions/position.js';
import type { Readers } from '../../../readers.js';
import { pageFields, pagingOf } from '../envelope.js';
import { paging, v3, v3Route } from '../params.js';
import { examplePaging } from '../trades/examples.js';
import { comboAliases, comboParams, comboTokensOf } from '../trades/query.js';
import { exampleSummary } from '../wallets/pnl-summary.serialize.js';
import { comboEventRoutes } from './combo-events.js';
import {
  comboEventFrom,
  comboEventSchema,
  comboRedemptionFrom,
  comboRedemptionSchema,
  comboSummaryFrom,
  comboSummarySchema,
  exampleComboEvent,
} from './combos.serialize.js';
import { comboPositionFrom, comboPositionSchema, statusOf } from './serialize.js';
import { statusParam } from './wallet.js';

/** Length of the longest token id as decimal text. */
const TOKEN_DIGITS = 78;
const newestFirst = {
  value: (one: Position) => BigInt(one.lastAtS),
  id: (one: Position) => one.tokenId.padStart(TOKEN_DIGITS, '0'),
};

const common = { ...v3Route, tag: 'Wallets' } as const;

/** GET combo positions of a wallet, their PnL, and the events that changed them. */
export function createComboPositionRoutes(readers: Readers): readonly Route[] {
  const { positions, pnl } = readers;

  const list = defineRoute({
    ...common,
    path: '/v3/wallets/{address}/combos/positions',
    reads: ['positions', 'pnl'],
    summary: 'Combo positions of a wallet, most recent activity first',
    params: z.object({ address: v3.address }),
    query: z.object({ ...comboParams, status: statusParam, ...paging }),
    aliases: comboAliases,
    success: {
      description: 'A page of positions',
      schema: z.object({
        address: z.string(),
        positions: z.array(comboPositionSchema),
        position_type: z.literal('combo'),
        source: z.literal('v3.wallet_combos.positions'),
        ...pageFields,
      }),
      example: {
        address: EXAMPLE_WALLET,
        positions: [comboPositionFrom({ ...exampleOpenPosition, tokenId: exampleComboEvent.token })],
        position_type: 'combo',
        source: 'v3.wallet_combos.positions',
        ...examplePaging,
        next_cursor: null,
      },
    },
    async handler({ params: { address }, query }, context) {
      const named = comboTokensOf(query);
      const all = await positions.comboPositionsOf(address);
      const selected = all.filter(
        (one) =>
          (named === null || named.includes(one.tokenId)) &&
          (query.status === undefined || statusOf(one) === query.status),
      );
      const page = rankedPage(ordered(selected, newestFirst), newestFirst, query, context);
      return {
        body: {
          address,
          positions: page.rows.map(comboPositionFrom),
          position_type: 'combo' as const,
          source: 'v3.wallet_combos.positions' as const,
          ...pagingOf(query, page, context),
        },
      };
    },
  });

  const summary = defineRoute({
    ...common,
    path: '/v3/wallets/{address}/combos/summary',
    reads: ['positions', 'pnl'],
    summary: 'PnL of a wallet in combos',
    params: z.object({ address: v3.address }),
    query: z.object(comboParams),
    aliases: comboAliases,
    success: {
      description: 'The summary; zeros for a wallet without combos',
      schema: comboSummarySchema,
      example: comboSummaryFrom(EXAMPLE_WALLET, exampleSummary, 3),
    },
    async handler({ params: { address }, query }, context) {
      const tokenIds = comboTokensOf(query);
      const tokens = tokenIds === null ? null : { tokenIds, among: null };
      const summary = (await pnl.summaries([address], tokens)).get(address)?.combos ?? emptyPnlSummary;
      return { body: comboSummaryFrom(address, summary, context.elapsedMs()) };
    },
  });

  return [
    list,
    summary,
    ...comboEventRoutes(readers, {
      path: '/v3/wallets/{address}/combos',
      source: 'v3.wallet_combos',
      tag: 'Wallets',
      reads: ['pnl'],
      params: z.object({ address: v3.address }),
      filter: {},
      aliases: {},
      head: { address: EXAMPLE_WALLET },
      activity: {
        summary: "Changes of a wallet's combo positions, newest first",
        description: 'One row per position: a split or a merge has two.',
      },
      redemptions: { summary: 'Redemptions of a wallet in combos, newest first' },
      event: comboEventSchema,
      eventFrom: comboEventFrom,
      redemption: comboRedemptionSchema,
      redemptionFrom: comboRedemptionFrom,
    }),
  ];
}
