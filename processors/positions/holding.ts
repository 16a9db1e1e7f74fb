import { divide } from '../../schemas/primitives/money.js';
import type { Position } from '../../schemas/types.gen.js';

/** A position while it is worked on. */
export type Holding = { -readonly [K in keyof Position]: Position[K] };

/** Costs and profits carry 18 decimals, amounts 6. */
export const SCALE = 10n ** 12n;

/** Math.min takes no bigint. */
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
 * Take `shares` in at `cost` (18 decimals). `feeShares` of them never arrive; they stay in the quantity that the cost stands for, so that the
 * average is what was paid over what was bought, as the venue counts it.
 */
export function acquire(holding: Holding, shares: bigint, feeShares: bigint, cost: bigint): void {
  holding.size += shares - feeShares;
  holding.quantity += shares;
  holding.cost += cost;
  holding.bought += shares;
  if (holding.bought_cost !== null) holding.bought_cost += cost;
  holding.fee_shares += feeShares;
}

/** What left a position. Shares: tracked + received of what is held; untracked were never seen coming. */
export interface Outflow {
  readonly tracked: bigint;
  readonly received: bigint;
  readonly untracked: bigint;
  /** Of the tracked shares at the average, 18 decimals, rounded towards zero: the rest stays. */
  readonly cost: bigint;
}

/**
 * Take `amount` out, all that is held when null: first what was bought, then what came without a cost. The average stays as it is. When nothing
 * bought is left, what the fee shares had cost becomes `fee_cost`.
 */
export function release(holding: Holding, amount: bigint | null): Outflow {
  const wanted = amount ?? holding.size + holding.received;
  const tracked = minBigInt(wanted, holding.size);
  const received = minBigInt(wanted - tracked, holding.received);
  holding.received -= received;
  const cost = releaseTracked(holding, tracked);
  return { tracked, received, untracked: wanted - tracked - received, cost };
}

/** Cost of `shares` (at most `size`) at the average, rounded towards zero. */
export function costOf(holding: Position, shares: bigint): bigint {
  return shares === 0n ? 0n : (holding.cost * shares) / holding.quantity;
}

/** Take `shares` (at most `size`) out of what was bought. Returns their cost. */
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

/** Book `proceeds` (18 decimals) against the cost of what left. Returns the profit. */
export function realize(holding: Holding, proceeds: bigint, cost: bigint): bigint {
  const profit = proceeds - cost;
  holding.realized += profit;
  return profit;
}

/**
 * Average price with 18 decimals, rounded half up: of what is held; of a finished position, all that was paid over all that was bought; 0 for what never
 * had a cost. Of positions begun before the sum was kept: what was held last.
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
 * `change` as the difference between its total before and after it, each in base units: the changes of a total add up to the rounded total
 * whatever lies between, and a change of nothing is nothing. `after`: the total with the change in it, 18 decimals.
 */
export function changeInBase(change: bigint, after: bigint): bigint {
  return toBase(after) - toBase(after - change);
}
