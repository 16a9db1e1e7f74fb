import { expect, it } from 'vitest';
import { problems } from '../../schemas/primitives/problems.js';
import { feeCostsOf } from './fee-shares.js';
import type { FeeShareRow } from './series.sql.js';

const row = (bucket: number, action: string, shares: number, rest: Partial<FeeShareRow>): FeeShareRow => ({
  token: '7',
  bucket,
  action,
  problem: '',
  shares: String(shares),
  fee_shares: '0',
  cash: '0',
  realized_pnl: '0',
  cost: '0',
  cost_after: '0',
  fee_cost: '',
  ...rest,
});
const buy = (bucket: number, shares: number, fee: number, cost: number, after = cost) =>
  row(bucket, 'BUY', shares - fee, { fee_shares: String(fee), cost: String(cost), cost_after: String(after) });

it('feeCostsOf shares the cost between sent shares and fee shares at the average cost', () => {
  // 100 shares for 60, of which 10 went as fees: 0.60 each.
  expect(feeCostsOf([buy(1, 100, 10, 60), row(2, 'SEND', -90, { cost: '-60' })])).toEqual(
    new Map([['7', [{ bucketIndex: 2, value: 6n }]]]),
  );
});

it('feeCostsOf subtracts an earlier sale from the position, not from the fee shares', () => {
  // 100 for 60, 10 as fees, 40 sold at cost 24: 36 are left for 50 and 10.
  const rows = [
    buy(1, 100, 10, 60),
    row(2, 'SELL', -40, { cost: '-24', cost_after: '36' }),
    row(3, 'REDEEM', -50, { problem: problems.unknownRatio, cost: '-36' }),
  ];
  expect(feeCostsOf(rows)).toEqual(new Map([['7', [{ bucketIndex: 3, value: 6n }]]]));
});

it('feeCostsOf takes the cost of fee shares of a position closed by a sale from its events, and none from before it was closed', () => {
  // 90 sold for 45 against 54: the other 6 of the cost were fees.
  const rows = [
    buy(1, 100, 10, 60),
    row(2, 'SELL', -90, { cost: '-60', cash: '45', realized_pnl: '-9' }),
    buy(3, 50, 0, 20),
    row(4, 'SEND', -50, { cost: '-20' }),
  ];
  expect(feeCostsOf(rows)).toEqual(new Map([['7', [{ bucketIndex: 2, value: 6n }]]]));
});

it('feeCostsOf lets untracked shares leave first in a transfer and last in a redemption', () => {
  const rows = [
    buy(1, 100, 10, 60),
    row(2, 'RECEIVE', 30, { cost_after: '60' }),
    row(3, 'SEND', -20, { cost_after: '60' }),
    row(4, 'REDEEM', -100, { problem: problems.payoutDisagrees, cost: '-60' }),
  ];
  expect(feeCostsOf(rows)).toEqual(new Map([['7', [{ bucketIndex: 4, value: 6n }]]]));
});

it('the last closing has what is left of the sum of the position, if nothing changed it later', () => {
  // 7 for 5, 1 as fee: 0.714 each time, rounded to 1; 1.43 in all.
  const round = (slot: number, rest: Partial<FeeShareRow>) => [
    buy(slot, 7, 1, 5),
    row(slot + 1, 'SEND', -6, { cost: '-5', ...rest }),
  ];
  const closings = (rest: Partial<FeeShareRow>) => feeCostsOf([...round(1, {}), ...round(3, rest)]).get('7');
  expect(closings({})?.map(({ value }) => value)).toEqual([1n, 1n]);
  expect(closings({ fee_cost: '1' })).toEqual([
    { bucketIndex: 2, value: 1n },
    { bucketIndex: 4, value: 0n },
  ]);
});
