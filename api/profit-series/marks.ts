import { divide } from '../../schemas/primitives/money.js';
import type { Resolution, TokenFact } from '../catalogue/facts.js';
import type { Close } from './packed-closes.js';
import { endOf, type Grid, momentOf } from './series.sql.js';

/** A price from a moment of the grid on, 1e-6 USD. */
export interface Mark {
  readonly i: number;
  readonly price: number;
}

const ONE_USD = 1_000_000;

/**
 * Last traded prices of a token before each moment: its own or, where that was later, of the other outcome of a market of two, whose complement it is. An
 * hour that is not over at the end of the grid tells nothing yet. Closes come by their ends, which is the order of their places.
 */
export function marksOf(grid: Grid, own: readonly Close[], other: readonly Close[]): readonly Mark[] {
  const endS = endOf(grid);
  const newest: { readonly i: number; price: number }[] = [];
  const put = (endedS: number, price: number) => {
    const i = momentOf(grid, endedS);
    const before = newest.at(-1);
    if (before?.i === i) before.price = price;
    else newest.push({ i, price });
  };
  let [ours, theirs] = [0, 0];
  for (;;) {
    const [a, b] = [own[ours], other[theirs]];
    const isOwn = a !== undefined && (b === undefined || a.place < b.place);
    const close = isOwn ? a : b;
    if (close === undefined || close.endS > endS) break;
    if (isOwn) ours++;
    else theirs++;
    put(close.endS, isOwn ? close.price : Math.max(0, ONE_USD - close.price));
  }
  return newest;
}

/** From which moment on a condition is settled, and what a token pays then, 1e-6 USD; null while it is open at the end of the grid. */
export function settlementOf(
  token: TokenFact | null,
  resolution: Resolution | null,
  grid: Grid,
): { readonly i: number; readonly price: bigint } | null {
  const payout = token === null ? undefined : resolution?.payouts[token.outcomeIndex];
  if (resolution === null || payout === undefined || resolution.denominator === 0n) return null;
  if (resolution.resolvedAtS > endOf(grid)) return null;
  return {
    i: momentOf(grid, resolution.resolvedAtS),
    price: divide(payout * BigInt(ONE_USD), resolution.denominator, 'half_up'),
  };
}
