import type { HeldPosition } from './position.js';

export const marketStatuses = ['live', 'resolved-win', 'resolved-loss', 'resolved-unknown', 'closed'] as const;
export type MarketStatus = (typeof marketStatuses)[number];

const WON = 1_000_000n;

/** How the market of a position stands for it; a market whose outcomes share the payout is neither won nor lost. */
export function marketStatusOf({ price, about }: Pick<HeldPosition, 'price' | 'about'>): MarketStatus {
  if (price.source === 'settlement') {
    if (price.usd === WON) return 'resolved-win';
    return price.usd === 0n ? 'resolved-loss' : 'resolved-unknown';
  }
  if (about.status !== 'resolved') return about.status;
  if (about.winner === null || about.outcomeIndex === null) return 'resolved-unknown';
  return about.winner === about.outcomeIndex ? 'resolved-win' : 'resolved-loss';
}
