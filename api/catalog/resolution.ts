import type { ResolutionRow } from './metadata.sql.js';

/** Settlement of a condition. */
export interface Resolution {
  /** Payout numerators in outcome order. */
  readonly payouts: readonly bigint[];
  /** Sum of `payouts`; a share of outcome i pays payouts[i] / denominator. */
  readonly denominator: bigint;
  /** Index of the only outcome with a payout; null if several pay. */
  readonly winner: number | null;
  readonly resolvedAtS: number;
}

/** Computes the settlement of a condition from its payout numerators. */
export function resolutionOf(row: Pick<ResolutionRow, 'payouts' | 'resolved_at'>): Resolution {
  const payouts = row.payouts.map(BigInt);
  const paying = payouts.flatMap((payout, index) => (payout > 0n ? [index] : []));
  return {
    payouts,
    denominator: payouts.reduce((sum, payout) => sum + payout, 0n),
    winner: paying.length === 1 ? (paying[0] as number) : null,
    resolvedAtS: Number(row.resolved_at),
  };
}
