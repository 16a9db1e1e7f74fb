import { divide } from '../../schemas/primitives/money.js';
import type { TokenMetadata } from '../catalog/metadata.js';
import type { Resolution } from '../catalog/resolution.js';
import type { HourlyClose } from './packed-hourly-closes.js';
import { bucketIndexOf, newestTimeOf, type TimeGrid } from './time-grid.js';

const ONE_USD = 1_000_000;

/**
 * Last traded prices of a token at the slots of a frame, a slot and the price from it on in turn (1e-6 USD): its own or, where that was later, of the
 * other outcome of a market of two, whose complement it is. An hour that is not over at the newest slot tells nothing yet. Closes come by
 * their ends, which is the order of their places.
 */
export function priceStepsOf(frame: TimeGrid, own: readonly HourlyClose[], other: readonly HourlyClose[]): number[] {
  const newestS = newestTimeOf(frame);
  const steps: number[] = [];
  const put = (endedS: number, price: number) => {
    const slot = bucketIndexOf(frame, endedS);
    if (steps.length > 0 && steps.at(-2) === slot) steps[steps.length - 1] = price;
    else if (steps.at(-1) !== price || steps.length === 0) steps.push(slot, price);
  };
  let [ours, theirs] = [0, 0];
  for (;;) {
    const [a, b] = [own[ours], other[theirs]];
    const isOwn = a !== undefined && (b === undefined || a.place < b.place);
    const close = isOwn ? a : b;
    if (close === undefined || close.endS > newestS) break;
    if (isOwn) ours++;
    else theirs++;
    put(close.endS, isOwn ? close.price : Math.max(0, ONE_USD - close.price));
  }
  return steps;
}

/** From which slot on a condition is settled, and what a token pays then, 1e-6 USD; null while it is open at the newest slot. */
export function settlementOf(
  token: TokenMetadata | null,
  resolution: Resolution | null,
  frame: TimeGrid,
): { readonly bucketIndex: number; readonly price: bigint } | null {
  const payout = token === null ? undefined : resolution?.payouts[token.outcomeIndex];
  if (resolution === null || payout === undefined || resolution.denominator === 0n) return null;
  if (resolution.resolvedAtS > newestTimeOf(frame)) return null;
  return {
    bucketIndex: bucketIndexOf(frame, resolution.resolvedAtS),
    price: divide(payout * BigInt(ONE_USD), resolution.denominator, 'half_up'),
  };
}
