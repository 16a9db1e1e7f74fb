/**
 * Channel of an event: the unit of unfiltered fan-out. Each event kind is one channel, except that oracle prices have one channel per TWAP window,
 * because a chainlink subscription without filters receives spot prices only.
 */
export function channelOf(kind: string, twapWindowS: number | null): string {
  return kind === 'price_feed' ? `price_feed:${twapWindowS ?? 'spot'}` : kind;
}
