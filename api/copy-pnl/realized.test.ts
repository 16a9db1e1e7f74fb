import { expect, it } from 'vitest';
import { type ActivityRow, createRealizedAccount } from './realized.js';

const row = (change: Partial<ActivityRow> & Pick<ActivityRow, 'action'>): ActivityRow => ({
  tokens: ['1'],
  amounts: change.shares === undefined ? [] : [change.shares],
  shares: '0',
  usdc: '0',
  fee_shares: '0',
  payout_numerators: [],
  payout_denominator: '1',
  paid: [],
  created: [],
  is_resolved: true,
  ...change,
});
const totalOf = (...rows: readonly ActivityRow[]) => {
  const account = createRealizedAccount();
  for (const one of rows) account.apply(one);
  return account.total();
};

it('realizes sales against the average of all purchases, and nothing beyond the shares bought', () => {
  // 100 at 0.40, 50 at 0.60: average 0.466667. 120 sold at 0.55 realize 120 x (0.55 - 0.466667) = 10.
  const bought = [
    row({ action: 'BUY', shares: '100000000', usdc: '40000000' }),
    row({ action: 'BUY', shares: '50000000', usdc: '30000000' }),
  ];
  const sale = row({ action: 'SELL', shares: '120000000', usdc: '66000000' });
  expect(totalOf(...bought, sale)).toEqual({
    closed: 1,
    overSells: 0,
    realized: 10_000_000n,
    absolute: 10_000_000n,
    weighted: 466_666_666_666_666_667n * 10_000_000n,
  });
  // 60 more than the 30 left, at 0.50: 30 x (0.50 - 0.466667) = 1.
  const over = row({ action: 'SELL', shares: '90000000', usdc: '45000000' });
  expect(totalOf(...bought, sale, over)).toMatchObject({ overSells: 1, realized: 11_000_000n });
  expect(totalOf(over)).toEqual({ closed: 0, overSells: 1, realized: 0n, absolute: 0n, weighted: 0n });
});

it('splits and merges at equal prices per outcome, and redeems at the payout', () => {
  const pair = { tokens: ['1', '2'], shares: '10000000', amounts: ['10000000', '10000000'], usdc: '10000000' };
  expect(totalOf(row({ action: 'SPLIT', ...pair }), row({ action: 'MERGE', ...pair }))).toMatchObject({
    closed: 0,
    realized: 0n,
  });
  // 5 of each are left at 0.50. The first pays 1.00 and the second nothing: 2.50 - 2.50.
  const redeemed = row({
    ...pair,
    action: 'REDEEM',
    amounts: [],
    shares: '0',
    usdc: '5000000',
    payout_numerators: ['1', '0'],
  });
  const half = { ...pair, shares: '5000000', amounts: ['5000000', '5000000'], usdc: '5000000' };
  expect(totalOf(row({ action: 'SPLIT', ...half }), redeemed)).toMatchObject({
    closed: 2,
    realized: 0n,
    absolute: 5_000_000n,
  });
});

it.each([
  // The cost of the created YES: (no x n - (n - 1)) / (q - n) per share.
  ['0.75, three of five questions', '750000', 3, 2, 125_000n],
  ['0.73, one of six questions', '730000', 1, 5, 146_000n],
])('moves the cost of converted NO shares to the created YES: %s', (_case, usdc, given, created, cost) => {
  const no = Array.from({ length: given }, (_, n) => `no${n}`);
  const yes = Array.from({ length: created }, (_, n) => `yes${n}`);
  const bought = no.map((token) => row({ action: 'BUY', tokens: [token], shares: '1000000', usdc }));
  const converted = row({ action: 'CONVERT', tokens: no, shares: '1000000', created: yes });
  // A sale at 0.50 realizes the difference to the cost.
  const sold = row({ action: 'SELL', tokens: ['yes0'], shares: '1000000', usdc: '500000' });
  expect(totalOf(...bought, converted, sold)).toMatchObject({ closed: 1, realized: 500_000n - cost });
});

it('gives shares received by transfer no cost and no profit', () => {
  const received = row({ action: 'RECEIVE', shares: '4000000' });
  const sale = row({ action: 'SELL', shares: '4000000', usdc: '2000000' });
  expect(totalOf(received, sale)).toEqual({ closed: 0, overSells: 1, realized: 0n, absolute: 0n, weighted: 0n });
});
