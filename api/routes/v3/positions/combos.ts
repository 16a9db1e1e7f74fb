import { z } from 'zod';
import { timeRangeOf } from '../../../fills/filter.js';
import { timeRangeAliases } from '../../../http/aliases.js';
import { EXAMPLE_WALLET } from '../../../http/chain-params.js';
import { defineRoute, type RequestContext, type Route } from '../../../http/route.js';
import { cursorsOf, cursorText } from '../../../pagination/cursor.js';
import { cursorPage } from '../../../pagination/list-page.js';
import { rankedPage } from '../../../pagination/ranked-page.js';
import { emptyPnlSummary } from '../../../pnl/reader.js';
import { exampleOpenPosition } from '../../../positions/examples.js';
import { ordered } from '../../../positions/order.js';
import { type PnlEventFilter, pnlEventCursor, pnlEventCursorOf } from '../../../positions/pnl-events.sql.js';
import type { Position } from '../../../positions/position.js';
import type { Readers } from '../../../readers.js';
import { pageFields, pagingOf } from '../envelope.js';
import { paging, times, v3, v3Route } from '../params.js';
import { examplePaging } from '../trades/examples.js';
import { comboAliases, comboParams, comboTokensOf } from '../trades/query.js';
import { exampleSummary } from '../wallets/pnl-summary.serialize.js';
import {
  actions,
  comboEventFrom,
  comboEventSchema,
  comboRedemptionFrom,
  comboRedemptionSchema,
  comboSummaryFrom,
  comboSummarySchema,
  eventKinds,
  exampleComboEvent,
} from './combos.serialize.js';
import { comboPositionFrom, comboPositionSchema, statusOf } from './serialize.js';
import { statusParam } from './wallet.js';

/** Length of the longest token id as decimal text. */
const TOKEN_DIGITS = 78;
const newestFirst = {
  key: (one: Position) => BigInt(one.lastAtS),
  order: 'desc',
  id: (one: Position) => one.tokenId.padStart(TOKEN_DIGITS, '0'),
} as const;

const common = { ...v3Route, tag: 'Wallets' } as const;

/** Query parameters of all lists of combo events. */
export const comboListQuery = {
  ...comboParams,
  ...times,
  ...paging,
  cursor: cursorText('`next_cursor` of the previous page; exact even while events arrive.'),
};
/** Aliases of `comboListQuery`. */
export const comboListAliases = { ...comboAliases, ...timeRangeAliases('after', 'before') };
export const eventKindParam = v3.choice('event_kind', eventKinds, 'Default all.', ', ').optional();
/** Query parameters of the lists of redemptions. */
export const comboRedemptionsQuery = {
  ...comboListQuery,
  redemption_scope: v3
    .choice(
      'redemption_scope',
      ['full', 'partial', 'transformation', 'all'],
      'full: the position was empty afterwards; partial: shares were left. transformation: always empty. Default all.',
    )
    .default('all'),
  tx_hash: v3.hashOf('tx_hash', 'Only redemptions of this transaction.'),
};

/** Aliases of `comboRedemptionsQuery`. */
export const redemptionAliases = { redemption_type: 'redemption_scope' };

/** Selects the events of a list. */
export type EventSelection = Pick<PnlEventFilter, 'actions' | 'emptied' | 'txHash'>;

/** Selects the redemptions of a query; null: none can match. */
export function redemptionsOf(query: z.output<z.ZodObject<typeof comboRedemptionsQuery>>): EventSelection | null {
  const { redemption_scope: scope, tx_hash: txHash = null } = query;
  if (scope === 'transformation') return null;
  return { actions: ['REDEEM'], emptied: scope === 'all' ? null : scope === 'full', txHash };
}

/** A page of combo events that a query selects, newest first; `choice` null: none can match. */
export const comboEventsPage = (
  { combos }: Readers,
  query: z.output<z.ZodObject<typeof comboListQuery>> & { readonly wallet?: string | undefined },
  choice: EventSelection | null,
  context: RequestContext,
) =>
  cursorPage(pnlEventCursor, context, query, (beyond) =>
    combos.events(
      {
        ...(choice ?? { actions: [] }),
        wallet: query.wallet ?? null,
        tokenIds: choice === null ? [] : comboTokensOf(query),
        ...timeRangeOf(query.after, query.before),
        beyond,
      },
      query,
    ),
  );

/** Selects the events of a query's kind. */
export const kindOf = ({ event_kind: kind }: { readonly event_kind?: keyof typeof actions }): EventSelection => ({
  actions: kind === undefined ? null : [actions[kind]],
});

/** Pagination fields of the example of such a page. */
export const exampleEventsPaging = (endpoint: string) => ({
  ...examplePaging,
  next_cursor: cursorsOf(pnlEventCursor, { endpoint }).write(pnlEventCursorOf(exampleComboEvent)),
});

/** GET combo positions of a wallet, their PnL, and the events that changed them. */
export function createComboPositionRoutes(readers: Readers): readonly Route[] {
  const { positions, pnl, combos } = readers;

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
      const by = { value: newestFirst.key, id: newestFirst.id, direction: newestFirst.order };
      const page = rankedPage(ordered(selected, newestFirst), by, query, context);
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

  const activity = defineRoute({
    ...common,
    path: '/v3/wallets/{address}/combos/activity',
    reads: ['pnl'],
    summary: "Changes of a wallet's combo positions, newest first",
    description: 'One row per position: a split or a merge has two.',
    params: z.object({ address: v3.address }),
    query: z.object({ ...comboListQuery, event_kind: eventKindParam }),
    aliases: comboListAliases,
    success: {
      description: 'A page of position changes',
      schema: z.object({
        address: z.string(),
        activity: z.array(comboEventSchema),
        position_type: z.literal('combo'),
        source: z.literal('v3.wallet_combos.activity'),
        ...pageFields,
      }),
      example: {
        address: EXAMPLE_WALLET,
        activity: [comboEventFrom(exampleComboEvent)],
        position_type: 'combo',
        source: 'v3.wallet_combos.activity',
        ...exampleEventsPaging('/v3/wallets/{address}/combos/activity'),
      },
    },
    async handler({ params: { address }, query }, context) {
      const page = await comboEventsPage(readers, { ...query, wallet: address }, kindOf(query), context);
      return {
        body: {
          address,
          activity: page.rows.map(comboEventFrom),
          position_type: 'combo' as const,
          source: 'v3.wallet_combos.activity' as const,
          ...pagingOf(query, page, context),
        },
      };
    },
  });

  const redemptions = defineRoute({
    ...common,
    path: '/v3/wallets/{address}/combos/redemptions',
    reads: ['pnl', 'wallet_events'],
    summary: 'Redemptions of a wallet in combos, newest first',
    params: z.object({ address: v3.address }),
    query: z.object(comboRedemptionsQuery),
    aliases: { ...comboListAliases, ...redemptionAliases },
    success: {
      description: 'A page of redemptions',
      schema: z.object({
        address: z.string(),
        redemptions: z.array(comboRedemptionSchema),
        position_type: z.literal('combo'),
        source: z.literal('v3.wallet_combos.redemptions'),
        ...pageFields,
      }),
      example: {
        address: EXAMPLE_WALLET,
        redemptions: [comboRedemptionFrom(exampleComboEvent, BigInt(exampleComboEvent.cash))],
        position_type: 'combo',
        source: 'v3.wallet_combos.redemptions',
        ...exampleEventsPaging('/v3/wallets/{address}/combos/redemptions'),
      },
    },
    async handler({ params: { address }, query }, context) {
      const page = await comboEventsPage(readers, { ...query, wallet: address }, redemptionsOf(query), context);
      const payouts = await combos.payouts(page.rows);
      return {
        body: {
          address,
          redemptions: page.rows.map((row, i) => comboRedemptionFrom(row, payouts[i] ?? 0n)),
          position_type: 'combo' as const,
          source: 'v3.wallet_combos.redemptions' as const,
          ...pagingOf(query, page, context),
        },
      };
    },
  });

  return [list, summary, activity, redemptions];
}
