import { isVenueContract } from '../../schemas/primitives/venue.js';
import type { Trade } from '../../schemas/types.gen.js';
import { minBigInt } from '../positions/holding.js';

/** What the other fills of a transaction say about one fill. */
export interface MatchedFill {
  /** Collateral and shares that really changed hands. */
  readonly usdc: bigint;
  readonly shares: bigint;
  /** Full sets made (negative: unmade) by a maker's fill and its match. */
  readonly minted: bigint;
  /** The maker filled straight against `taker`, who has no order, so no fill of its own. */
  readonly direct: boolean;
}

/** The sets a maker's fill makes with a taker: both buy, opposite outcomes come into being; both sell, they go. */
function mintedBy(maker: Trade, taker: Trade): bigint {
  if (maker.token_id === taker.token_id) return 0n;
  return maker.side === 'BUY' ? maker.shares : -maker.shares;
}

/**
 * What a taker's own fill comes to. Its log repeats what the order put up for the match, of which the exchange hands back what the makers did not
 * take: so what it gave is what the makers got (of a mint or merge: the part of the set they did not pay or get), if that is less.
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
 * The fills of one transaction in log order, each with what the others say about it. A match is its makers' fills, which name the taker, followed
 * by the taker's own fill on the same exchange.
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
    const others: Trade[] = [];
    for (const maker of open)
      (maker.taker === fill.maker && maker.exchange === fill.exchange ? makers : others).push(maker);
    open = others;
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
