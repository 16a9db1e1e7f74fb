import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { walletActivitySink } from '../../processors/wallet-activity/sink.js';
import { type ApiHarness, startApi } from '../support/api.js';
import { activityOf, insertAccounts, insertRecords } from '../support/positions.js';
import { address } from '../support/rows.js';
import { comboYes, T } from '../support/venue.js';

const ivy = address(0xf1);
const jack = address(0xf2);
const kate = address(0xf3);
const lena = address(0xf4);
const comboNo = (BigInt(comboYes) + 1n).toString();
const units = (usd: number) => BigInt(Math.round(usd * 1e6));
const one = (token: string, shares: number) => ({ tokens: [token], amounts: [units(shares)] });
const both = (shares: number) => ({ tokens: [comboYes, comboNo], amounts: [units(shares), units(shares)] });

/**
 * Ivy buys 2 Yes and is sent 8, and redeems all 10. Jack is sent 3 of each position, splits 7, and redeems both positions with one log. Lena is sent
 * 80 and redeems them herself; of the payout, one base unit is lost by rounding. The record of Kate's redemption of 5 that she was sent is not in the
 * table of activity.
 */
const recorded = [
  activityOf({ wallet: ivy, block_number: 110, action: 'BUY', ...one(comboYes, 2), usdc: units(1) }),
  activityOf({ wallet: ivy, block_number: 111, action: 'RECEIVE', ...one(comboYes, 8), subject: kate }),
  activityOf({ wallet: jack, block_number: 112, action: 'RECEIVE', ...both(3), subject: kate }),
  activityOf({ wallet: jack, block_number: 113, action: 'SPLIT', ...both(7), usdc: units(7) }),
  activityOf({ wallet: lena, block_number: 115, action: 'RECEIVE', ...one(comboYes, 80), subject: ivy }),
  activityOf({ wallet: ivy, block_number: 120, log_index: 7, action: 'REDEEM', ...one(comboYes, 10), usdc: units(10) }),
  activityOf({
    wallet: jack,
    block_number: 121,
    action: 'REDEEM',
    ...both(10),
    usdc: units(10),
    numerators: ['1', '0'],
  }),
  activityOf({ wallet: lena, block_number: 123, action: 'REDEEM', ...one(comboYes, 80), usdc: 79_999_999n }),
];
const unrecorded = [
  activityOf({ wallet: kate, block_number: 114, action: 'RECEIVE', ...one(comboYes, 5), subject: ivy }),
  activityOf({ wallet: kate, block_number: 122, action: 'REDEEM', ...one(comboYes, 5), usdc: units(5) }),
];
/** Redemptions that are not among the rows of the lists: of another log of a block, and of a block in which another wallet redeems. */
const elsewhere = [
  activityOf({
    wallet: ivy,
    block_number: 120,
    log_index: 8,
    action: 'REDEEM',
    ...one(comboNo, 400),
    usdc: units(400),
  }),
  activityOf({
    wallet: kate,
    block_number: 120,
    log_index: 7,
    action: 'REDEEM',
    ...one(comboNo, 400),
    usdc: units(400),
  }),
];
const records = [...recorded, ...elsewhere].map((value) => ({ kind: 'wallet_activity' as const, value }));

let api: ApiHarness;
let key: string;
beforeAll(async () => {
  api = await startApi({ nowMs: (T + 100) * 1000 });
  key = await api.key('starter');
  await insertAccounts(api.clickhouse, [...recorded, ...unrecorded]);
  await insertRecords(api.clickhouse, walletActivitySink, records);
});
afterAll(() => api.stop());

type Row = Record<string, unknown>;
const payouts = async (path: string) => {
  const { redemptions } = await api.ok<{ redemptions: Row[] }>(`/v3/${path}`, key);
  return redemptions.map((row) => [row.block_number, row.outcome, row.size, row.payout]);
};

describe('payout of combo redemptions', () => {
  const ofIvy = [120, 'Yes', '10', '10'];
  const ofJack = [
    [121, 'No', '10', '0'],
    [121, 'Yes', '10', '7'],
  ];
  const ofKate = [122, 'Yes', '5', '0'];
  const ofLena = [123, 'Yes', '80', '79.999999'];

  it('is that of the log, also for shares received by transfer', async () => {
    expect(await payouts(`wallets/${ivy}/combos/redemptions`)).toEqual([ofIvy]);
    expect(await payouts(`wallets/${lena}/combos/redemptions`)).toEqual([ofLena]);
  });

  it('is that of shares with a cost if one log redeems both positions, or is not in the tables', async () => {
    expect(await payouts(`wallets/${jack}/combos/redemptions`)).toEqual(ofJack);
    expect(await payouts(`wallets/${kate}/combos/redemptions`)).toEqual([ofKate]);
  });

  it('is the same in the list of all wallets', async () => {
    expect(await payouts('combos/redemptions')).toEqual([ofLena, ofKate, ...ofJack, ofIvy]);
    expect(await payouts('combos/redemptions?limit=1&offset=4')).toEqual([ofIvy]);
    expect(await payouts(`wallets/${address(0xabc)}/combos/redemptions`)).toEqual([]);
  });
});
