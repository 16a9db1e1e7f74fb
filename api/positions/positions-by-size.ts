import type { Rankings } from '../catalog/rankings.js';
import type { FillReader } from '../fills/reader.js';
import { ordered } from './order.js';
import { type Position, positionId } from './position.js';
import type { PositionReader } from './reader.js';

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

/** A page of the list; `sessionKey` identifies caller and request. */
export interface HoldingPage {
  readonly order: 'asc' | 'desc';
  readonly sessionKey: string;
  readonly limit: number;
  readonly offset: number;
}

/** Maximum age of a cached copy of a wallet's positions from which a pagination session may start. */
const MAX_POSITIONS_AGE_MS = 20_000;

/** Positions of a wallet, a token or a market, ordered by size. */
export function createPositionsBySize(deps: { positions: PositionReader; fills: FillReader; rankings: Rankings }) {
  const { positions, fills, rankings } = deps;

  const ofWallet = async (
    wallet: string,
    among: readonly string[] | null,
    filter: HoldingFilter,
    order: 'asc' | 'desc',
  ) => {
    const { value: walletPositions } = await positions.ofWallet(wallet, MAX_POSITIONS_AGE_MS);
    const chosen = among === null ? null : new Set(among);
    const matching = walletPositions.filter(
      (one) =>
        (chosen === null || chosen.has(one.tokenId)) &&
        (filter.status === null || holdingStatusOf(one) === filter.status) &&
        (filter.minSize === null || one.size >= filter.minSize),
    );
    // Equal sizes are ordered by the amount paid; both values are below 2^64.
    const key = (one: Position) => (one.size << 64n) | one.boughtUsdc;
    return ordered(matching, { key, order, id: (one) => one.tokenId }).map(positionId);
  };

  /** Holders of tokens; settlement is a property of the token, not of the holder. */
  const ofTokens = async (tokenIds: readonly string[], filter: HoldingFilter, order: 'asc' | 'desc') => {
    const { status, minSize } = filter;
    const prices = status === null || status === 'closed' ? null : await positions.prices(tokenIds);
    const fitting = tokenIds.filter(
      (id) => prices === null || (prices.get(id)?.source === 'settlement') === (status === 'redeemable'),
    );
    const holderStatus = status === null ? 'all' : status === 'closed' ? 'closed' : 'open';
    return positions.rankedHolderIds(
      { tokenIds: fitting, status: holderStatus, minSize, wallets: null },
      'size',
      order,
    );
  };

  return async (filter: HoldingFilter, page: HoldingPage) => {
    const { wallet } = filter;
    const among = await fills.tokens({ tokenId: filter.tokenId, conditionId: filter.conditionId });
    const { ids, hasMore } = await rankings.page({
      ...page,
      load: () =>
        wallet === undefined ? ofTokens(among ?? [], filter, page.order) : ofWallet(wallet, among, filter, page.order),
    });
    return { rows: await positions.byId(ids), hasMore };
  };
}
