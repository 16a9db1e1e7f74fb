import { minBigInt } from '../../schemas/accounting/holding.js';
import { isVenueContract } from '../../schemas/primitives/venue.js';
import type { Trade } from '../../schemas/types.gen.js';

/** Data about one fill that follows from the other fills of its transaction. */
export interface MatchedFill {
  /** Collateral and shares actually exchanged, base units. */
  readonly usdc: bigint;
  readonly shares: bigint;
  /** Full sets minted (negative: merged) by the match of a maker's fill, base units. */
  readonly minted: bigint;
  /** The maker order was filled directly by `taker`, who has no order and therefore no fill. */
  readonly direct: boolean;
}

/** Full sets minted by a maker's fill with a taker: if both buy, opposite outcomes are minted; if both sell, they are merged. */
function mintedBy(maker: Trade, taker: Trade): bigint {
  if (maker.token_id === taker.token_id) return 0n;
  return maker.side === 'BUY' ? maker.shares : -maker.shares;
}

/**
 * Amounts of a taker's fill. Its log has the amount that the order provided for the match; the exchange refunds the amount that the makers did not
 * use. So the amount paid is the amount that the makers received (for a mint or merge: the complement of their part of the set), if that is less.
 */
function takerAmounts(taker: Trade, makers: readonly Trade[]): { usdc: bigint; shares: bigint } {
  const { usdc, shares, side } = taker;
  if (makers.length === 0) return { usdc, shares };
  let given = 0n;
  for (const maker of makers) {
    if (side === 'SELL') given += maker.shares;
    else given += maker.token_id === taker.token_id ? maker.usdc : maker.shares - maker.usdc;
  }
  return side === 'SELL' ? { usdc, shares: minBigInt(shares, given) } : { usdc: minBigInt(usdc, given), shares };
}

/**
 * Matches the fills of one transaction, given in log order. A match consists of its makers' fills, which name the taker, followed by the
 * taker's fill on the same exchange.
 */
export function matchFills(fills: readonly Trade[]): ReadonlyMap<Trade, MatchedFill> {
  const found = new Map<Trade, MatchedFill>();
  let open: Trade[] = [];
  for (const fill of fills) {
    if (!fill.is_taker_order) {
      open.push(fill);
      continue;
    }
    const makers: Trade[] = [];
    const unmatched: Trade[] = [];
    for (const maker of open)
      (maker.taker === fill.maker && maker.exchange === fill.exchange ? makers : unmatched).push(maker);
    open = unmatched;
    for (const maker of makers)
      found.set(maker, { usdc: maker.usdc, shares: maker.shares, minted: mintedBy(maker, fill), direct: false });
    found.set(fill, { ...takerAmounts(fill, makers), minted: 0n, direct: false });
  }
  for (const fill of open) {
    const direct = !isVenueContract(fill.taker);
    found.set(fill, { usdc: fill.usdc, shares: fill.shares, minted: 0n, direct });
  }
  return found;
}
