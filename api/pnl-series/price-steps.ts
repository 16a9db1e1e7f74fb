import { divide } from '../../schemas/primitives/money.js';
import type { TokenMetadata } from '../catalog/metadata.js';
import type { Resolution } from '../catalog/resolution.js';
import type { HourlyClose } from './packed-hourly-closes.js';
import { bucketIndexOf, newestTimeOf, type TimeGrid } from './time-grid.js';

const ONE_USD = 1_000_000;

/**
 * Last traded prices of a token in the buckets of a grid: alternating bucket index and price from it on (1e-6 USD). The price is that of the token, or the
 * complement of the other outcome's price in a two-outcome market if that traded later. The open hour at the newest bucket has no price yet. Closes are in the
 * order of their ends, which is the order of their log positions.
 */
export function priceStepsOf(timeGrid: TimeGrid, own: readonly HourlyClose[], other: readonly HourlyClose[]): number[] {
  const newestS = newestTimeOf(timeGrid);
  const steps: number[] = [];
  const put = (endedS: number, price: number) => {
    const bucketIndex = bucketIndexOf(timeGrid, endedS);
    if (steps.length > 0 && steps.at(-2) === bucketIndex) steps[steps.length - 1] = price;
    else if (steps.at(-1) !== price || steps.length === 0) steps.push(bucketIndex, price);
  };
  let [ownAt, otherAt] = [0, 0];
  for (;;) {
    const [a, b] = [own[ownAt], other[otherAt]];
    const isOfToken = a !== undefined && (b === undefined || a.place < b.place);
    const close = isOfToken ? a : b;
    if (close === undefined || close.endS > newestS) break;
    if (isOfToken) ownAt++;
    else otherAt++;
    put(close.endS, isOfToken ? close.price : Math.max(0, ONE_USD - close.price));
  }
  return steps;
}

/** Bucket from which a condition is settled, and the payout of the token, 1e-6 USD; null if it is open in the newest bucket. */
export function settlementOf(
  token: TokenMetadata | null,
  resolution: Resolution | null,
  timeGrid: TimeGrid,
): { readonly bucketIndex: number; readonly price: bigint } | null {
  const payout = token === null ? undefined : resolution?.payouts[token.outcomeIndex];
  if (resolution === null || payout === undefined || resolution.denominator === 0n) return null;
  if (resolution.resolvedAtS > newestTimeOf(timeGrid)) return null;
  return {
    bucketIndex: bucketIndexOf(timeGrid, resolution.resolvedAtS),
    price: divide(payout * BigInt(ONE_USD), resolution.denominator, 'half_up'),
  };
}
