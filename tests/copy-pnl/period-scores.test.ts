import { afterAll, beforeAll, expect, it } from 'vitest';
import { walletActivitySink } from '../../processors/wallet-activity/sink.js';
import { copyPeriods, periodScoresSql } from '../../schemas/copy-pnl/period-scores.sql.js';
import type { WalletActivity } from '../../schemas/types.gen.js';
import { startMigratedClickHouse, type TestClickHouse } from '../support/clickhouse.js';
import { activityOf, insertRecords } from '../support/positions.js';
import { address } from '../support/rows.js';

const NOW = 1_790_000_000;
const DAY_S = 86_400;
const alice = address(0xa1);
const bob = address(0xb0);
const usd = (dollars: number) => BigInt(Math.round(dollars * 1e6));

interface ScoreRow {
  readonly wallet: string;
  readonly period: string;
  readonly actual: string;
  readonly slippage: string;
  readonly trade_count: number;
}

let engine: TestClickHouse;
beforeAll(async () => {
  engine = await startMigratedClickHouse();
});
afterAll(() => engine.stop());

let block = 1_000;
const at = (
  timestampS: number,
  fields: Omit<Parameters<typeof activityOf>[0], 'block_number' | 'wallet'>,
): WalletActivity => ({
  ...activityOf({ wallet: alice, block_number: block++, ...fields }),
  timestamp_ms: timestampS * 1000,
});

const score = async (wallets: readonly string[]): Promise<Record<string, readonly [string, string, string, number]>> =>
  Object.fromEntries(
    (await engine.client.query<ScoreRow>(periodScoresSql, { wallets, now_s: NOW })).map((row) => [
      `${row.wallet} ${row.period}`,
      [row.period, row.actual, row.slippage, row.trade_count] as const,
    ]),
  );

it('periodScoresSql sums each period from its first second to the second before its end', async () => {
  const trade = (timestampS: number, action: 'BUY' | 'SELL', shares: number, dollars: number) =>
    at(timestampS, { action, tokens: ['71'], amounts: [usd(shares)], usdc: usd(dollars), fee: usd(0.5) });
  const activity = [
    // Before 180 days: in no period. Exactly 180 days: in the longest.
    trade(NOW - 180 * DAY_S - 1, 'BUY', 1_000, 500),
    trade(NOW - 180 * DAY_S, 'BUY', 100, 40),
    // 90 shares for 89.10: 2 % more would be 90.882, capped at 90.00.
    trade(NOW - 90 * DAY_S, 'BUY', 90, 89.1),
    at(NOW - 60 * DAY_S, { action: 'SPLIT', tokens: ['71', '72'], amounts: [usd(30), usd(30)], usdc: usd(30) }),
    at(NOW - 30 * DAY_S, { action: 'MERGE', tokens: ['71', '72'], amounts: [usd(10), usd(10)], usdc: usd(10) }),
    at(NOW - 14 * DAY_S, { action: 'REDEEM', tokens: ['71', '72'], amounts: null, usdc: usd(120) }),
    at(NOW - 7 * DAY_S, { action: 'CONVERT', tokens: ['81', '83'], amounts: [usd(7), usd(7)], usdc: usd(7) }),
    at(NOW - 1, { action: 'RECEIVE', tokens: ['71'], amounts: [usd(5)] }),
    trade(NOW - 1, 'SELL', 5, 3.000001),
    // The end is not part of a period.
    trade(NOW, 'SELL', 5, 3),
  ];
  await insertRecords(
    engine.client,
    walletActivitySink,
    activity.map((value) => ({ kind: 'wallet_activity', value })),
  );
  const scores = await score([bob, alice, alice]);
  const of = (period: string) => scores[`${alice} ${period}`];
  // By hand, in base units: 7 + 3.000001; + 120; + 10; - 30; - 89.10; - 40. Slippage: 2 % of 3.000001; + 0.90; + 0.80.
  expect(of('7d')).toEqual(['7d', '10000001', '6000002', 1]);
  expect(of('14d')).toEqual(['14d', '130000001', '6000002', 1]);
  expect(of('30d')).toEqual(['30d', '140000001', '6000002', 1]);
  expect(of('60d')).toEqual(['60d', '110000001', '6000002', 1]);
  expect(of('90d')).toEqual(['90d', '20900001', '96000002', 2]);
  expect(of('180d')).toEqual(['180d', '-19099999', '176000002', 3]);
  for (const period of copyPeriods) expect(scores[`${bob} ${period}`]).toEqual([period, '0', '0', 0]);
  expect(Object.keys(scores)).toHaveLength(12);
});

it('periodScoresSql counts a row that was inserted twice once', async () => {
  const wallet = address(0xc1);
  const row = {
    ...at(NOW - 5, { action: 'SELL', tokens: ['9'], amounts: [usd(2)], usdc: usd(1) }),
    wallet,
  };
  for (let i = 0; i < 2; i++)
    await insertRecords(engine.client, walletActivitySink, [{ kind: 'wallet_activity', value: row }]);
  expect((await score([wallet]))[`${wallet} 7d`]).toEqual(['7d', '1000000', '2000000', 1]);
});
