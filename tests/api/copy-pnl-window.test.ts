import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createScoreReader } from '../../api/copy-pnl/score-reader.js';
import { createClickHouseTables } from '../../api/tables/clickhouse-tables.js';
import { walletActivitySink } from '../../processors/wallet-activity/sink.js';
import type { WalletActivity } from '../../schemas/types.gen.js';
import { type ApiHarness, startApi } from '../support/api.js';
import { activityOf, insertRecords } from '../support/positions.js';
import { address, fillRow, hex32, insertFills } from '../support/rows.js';

const NOW_S = Date.UTC(2026, 9, 1) / 1000;
const DAY_S = 86_400;
const alice = address(0xa1);
const bob = address(0xb0);
const carol = address(0xc0);
const dave = address(0xd0);
const usd = (dollars: number) => BigInt(Math.round(dollars * 1e6));
const [rain, dry, win, yes, no] = ['7001', '7002', '7003', '7004', '7005'] as const;

let api: ApiHarness;
let block = 1_000;
const at = (timestampS: number, fields: Partial<WalletActivity> & Pick<WalletActivity, 'action' | 'tokens'>) => ({
  ...activityOf({ wallet: alice, block_number: block++, ...fields }),
  timestamp_ms: timestampS * 1000,
});
const fill = (timestampS: number, action: 'BUY' | 'SELL', token: string, shares: number, dollars: number) =>
  at(timestampS, { action, tokens: [token], amounts: [usd(shares)], usdc: usd(dollars) });

/** Days before now, and what Alice does. */
const bought = NOW_S - 20 * DAY_S;
const more = NOW_S - 19 * DAY_S;
const history: readonly WalletActivity[] = [
  { ...fill(bought, 'BUY', rain, 100, 40), fee: usd(0.1) },
  fill(more, 'BUY', rain, 50, 30),
  fill(NOW_S - 18 * DAY_S, 'SELL', rain, 80, 56),
  fill(NOW_S - 18 * DAY_S + 1, 'BUY', win, 90, 89.1),
  at(NOW_S - 17 * DAY_S, { action: 'SPLIT', tokens: [yes, no], amounts: [usd(30), usd(30)], usdc: usd(30) }),
  at(NOW_S - 16 * DAY_S, { action: 'MERGE', tokens: [yes, no], amounts: [usd(10), usd(10)], usdc: usd(10) }),
  at(NOW_S - 15 * DAY_S, {
    action: 'REDEEM',
    tokens: [rain, dry],
    amounts: null,
    usdc: usd(70),
    numerators: ['1', '0'],
  }),
  // Ten more than the window has.
  fill(NOW_S - 14 * DAY_S, 'SELL', yes, 30, 18),
  // Carol buys the outcome that no other wallet trades, and wins.
  { ...fill(bought, 'BUY', dry, 1_000, 100), wallet: carol },
  { ...at(more, { action: 'REDEEM', tokens: [rain, dry], amounts: null, usdc: usd(1_000) }), wallet: carol },
  // Dave buys both outcomes, and wins with the one that no other wallet trades.
  { ...fill(bought, 'BUY', rain, 10, 7), wallet: dave },
  { ...fill(bought, 'BUY', dry, 1_000, 300), wallet: dave },
  {
    ...at(more, {
      action: 'REDEEM',
      tokens: [rain, dry],
      amounts: [usd(10), usd(1_000)],
      usdc: usd(1_000),
      numerators: ['0', '1'],
    }),
    wallet: dave,
  },
  // Not in the last 30 days.
  fill(NOW_S - 31 * DAY_S, 'SELL', win, 10, 5),
];

beforeAll(async () => {
  api = await startApi({ nowMs: NOW_S * 1000 });
  await insertRecords(
    api.clickhouse,
    walletActivitySink,
    history.map((value) => ({ kind: 'wallet_activity', value })),
  );
  const later = { txHash: hex32(9), logIndex: 1, orderHash: hex32(8), side: 'BUY' as const, tokenId: rain };
  await insertFills(api.clickhouse, [
    // Before the delay of a minute is over, and after it: 0.45 and 0.65 per share.
    fillRow({ ...later, block: 5_000, timestampS: bought + 59, usdc: usd(0.2), shares: usd(1) }),
    fillRow({ ...later, block: 5_001, timestampS: bought + 60, usdc: usd(9), shares: usd(20) }),
    fillRow({ ...later, block: 5_002, timestampS: bought + 61, usdc: usd(0.9), shares: usd(1) }),
    fillRow({ ...later, block: 5_003, timestampS: more + 70, usdc: usd(13), shares: usd(20) }),
  ]);
});
afterAll(() => api?.stop());

/** A request with a key of its own, so that the limit per key is not reached. */
const get = async (path: string, plan: 'free' | 'starter' = 'starter') =>
  api.get(`/v2/copy-pnl/${path}`, await api.key(plan));
const batch = async (body: unknown, key?: string) =>
  api.request('/v2/copy-pnl/batch', {
    method: 'POST',
    headers: { 'x-api-key': key ?? (await api.key('starter')), 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

/** By hand: cash 74 - 159.10 + 80 - 30; slippage 0.80 + 0.60 + 1.12 + 0.90 (capped at 1.00 per share) + 0.36. */
const expected = {
  wallet: alice,
  actual_pnl_usdc: -35.1,
  backtest_copy_pnl_usdc: -38.88,
  slippage_amount_usdc: 3.78,
  slippage_cost_rate_pct: 10.77,
  toxic_for_copying: false,
  trade_count: 5,
  // 0.466667 on a profit of 18.67 + 37.33, 0.50 on 2.00.
  avg_entry_prob_weighted: 0.4678,
  avg_hold_seconds_weighted: null,
  positions_closed: 2,
  total_realized_pnl_usdc: 58,
  pnl_definition: 'cashflow',
  applied_filters: { from: NOW_S - 30 * DAY_S, to: NOW_S, window_days: 30 },
  partial: false,
  sources: {
    window_trades: 5,
    window_activity: 3,
    activity_breakdown: { redemption: 1, merge: 1, split: 1 },
    cashflow_breakdown: { actual_buy_cost: 159.1, actual_sell_rev: 74, settlement_in: 80, settlement_out: 30 },
    fifo_breakdown: { over_sells: 1, unresolved_activity: 0, total_abs_pnl_usdc: 58, total_realized_pnl_usdc: 58 },
    fetch_ms: expect.any(Number),
  },
  fees_usdc: 0.1,
};

describe('GET /v2/copy-pnl/{wallet}', () => {
  it('scores the last 30 days of a wallet like a manual calculation, with the documented keys in order', async () => {
    const { status, body } = await get(alice.toUpperCase().replace('0X', '0x'));
    expect(status).toBe(200);
    expect(body).toEqual(expected);
    expect(Object.keys(body as object)).toEqual(Object.keys(expected));
  });

  it('returns zeros for a wallet without activity', async () => {
    const { body } = await get(`${bob}?period=7d`);
    expect(body).toMatchObject({
      actual_pnl_usdc: 0,
      slippage_cost_rate_pct: null,
      toxic_for_copying: false,
      trade_count: 0,
      avg_entry_prob_weighted: null,
      applied_filters: { from: NOW_S - 7 * DAY_S, window_days: null },
      sources: { activity_breakdown: {} },
    });
  });

  it('accepts dates and seconds, with an exclusive end; they take precedence over the period', async () => {
    const day = (daysAgo: number) => new Date((NOW_S - daysAgo * DAY_S) * 1000).toISOString().slice(0, 10);
    const { body } = await get(`${alice}?from=${day(19)}&to=${day(18)}&period=180d`);
    expect(body).toMatchObject({ actual_pnl_usdc: -30, trade_count: 1, applied_filters: { window_days: null } });
    const seconds = await get(`${alice}?from=${NOW_S - 18 * DAY_S}&to=${NOW_S - 18 * DAY_S + 1}`);
    // Nothing was bought in this second: the sale realizes nothing.
    expect(seconds.body).toMatchObject({
      actual_pnl_usdc: 56,
      positions_closed: 0,
      sources: { fifo_breakdown: { over_sells: 1 } },
    });
    const openEnd = await get(`${alice}?to=9999999999`);
    expect(openEnd.body).toMatchObject({ trade_count: 5, applied_filters: { to: NOW_S, window_days: null } });
    const toAlone = await get(`${alice}?to=${NOW_S - 31 * DAY_S + 1}`);
    expect(toAlone.body).toMatchObject({ actual_pnl_usdc: 5, trade_count: 1 });
  });

  it('lists the trades, oldest first, with the amount that a copier would have paid', async () => {
    const { body } = await get(`${alice}?include_trades=true`);
    expect((body as { trades: unknown }).trades).toEqual([
      { ts: bought, side: 'BUY', price: 0.4, shares: 100, actual_usd: 40, backtest_usd: 40.8 },
      { ts: more, side: 'BUY', price: 0.6, shares: 50, actual_usd: 30, backtest_usd: 30.6 },
      { ts: NOW_S - 18 * DAY_S, side: 'SELL', price: 0.7, shares: 80, actual_usd: 56, backtest_usd: 54.88 },
      { ts: NOW_S - 18 * DAY_S + 1, side: 'BUY', price: 0.99, shares: 90, actual_usd: 89.1, backtest_usd: 90 },
      { ts: NOW_S - 14 * DAY_S, side: 'SELL', price: 0.6, shares: 30, actual_usd: 18, backtest_usd: 17.64 },
    ]);
  });

  it('returns the same numbers with explicit default conditions', async () => {
    const { body } = await get(`${alice}?slippage_pct=2&delay_seconds=0&min_liquidity_usd=0`);
    expect(body).toEqual({
      ...expected,
      copier: {
        slippage_pct: 2,
        delay_seconds: 0,
        min_liquidity_usd: 0,
        fills_without_next_fill: 0,
        fills_below_liquidity: 0,
      },
    });
  });

  it('copies at the next fill after the delay, and reports fills that have none', async () => {
    // 45.00 and 32.50 instead of 40 and 30; the other three fills have no later one.
    const { body } = await get(`${alice}?slippage_pct=0&delay_seconds=60`);
    expect(body).toMatchObject({ actual_pnl_usdc: -35.1, backtest_copy_pnl_usdc: -42.6, slippage_amount_usdc: 7.5 });
    expect(body).toMatchObject({ copier: { delay_seconds: 60, fills_without_next_fill: 3 } });
    // 2 % of 45, 32.50, 56 and 18, and 0.90 up to the cap.
    const both = await get(`${alice}?delay_seconds=60`);
    expect(both.body).toMatchObject({ backtest_copy_pnl_usdc: -46.53 });
  });

  it('leaves out tokens that were traded for less, with their settlements', async () => {
    // 23.10 USDC of rain were traded in the window: -40.80 - 30.60 + 54.88 + 70.
    const { body } = await get(`${alice}?min_liquidity_usd=23.1`);
    expect(body).toMatchObject({ backtest_copy_pnl_usdc: 53.48, copier: { fills_below_liquidity: 2 } });
    const none = await get(`${alice}?min_liquidity_usd=23.100001`);
    expect(none.body).toMatchObject({ backtest_copy_pnl_usdc: 0, copier: { fills_below_liquidity: 5 } });
    // Her outcome was not traded for as much; the other one, which her redemption also names, was.
    const one = await get(`${carol}?min_liquidity_usd=23.1`);
    expect(one.body).toMatchObject({ backtest_copy_pnl_usdc: 0, copier: { fills_below_liquidity: 1 } });
    // 7 USDC with slippage of 2 %: the redemption paid the outcome that was not copied.
    const both = await get(`${dave}?min_liquidity_usd=23.1`);
    expect(both.body).toMatchObject({
      actual_pnl_usdc: 693,
      backtest_copy_pnl_usdc: -7.14,
      copier: { fills_below_liquidity: 1 },
    });
  });

  it('include_curve returns the cumulative cash flow per day', async () => {
    const { body } = await get(`${alice}?include_curve=1`);
    const { curve } = body as { curve: { t: number; actual: number; backtest: number }[] };
    expect(curve.map(({ actual }) => actual)).toEqual([-40, -70, -103.1, -133.1, -123.1, -53.1, -35.1]);
    expect(curve.at(-1)).toEqual({ t: NOW_S - 14 * DAY_S, actual: -35.1, backtest: -38.88 });
  });

  it('rejects invalid parameters and the free plan', async () => {
    const message = async (path: string) => {
      const { status, body } = await get(path);
      return [status, (body as { error: string }).error];
    };
    expect(await message('0xabc')).toEqual([400, 'Invalid wallet: 0xabc']);
    expect(await message(`${alice}?period=8d`)).toEqual([400, 'Invalid period. Allowed: 7d, 14d, 30d, 60d, 90d, 180d']);
    expect(await message(`${alice}?from=yesterday`)).toEqual([400, 'Invalid from/to']);
    expect(await message(`${alice}?from=2026-02-30`)).toEqual([400, 'Invalid from/to']);
    expect(await message(`${alice}?from=1960-01-01&to=1960-02-01`)).toEqual([400, 'Invalid from/to']);
    expect(await message(`${alice}?from=1969-12-31&to=1970-02-01`)).toEqual([400, 'Invalid from/to']);
    expect((await get(`${alice}?from=1970-01-01&to=1970-02-01`)).status).toBe(200);
    expect(await message(`${alice}?from=200&to=100`)).toEqual([400, 'Invalid from/to']);
    expect(await message(`${alice}?from=${NOW_S - 181 * DAY_S}`)).toEqual([400, 'Maximum window is 180d']);
    for (const bad of [
      'slippage_pct=10.01',
      'slippage_pct=-1',
      'delay_seconds=86401',
      'min_liquidity_usd=-1',
      'include_trades=x',
    ])
      expect((await message(`${alice}?${bad}`))[0]).toBe(400);
    expect((await get(alice, 'free')).status).toBe(403);
    expect((await api.get(`/v2/copy-pnl/${alice}`)).status).toBe(401);
  });

  it('accepts one request per 5 s and key; a rejected one does not count', async () => {
    const key = await api.key('starter');
    expect((await api.get('/v2/copy-pnl/0xabc', key)).status).toBe(400);
    expect((await api.get(`/v2/copy-pnl/${alice}`, key)).status).toBe(200);
    const { status, body, headers } = await batch({ addresses: [alice] }, key);
    expect(status).toBe(429);
    expect(body).toMatchObject({ error: 'copy-pnl rate limited (1 req per 5s per key).', retryAfterMs: 5000 });
    expect(headers.get('retry-after')).toBe('5');
  });
});

describe('POST /v2/copy-pnl/batch', () => {
  it('scores the wallets in the order of the request, repeated ones too', async () => {
    const { status, body } = await batch({ addresses: [bob, alice, bob] });
    expect(status).toBe(200);
    expect(body).toMatchObject({ count: 3, results: [{ wallet: bob, trade_count: 0 }, expected, { wallet: bob }] });
  });

  it('accepts a window and include_trades', async () => {
    const { body } = await batch({ addresses: [alice], from: more, to: more + 1, include_trades: true });
    expect(body).toMatchObject({ results: [{ actual_pnl_usdc: -30, trades: [{ ts: more }] }] });
  });

  it('rejects the whole call for a bad body', async () => {
    const message = async (body: unknown) => ((await batch(body)).body as { error: string }).error;
    for (const body of [{}, { addresses: 'x' }, { addresses: [] }, { addresses: [1] }, []])
      expect(await message(body)).toBe('Body must include "addresses": [...].');
    expect(await message({ addresses: [alice, '0xzz'] })).toBe('Invalid wallet: 0xzz');
    expect(await message({ addresses: Array.from({ length: 101 }, () => alice) })).toBe('Max 100 addresses per batch.');
    // More than the 16 KiB of other bodies.
    expect(await message({ addresses: Array.from({ length: 1_000 }, () => alice) })).toBe(
      'Max 100 addresses per batch.',
    );
    expect(await message({ addresses: [alice], period: '7d' })).toBe(
      "Unknown field 'period'. Use addresses, from, to, include_trades",
    );
    expect(await message({ addresses: [alice], from: 'x' })).toBe('Invalid from/to');
    expect(await message({ addresses: [alice], from: '1960-01-01', to: '1960-02-01' })).toBe('Invalid from/to');
  });
});

describe('createScoreReader', () => {
  it('reports wallets of a batch that were not reached in time', async () => {
    const tables = createClickHouseTables(api.clickhouse);
    const scores = createScoreReader({ tables, batchBudgetMs: 0 });
    const window = { fromS: NOW_S - 30 * DAY_S, toS: NOW_S };
    expect(await scores.scores([alice, bob], window, { includeTrades: false, maxTrades: 1 })).toEqual([null, null]);
  });
});
