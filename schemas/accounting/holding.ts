import { divide } from '../primitives/money.js';
import type { Position } from '../types.gen.js';

/** A mutable position. */
export type Holding = { -readonly [K in keyof Position]: Position[K] };

/** Factor between costs and profits (18 decimals) and amounts (6 decimals). */
export const SCALE = 10n ** 12n;

/** Math.min does not accept bigints. */
export function minBigInt(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

export function createHolding(wallet: string, tokenId: string, firstMs: number): Holding {
  return {
    wallet,
    token_id: tokenId,
    version: 0,
    size: 0n,
    received: 0n,
    quantity: 0n,
    cost: 0n,
    realized: 0n,
    fees: 0n,
    fee_shares: 0n,
    fee_cost: 0n,
    sent_cost: 0n,
    bought: 0n,
    bought_usdc: 0n,
    sold_usdc: 0n,
    closing_cost: 0n,
    closing_quantity: 0n,
    bought_cost: 0n,
    fills: 0,
    unpriced: 0,
    first_ms: firstMs,
    last_ms: firstMs,
    last_trade_ms: null,
    last_redeem_ms: null,
  };
}

/**
 * Adds `shares` at `cost` (18 decimals). The venue retains `feeShares` of them as a fee; they remain in the quantity that the cost refers to, so
 * that the average is amount paid / shares bought, as the venue computes it.
 */
export function acquire(holding: Holding, shares: bigint, feeShares: bigint, cost: bigint): void {
  holding.size += shares - feeShares;
  holding.quantity += shares;
  holding.cost += cost;
  holding.bought += shares;
  if (holding.bought_cost !== null) holding.bought_cost += cost;
  holding.fee_shares += feeShares;
}

/** Shares that left a position: tracked and received ones were in the position; the inflow of untracked ones was never recorded. */
export interface Outflow {
  readonly tracked: bigint;
  readonly received: bigint;
  readonly untracked: bigint;
  /** Cost of the tracked shares at the average price, 18 decimals, rounded towards zero; the remainder stays in the position. */
  readonly cost: bigint;
}

/**
 * Removes `amount` (null: all shares): first bought shares, then shares received without cost. The average price does not change. When no bought
 * share is left, the cost of the fee shares becomes `fee_cost`.
 */
export function release(holding: Holding, amount: bigint | null): Outflow {
  const requested = amount ?? holding.size + holding.received;
  const tracked = minBigInt(requested, holding.size);
  const received = minBigInt(requested - tracked, holding.received);
  holding.received -= received;
  const cost = releaseTracked(holding, tracked);
  return { tracked, received, untracked: requested - tracked - received, cost };
}

/** Cost of `shares` (at most `size`) at the average, rounded towards zero. */
export function costOf(holding: Position, shares: bigint): bigint {
  return shares === 0n ? 0n : (holding.cost * shares) / holding.quantity;
}

/** Removes `shares` (at most `size`) from the bought shares. Returns their cost. */
export function releaseTracked(holding: Holding, shares: bigint): bigint {
  if (shares === 0n) return 0n;
  if (shares === holding.size) {
    holding.closing_cost = holding.cost;
    holding.closing_quantity = holding.quantity;
  }
  const cost = costOf(holding, shares);
  holding.cost -= cost;
  holding.quantity -= shares;
  holding.size -= shares;
  if (holding.size === 0n) {
    holding.fee_cost += holding.cost;
    holding.cost = 0n;
    holding.quantity = 0n;
  }
  return cost;
}

/** Realizes `proceeds` minus `cost` of the removed shares (18 decimals). Returns the profit. */
export function realize(holding: Holding, proceeds: bigint, cost: bigint): bigint {
  const profit = proceeds - cost;
  holding.realized += profit;
  return profit;
}

/**
 * Average price with 18 decimals, rounded half up: of the current shares; for a closed position, total paid / total bought; 0 if no share had
 * a cost. For positions opened before the sum was recorded: the last average.
 */
export function averagePrice(position: Position): bigint {
  const [cost, quantity] =
    position.quantity > 0n
      ? [position.cost, position.quantity]
      : position.bought_cost !== null
        ? [position.bought_cost, position.bought]
        : [position.closing_cost, position.closing_quantity];
  // 18 decimals over 6: a million makes it 18 again.
  return quantity === 0n ? 0n : divide(cost * 1_000_000n, quantity, 'half_up');
}

/** 18 decimals to base units, half up. */
export function toBase(scaled: bigint): bigint {
  return divide(scaled, SCALE, 'half_up');
}

/**
 * `change` as the difference of its total before and after, each rounded to base units, so that the changes of a total add up to the rounded
 * total and a zero change is zero. `after`: the total including the change, 18 decimals.
 */
export function changeInBase(change: bigint, after: bigint): bigint {
  return toBase(after) - toBase(after - change);
}
