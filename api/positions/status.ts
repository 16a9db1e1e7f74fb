import type { PositionWithMetadata } from './position.js';

export const marketStatuses = ['live', 'resolved-win', 'resolved-loss', 'resolved-unknown', 'closed'] as const;
export type MarketStatus = (typeof marketStatuses)[number];

const FULL_PAYOUT = 1_000_000n;

/** Status of a position's market for this outcome; a market whose outcomes share the payout is neither won nor lost. */
export function marketStatusOf({ price, metadata }: Pick<PositionWithMetadata, 'price' | 'metadata'>): MarketStatus {
  if (price.source === 'settlement') {
    if (price.usd === FULL_PAYOUT) return 'resolved-win';
    return price.usd === 0n ? 'resolved-loss' : 'resolved-unknown';
  }
  if (metadata.status !== 'resolved') return metadata.status;
  if (metadata.winner === null || metadata.outcomeIndex === null) return 'resolved-unknown';
  return metadata.winner === metadata.outcomeIndex ? 'resolved-win' : 'resolved-loss';
}
