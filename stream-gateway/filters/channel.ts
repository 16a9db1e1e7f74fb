/**
 * The unit that is fanned out whole: a subscription without filters gets all events of a channel or none. A kind is a channel, except
 * that oracle prices are split by window, because the plain chainlink subscription wants spot alone.
 */
export function channelOf(kind: string, twapWindowS: number | null): string {
  return kind === 'price_feed' ? `price_feed:${twapWindowS ?? 'spot'}` : kind;
}
