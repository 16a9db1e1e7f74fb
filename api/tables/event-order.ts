/** Sorts markets in the order of their event; markets that the event does not list follow by condition id. */
export function inEventOrder<T extends { readonly condition_id: string }>(
  markets: readonly T[],
  conditionIds: readonly string[],
): T[] {
  const indexOf = new Map(conditionIds.map((id, index) => [id, index]));
  const rank = (market: T): number => indexOf.get(market.condition_id) ?? conditionIds.length;
  return [...markets].sort((a, b) => rank(a) - rank(b) || (a.condition_id < b.condition_id ? -1 : 1));
}
