import { z } from 'zod';
import type { PositionRow } from './positions.sql.js';

/** Whether the recorded history has all changes of a position. */
export interface Completeness {
  /**
   * False if a change shows that earlier history is missing: shares left that never came in, an amount without a price, or a conversion of an
   * unknown number of questions, which may have created shares.
   */
  readonly isComplete: boolean;
  /** False if there may be more shares than `size`. A redemption takes all shares: after it the size is known. */
  readonly isSizeKnown: boolean;
}

export function completenessOf(row: Pick<PositionRow, 'unpriced' | 'last_at' | 'last_redeemed_at'>): Completeness {
  const isComplete = Number(row.unpriced) === 0;
  const isRedeemed = row.last_redeemed_at !== null && Number(row.last_redeemed_at) === Number(row.last_at);
  return { isComplete, isSizeKnown: isComplete || isRedeemed };
}

/** Amounts of a position with their units as in `Position`. */
interface Amounts extends Completeness {
  readonly size: bigint;
  readonly avgPrice: bigint;
  readonly realizedPnl: bigint;
  readonly totalBought: bigint;
  readonly initialValue: bigint;
  readonly currentValue: bigint;
  readonly unrealizedPnl: bigint;
  readonly totalPnl: bigint;
}

/** Amounts of a position as far as they are known: null for a 0 that only means that the history lacks the changes that determine the amount. */
export type KnownAmounts = { readonly [K in Exclude<keyof Amounts, keyof Completeness>]: bigint | null };

export function knownAmountsOf(position: Amounts): KnownAmounts {
  const { size, isComplete, isSizeKnown } = position;
  const ofShares = (amount: bigint) => (size === 0n && !isSizeKnown ? null : amount);
  const ofChanges = (amount: bigint) => (amount === 0n && !isComplete ? null : amount);
  const realizedPnl = ofChanges(position.realizedPnl);
  const unrealizedPnl = ofShares(position.unrealizedPnl);
  return {
    size: ofShares(size),
    initialValue: ofShares(position.initialValue),
    currentValue: ofShares(position.currentValue),
    unrealizedPnl,
    avgPrice: ofChanges(position.avgPrice),
    totalBought: ofChanges(position.totalBought),
    realizedPnl,
    totalPnl: realizedPnl === null && unrealizedPnl === null ? null : position.totalPnl,
  };
}

/** Applies a conversion to an amount that may be unknown. */
export const ifKnown = <T>(amount: bigint | null, convert: (amount: bigint) => T): T | null =>
  amount === null ? null : convert(amount);

/** The response field. */
export const completeField = z.boolean().meta({
  description:
    'false: the recorded history lacks earlier changes of this position, as later ones show (shares left that never came in, an amount without a price, a conversion of an unknown number of questions). Amounts then count what is recorded; those of which nothing is recorded are null, and a status counts only recorded shares.',
});

/** The response field of sums over positions. */
export const allCompleteField = z.boolean().meta({
  description:
    'false: the recorded history lacks earlier changes of at least one of these positions (`complete` of a position), and the sums count what is recorded.',
});
