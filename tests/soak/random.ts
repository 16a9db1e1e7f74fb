/** Pseudo-random integers from 0 to `below` - 1, the same for the same numbers (murmur3's finalizer over a sum of products). */
export function randomInt(below: number, ...from: readonly number[]): number {
  let h = 0;
  for (const value of from) {
    h = Math.imul(h ^ (value >>> 0), 0x85eb_ca6b);
    h ^= h >>> 13;
    h = Math.imul(h, 0xc2b2_ae35);
    h ^= h >>> 16;
    h = (h + 0x9e37_79b9) | 0;
  }
  return (h >>> 0) % below;
}

/** The n-th of an endless sequence of all `items` in random order, then all of them in another order, and so on. */
export function inRandomRounds<T>(items: readonly T[], n: number, seed: number): T {
  const round = Math.floor(n / items.length);
  const order = [...items];
  for (let i = order.length - 1; i > 0; i -= 1) {
    const j = randomInt(i + 1, seed, round, i);
    [order[i], order[j]] = [order[j] as T, order[i] as T];
  }
  return order[n % items.length] as T;
}
