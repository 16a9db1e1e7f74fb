import { z } from 'zod';
import {
  allFills,
  type FillFilter,
  onlyCombos,
  storedBuilderCode,
  timeRangeOf,
  withoutCombos,
} from '../../../fills/filter.js';
import type { TokenChoice, TokenSelection } from '../../../fills/tokens.sql.js';
import { marketAliases, timeRangeAliases } from '../../../http/aliases.js';
import { baseUnitsParam, tokenIdParam, usdParam } from '../../../http/chain-params.js';
import { integerParam, patternParam } from '../../../http/params.js';
import { cursorText } from '../../../pagination/cursor.js';
import { orderedPaging, paging, times, v3 } from '../params.js';

const usd = {
  min_amount_usd: usdParam({
    description: 'Minimum USD amount of a fill; decimals allowed.',
    invalid: 'invalid min_amount_usd: use a decimal number, 0 or more',
    example: 100.5,
  }).optional(),
};
/** Aliases of the parameters of the fill lists. */
export const marketFillAliases = timeRangeAliases('after', 'before');
export const fillAliases = { ...marketFillAliases, ...marketAliases('market_slug') };

export const builderAliases = { ...fillAliases, category: 'tag_slug' };

const orders = { order_hash: v3.hashOf('order_hash', 'Fills of one signed order.') };
const sorted = {
  sort_by: v3
    .choice('sort_by', ['order_hash'], 'Fills of one order next to each other, orders by their most recent fill.')
    .optional(),
};
const byOrder = { group_by: v3.choice('group_by', ['order_hash'], 'order_hash: one row per order.').optional() };
const makerAmount = {
  min_amount: baseUnitsParam({
    description: 'Minimum maker amount of a fill in 6-decimal base units.',
    invalid: 'invalid min_amount: use a whole number of base units, 0 or more',
  }).optional(),
};
const marketParams = {
  token_id: v3.token,
  condition_id: v3.hashOf('condition_id', 'Condition id of a market.'),
  market_slug: v3.slugOf('market_slug', 'Market slug.'),
  event_slug: v3.slugOf('event_slug', 'Event slug: fills of all its markets.'),
  event_id: integerParam({
    description: 'Event id, as `/v1/event/{slug}` has it: fills of all its markets.',
    invalid: 'invalid event_id: use a whole number',
    min: 0,
    max: Number.MAX_SAFE_INTEGER,
    documentedMax: false,
  }).optional(),
};

const sideValues = ['buy', 'sell', '0', '1'] as const;
const makerSide = v3
  .choice('side', sideValues, 'Side of the maker order.', ', ')
  .transform((value) => (value === 'buy' || value === '0' ? ('BUY' as const) : ('SELL' as const)))
  .meta({ type: 'string', enum: [...sideValues], description: 'Side of the maker order: 0 is buy, 1 is sell.' })
  .optional();

/** Query of GET /v3/trades. All filters are ANDed and apply before pagination. */
export const tradesQuery = z.object({
  ...times,
  ...orderedPaging,
  ...marketParams,
  ...orders,
  ...usd,
  ...makerAmount,
  builder: v3.hashOf('builder', 'Builder code the order carries.'),
  side: makerSide,
  ...sorted,
  ...byOrder,
  matches_only: v3.flag(
    'matches_only',
    "Each match once, as its maker's order: without the takers' own orders, which repeat the sum of the makers' fills.",
  ),
});

export const walletTradesQuery = z.object({
  ...times,
  ...orderedPaging,
  ...marketParams,
  ...orders,
  ...usd,
  ...makerAmount,
  side: v3.choice('side', ['maker', 'taker', 'both'], 'Role of the wallet in the fill. Default both.').default('both'),
  ...sorted,
  group_by: v3
    .choice(
      'group_by',
      ['order_hash', 'user_trade', 'transaction_hash'],
      'order_hash: one row per order of the wallet. user_trade, or transaction_hash: one row per token and direction the wallet traded in a transaction.',
    )
    .optional(),
  include_combos: v3.flag('include_combos', 'Add the field `combo_trades`. Not with order_hash.'),
  combo_cursor: cursorText('`combo_next_cursor` of the previous page; only with include_combos.'),
});

export const marketTradesQuery = z.object({ ...times, ...orderedPaging, ...orders, ...usd, ...sorted, ...byOrder });

export const builderTradesQuery = z.object({
  ...times,
  ...orderedPaging,
  ...marketParams,
  ...usd,
  ...makerAmount,
  side: makerSide,
  tag_slug: v3.slugOf('tag_slug', 'Tag slug of the markets.'),
});

const COMBO_CONDITION = /^0x[0-9a-f]{62}$/;
/** Module 3 (byte 1), hash (16), arity 2 (2), reserved (8), resolution chain (2), condition index 0 (2). */
const EXAMPLE_COMBO_CONDITION = `0x03${'c1'.repeat(16)}0002${'00'.repeat(12)}`;
const comboCondition = (name: string) =>
  patternParam({
    description: 'Combo condition id.',
    invalid: `invalid ${name}: use 0x and 62 hex digits`,
    pattern: COMBO_CONDITION,
    example: EXAMPLE_COMBO_CONDITION,
  });

/** Aliases of `comboParams`. */
export const comboAliases = { market_id: 'condition_id' };
/** Parameters that select combos. */
export const comboParams = {
  condition_id: comboCondition('condition_id').optional(),
  position_id: tokenIdParam({ invalid: 'invalid position_id: use a decimal uint256' }).optional(),
};

export const comboTradesQuery = z.object({
  ...comboParams,
  side: v3.choice('side', ['BUY', 'SELL', 'all'], 'Side of the signed order. Default all.').default('all'),
  ...paging,
});

/** Query fields of the fill lists; `side` may be a role. */
export type FillQuery = Partial<Omit<z.output<typeof tradesQuery>, 'side' | 'group_by'>> & { readonly side?: string };

/** Names that the catalogue must translate to tokens. */
export function selectionOf(query: FillQuery & { tag_slug?: string }): TokenSelection {
  return {
    tokenId: query.token_id,
    conditionId: query.condition_id,
    marketSlug: query.market_slug,
    eventSlug: query.event_slug,
    eventId: query.event_id === undefined ? undefined : String(query.event_id),
    tagSlug: query.tag_slug,
  };
}

/** Filter of a query. `chosen`: tokens of the query's names. */
export function filterOf(query: FillQuery, chosen: TokenChoice | null): FillFilter {
  return {
    ...allFills,
    ...(chosen ?? {}),
    ...timeRangeOf(query.after, query.before),
    orderHash: query.order_hash ?? null,
    minUsdc: query.min_amount_usd ?? null,
    minMakerAmount: query.min_amount ?? null,
    builder: storedBuilderCode(query.builder),
    side: query.side === 'BUY' || query.side === 'SELL' ? query.side : null,
    matchesOnly: query.matches_only ?? false,
  };
}

export type WalletTradesQuery = z.output<typeof walletTradesQuery>;

export const groupsTrades = (query: { readonly group_by?: string | undefined }): boolean =>
  query.group_by === 'user_trade' || query.group_by === 'transaction_hash';

/**
 * Filter for a wallet's fills. Grouped lists read only the wallet's own orders: those rows already include the matched makers' fills. In a grouped list the
 * role of a row says whether that order was the taker's.
 */
export function walletFilterOf(address: string, query: WalletTradesQuery, chosen: TokenChoice | null): FillFilter {
  const filter = { ...filterOf(query, chosen), wallets: [address], versions: withoutCombos };
  if (query.group_by !== undefined)
    return {
      ...filter,
      role: 'maker',
      matchesOnly: filter.matchesOnly || query.side === 'maker',
      takerOrdersOnly: query.side === 'taker',
    };
  return { ...filter, role: query.side === 'both' ? null : query.side };
}

/** Token ids that match all given combo names; null without a name. A combo condition has two tokens: its id with the outcome as last byte. */
export function comboTokensOf(query: z.output<z.ZodObject<typeof comboParams>>): string[] | null {
  const conditions = query.condition_id === undefined ? [] : [query.condition_id];
  const named = conditions.map((id) => [0n, 1n].map((outcome) => ((BigInt(id) << 8n) | outcome).toString()));
  const given = query.position_id === undefined ? named : [...named, [query.position_id]];
  const [first, ...rest] = given;
  return first === undefined ? null : first.filter((id) => rest.every((list) => list.includes(id)));
}

/** Filter for a wallet's combo fills. */
export function comboFilterOf(address: string, query: z.output<typeof comboTradesQuery>): FillFilter {
  return {
    ...allFills,
    wallets: [address],
    versions: onlyCombos,
    tokenIds: comboTokensOf(query),
    side: query.side === 'all' ? null : query.side,
  };
}
