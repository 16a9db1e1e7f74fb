import type { FillReader } from '../fills/reader.js';
import type { PageQuery } from '../pagination/list-page.js';
import { rankedPage } from '../pagination/ranked-page.js';
import { ordered } from './order.js';
import { type Position, positionId } from './position.js';
import type { PositionStatus } from './positions.sql.js';
import { byRank, type PositionReader } from './reader.js';

/** Non-empty in an open market, non-empty in a settled one, or empty. */
export type HoldingStatus = 'open' | 'redeemable' | 'closed';
export const holdingStatusOf = ({ size, price }: Pick<Position, 'size' | 'price'>): HoldingStatus => {
  if (size === 0n) return 'closed';
  return price.source === 'settlement' ? 'redeemable' : 'open';
};

/** Selects positions; at least one of the first three fields is set. */
export interface HoldingFilter {
  readonly wallet?: string;
  readonly tokenId?: string;
  readonly conditionId?: string;
  /** null: any status. */
  readonly status: HoldingStatus | null;
  /** Shares, base units; null: any size. */
  readonly minSize: bigint | null;
}

/** The status as far as the table of positions knows it: settlement is a property of the token. */
const sharesStatusOf = ({ status }: HoldingFilter): PositionStatus =>
  status === null ? 'all' : status === 'closed' ? 'closed' : 'open';

/** A page of the list. */
export interface HoldingPage extends PageQuery {
  readonly endpoint: string;
  readonly order: 'asc' | 'desc';
}

/** Characters of the longest position id: address, hyphen, 78 digits. */
const ID_LENGTH = 121;
/** Maximum age of a cached copy of a wallet's positions. */
const MAX_POSITIONS_AGE_MS = 20_000;

/** Positions of a wallet, a token or a market, ordered by size. */
export function createPositionsBySize(deps: { positions: PositionReader; fills: FillReader }) {
  const { positions, fills } = deps;

  const ofWallet = async (
    wallet: string,
    among: readonly string[] | null,
    filter: HoldingFilter,
    order: 'asc' | 'desc',
  ) => {
    const all = await positions.ofWallet(wallet, MAX_POSITIONS_AGE_MS);
    const selection = {
      tokens: among,
      status: sharesStatusOf(filter),
      minSize: filter.minSize,
      first: order === 'asc' ? 'smallest' : 'largest',
    } as const;
    const { value: walletPositions } = all.isPartial
      ? await positions.ofWallet(wallet, MAX_POSITIONS_AGE_MS, selection)
      : all;
    const chosen = among === null ? null : new Set(among);
    const matching = walletPositions.filter(
      (one) =>
        (chosen === null || chosen.has(one.tokenId)) &&
        (filter.status === null || holdingStatusOf(one) === filter.status) &&
        (filter.minSize === null || one.size >= filter.minSize),
    );
    // Equal sizes are ordered by the amount paid; both values are below 2^64.
    const ranked = matching.map((one) => ({ id: positionId(one), value: (one.size << 64n) | one.boughtUsdc }));
    return ordered(ranked, {
      value: (one) => one.value,
      direction: order,
      id: (one) => one.id.padStart(ID_LENGTH, '0'),
    });
  };

  /** Holders of tokens; settlement is a property of the token, not of the holder. */
  const ofTokens = (tokenIds: readonly string[], filter: HoldingFilter, order: 'asc' | 'desc') => {
    const { status, minSize } = filter;
    const settled = status === null || status === 'closed' ? null : status === 'redeemable';
    const holders = { tokenIds, status: sharesStatusOf(filter), settled, minSize, wallets: null };
    return positions.rankedHolders(holders, 'size', order);
  };

  return async (filter: HoldingFilter, page: HoldingPage) => {
    const { wallet } = filter;
    const among = await fills.tokens({ tokenId: filter.tokenId, conditionId: filter.conditionId });
    const list =
      wallet === undefined
        ? await ofTokens(among ?? [], filter, page.order)
        : await ofWallet(wallet, among, filter, page.order);
    const of = { endpoint: page.endpoint, order: `selected ${page.order}` };
    const { rows, cursor } = rankedPage(list, byRank(page.order), page, of);
    return { rows: await positions.byId(rows.map((row) => row.id)), cursor };
  };
}
