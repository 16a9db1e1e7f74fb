import { valueAtPrice } from '../positions/position.js';
import { type HourlyCloses, NUMBERS_PER_CLOSE } from './hourly-closes.js';
import type { HoldingsRow, SampleTimes } from './series.sql.js';

const ONE_USD = 1_000_000;

/** Payout of a settled token, 1e-6 USD, from a time on, Unix seconds. */
export interface Payout {
  readonly atS: number;
  readonly price: bigint;
}

/** What prices a token over time. */
export interface TokenPrices {
  readonly closes: HourlyCloses | undefined;
  /** Closes of the other outcome of a two-outcome market. */
  readonly otherCloses: HourlyCloses | undefined;
  readonly payout: Payout | null;
}

/** Returns the newest price until a time: the payout if settled, else the later of both closes; null without one. Times must not decrease. */
function createPriceAt({ closes, otherCloses, payout }: TokenPrices): (atS: number) => bigint | null {
  let newest: { readonly price: bigint; readonly place: number } | null = null;
  const follow = (of: HourlyCloses | undefined, priceOf: (price: number) => number) => {
    let next = 0;
    return (atS: number) => {
      const before = next;
      while (of !== undefined && (of[next] ?? Number.POSITIVE_INFINITY) <= atS) next += NUMBERS_PER_CLOSE;
      if (of === undefined || next === before) return;
      const [price, place] = [of[next - 2] as number, of[next - 1] as number];
      if (newest === null || place > newest.place) newest = { price: BigInt(priceOf(price)), place };
    };
  };
  const followOwn = follow(closes, (price) => price);
  const followOther = follow(otherCloses, (price) => Math.max(0, ONE_USD - price));
  return (atS) => {
    if (payout !== null && payout.atS <= atS) return payout.price;
    followOwn(atS);
    followOther(atS);
    return newest?.price ?? null;
  };
}

/**
 * Adds the changes of a position's PnL between the sample times but the newest one, base units: cash received less paid less fees, plus the shares with a cost at their
 * price. Without a price they count at cost.
 */
export function addPositionChanges(
  holdings: HoldingsRow,
  prices: TokenPrices,
  { startS, stepS, points }: SampleTimes,
  add: (sample: number, change: bigint) => void,
): void {
  const priceAt = createPriceAt(prices);
  let [shares, cost, feeCost, value] = [0n, 0n, 0n, 0n];
  let next = 0;
  for (let sample = holdings.samples[0] ?? points; sample < points - 1; sample++) {
    if (holdings.samples[next] === sample) {
      add(sample, BigInt(holdings.cash[next] as string));
      shares = BigInt(holdings.shares[next] as string);
      cost = BigInt(holdings.costs[next] as string);
      feeCost = BigInt(holdings.fee_costs[next] as string);
      next++;
    }
    const price = priceAt(startS + sample * stepS);
    const newValue = (price === null ? cost : valueAtPrice(shares, price)) - feeCost;
    if (newValue !== value) add(sample, newValue - value);
    value = newValue;
    if (shares === 0n && next === holdings.samples.length) return;
  }
}
