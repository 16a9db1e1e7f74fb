import { expect, it } from 'vitest';
import { addPositionChanges, type TokenPrices } from './position-changes.js';
import type { HoldingsRow } from './series.sql.js';

const HOUR_S = 3_600;
/** Samples 0 to 5 at full hours; the newest one, 5, is not computed. */
const times = { startS: 100 * HOUR_S, stepS: HOUR_S, points: 6 };
/** Ends of the hours as sample numbers, prices in 1e-6 USD, places in the log. */
const closes = (...list: readonly (readonly [sample: number, price: number, place: number])[]) =>
  Float64Array.from(list.flatMap(([sample, price, place]) => [times.startS + sample * HOUR_S, price, place]));

/** PnL at each sample. */
function pnlOf(holdings: Partial<HoldingsRow>, prices: Partial<TokenPrices>): number[] {
  const changes = [0, 0, 0, 0, 0];
  const none = (holdings.samples ?? []).map(() => '0');
  addPositionChanges(
    { token: '1', samples: [], cash: none, shares: none, costs: none, fee_costs: none, ...holdings },
    { closes: undefined, otherCloses: undefined, payout: null, ...prices },
    times,
    (sample, change) => {
      changes[sample] = (changes[sample] as number) + Number(change);
    },
  );
  let sum = 0;
  return changes.map((change) => {
    sum += change;
    return sum;
  });
}

/** A thousand shares for 400, bought before sample 1. */
const bought = { samples: [1], cash: ['-400'], shares: ['1000'], costs: ['400'] };

it('values a position at its cost until a close is known, then at the newest close of either outcome', () => {
  expect(pnlOf(bought, {})).toEqual([0, 0, 0, 0, 0]);
  // 0.50 from sample 2 on; at 3 the other outcome traded later, at 0.30.
  const own = closes([2, 500_000, 20], [3, 900_000, 30]);
  expect(pnlOf(bought, { closes: own, otherCloses: closes([3, 300_000, 31]) })).toEqual([0, 0, 100, 300, 300]);
  expect(pnlOf(bought, { closes: own, otherCloses: closes([3, 300_000, 29]) })).toEqual([0, 0, 100, 500, 500]);
  // A close before the purchase counts at once; above a dollar the other outcome is worth nothing.
  expect(pnlOf(bought, { closes: closes([0, 450_000, 1]) })).toEqual([0, 50, 50, 50, 50]);
  expect(pnlOf(bought, { otherCloses: closes([2, 1_200_000, 1]) })).toEqual([0, 0, -400, -400, -400]);
});

it('values a settled position at its payout whatever is traded afterwards', () => {
  const payout = { atS: times.startS + 2 * HOUR_S + 1, price: 1_000_000n };
  expect(pnlOf(bought, { closes: closes([1, 500_000, 1], [4, 100_000, 9]), payout })).toEqual([0, 100, 100, 600, 600]);
});

it('adds cash and fee cost of a position that is sold and bought again', () => {
  const holdings = {
    samples: [1, 3, 4],
    cash: ['-400', '450', '-70'],
    shares: ['1000', '0', '100'],
    costs: ['400', '0', '70'],
    fee_costs: ['0', '5', '5'],
  };
  expect(pnlOf(holdings, { closes: closes([0, 600_000, 1]) })).toEqual([0, 200, 200, 45, 35]);
});
