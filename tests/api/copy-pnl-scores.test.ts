import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiHarness, startApi } from '../support/api.js';

const NOW_MS = Date.UTC(2027, 4, 22);
const NOW_S = NOW_MS / 1000;
const PERIODS = ['7d', '14d', '30d', '60d', '90d', '180d'] as const;
const wallet = (n: number) => `0x${n.toString(16).padStart(40, '0')}`;
const iso = (seconds: number) => new Date(seconds * 1000).toISOString();

let api: ApiHarness;
beforeAll(async () => {
  api = await startApi({ nowMs: NOW_MS });
});
afterAll(() => api?.stop());

/** A request 5 s after the one before. */
const get = async <T>(path: string, key: string): Promise<T> => {
  api.clock.nowMs += 5_000;
  return api.ok<T>(`/v2/copy-pnl/${path}`, key);
};
const pool = async (wallets: readonly number[]) => {
  const key = await api.key('starter');
  api.clock.nowMs += 5_000;
  const { status } = await api.request('/v2/copy-pnl/wallets', {
    method: 'POST',
    headers: { 'x-api-key': key },
    body: JSON.stringify({ addresses: wallets.map(wallet) }),
  });
  expect(status).toBe(200);
  return key;
};

/** actual: base units; slippage: hundredths of base units. */
const score = (
  n: number,
  period: string,
  [actual, slippage, trade_count]: readonly [number, number, number],
  atS = NOW_S - 100,
  partial = false,
) =>
  api.clickhouse.insertRows('copy_scores', [
    { wallet: wallet(n), period, actual, slippage, trade_count, partial, computed_at: iso(atS) },
  ]);
const failure = (n: number, error: string, atS: number) =>
  api.clickhouse.insertRows('copy_score_errors', [{ wallet: wallet(n), error, at: iso(atS) }]);

interface Board {
  readonly results: readonly { readonly local_rank: number; readonly wallet: string }[];
  readonly [field: string]: unknown;
}
const order = (board: Board) => board.results.map(({ wallet: id }) => Number.parseInt(id, 16));

describe('GET /v2/copy-pnl/snapshot', () => {
  it('has every wallet of the pool with scores, nulls and errors, in the order of the documented keys', async () => {
    const key = await pool([0xa3, 0xa1, 0xa2, 0xa4]);
    // Replaced by a later refresh.
    await score(0xa1, '30d', [999_000_000, 0, 1], NOW_S - 90_000);
    await score(0xa1, '30d', [80_000_000, 2_150_000_000, 14], NOW_S - 1_000);
    // Old scores of all periods, then a failure.
    for (const period of PERIODS)
      await score(0xa4, period, [-500_000, 12_345_678, 3], NOW_S - 5_000, period === '180d');
    await failure(0xa4, 'timeout_180s', NOW_S - 900);
    await failure(0xa2, 'timeout_180s', NOW_S - 800);
    // A failure before the last refresh is over.
    await failure(0xa1, 'memory_limit', NOW_S - 2_000);
    const started = { started_at: iso(NOW_S - 1_200) };
    await api.clickhouse.insertRows('copy_cycles', [{ ...started, completed_at: iso(0) }]);
    expect(await get('snapshot?periods=30d', key)).toMatchObject({ last_refresh: null });
    await api.clickhouse.insertRows('copy_cycles', [{ ...started, completed_at: iso(NOW_S - 500) }]);
    // A cycle that runs does not count.
    await api.clickhouse.insertRows('copy_cycles', [{ started_at: iso(NOW_S - 50), completed_at: iso(0) }]);

    const snapshot = await get('snapshot?periods=7d,30d', key);
    const old = {
      actual_pnl_usdc: -0.5,
      backtest_copy_pnl_usdc: -0.62,
      slippage_amount_usdc: 0.12,
      slippage_cost_rate_pct: null,
      toxic_for_copying: false,
      trade_count: 3,
      partial: false,
      computed_at: NOW_S - 5_000,
    };
    expect(JSON.stringify(snapshot)).toBe(
      JSON.stringify({
        total_in_pool: 4,
        scored_any: 2,
        errored_any: 2,
        pending_any: 1,
        periods: ['7d', '30d'],
        last_refresh: NOW_S - 500,
        wallets: [
          {
            wallet: wallet(0xa1),
            periods: {
              '7d': null,
              '30d': {
                actual_pnl_usdc: 80,
                backtest_copy_pnl_usdc: 58.5,
                slippage_amount_usdc: 21.5,
                slippage_cost_rate_pct: 26.88,
                toxic_for_copying: true,
                trade_count: 14,
                partial: false,
                computed_at: NOW_S - 1_000,
              },
            },
          },
          {
            wallet: wallet(0xa2),
            periods: { '7d': null, '30d': null },
            error: { error: 'timeout_180s', ts: NOW_S - 800 },
          },
          { wallet: wallet(0xa3), periods: { '7d': null, '30d': null } },
          {
            wallet: wallet(0xa4),
            periods: { '7d': old, '30d': old },
            error: { error: 'timeout_180s', ts: NOW_S - 900 },
          },
        ],
      }),
    );
    // The order of the request, all periods by default, each once.
    expect(await get('snapshot?periods=180D, 7d,180d', key)).toMatchObject({
      periods: ['180d', '7d'],
      scored_any: 1,
      pending_any: 2,
      wallets: [{}, {}, {}, { periods: { '180d': { ...old, partial: true } } }],
    });
    expect(await get('snapshot', key)).toMatchObject({ periods: PERIODS, scored_any: 2 });
  });

  it('rejects other periods and is empty for an empty pool', async () => {
    const key = await api.key('starter');
    for (const periods of ['1d', '7d,', '', '7d,30']) {
      api.clock.nowMs += 5_000;
      expect(await api.get(`/v2/copy-pnl/snapshot?periods=${periods}`, key)).toMatchObject({
        status: 400,
        body: { error: 'Invalid period. Allowed: 7d, 14d, 30d, 60d, 90d, 180d' },
      });
    }
    expect(await get('snapshot?periods=7d', key)).toMatchObject({ total_in_pool: 0, pending_any: 0, wallets: [] });
  });
});

describe('GET /v2/copy-pnl/leaderboard', () => {
  /** USD, slippage in USD, fills of the 60-day period of wallets 1 to 8; 9 failed, 10 and 11 are pending. */
  const amounts: Readonly<Record<number, readonly [number, number, number]>> = {
    1: [100, 15, 10], // backtest 85, rate 15: not toxic
    2: [100, 15.000001, 10], // backtest 84.999999, above 15: toxic
    3: [-50, 1, 4], // backtest -51, rate 2
    4: [0.999999, 0.5, 4], // backtest 0.499999, no rate
    5: [0, 0, 0], // no rate
    6: [200, 2, 1], // backtest 198, rate 1
    7: [-0.5, 3, 99], // backtest -3.5, no rate
    8: [-4, 2, 2], // backtest -6, rate 50: toxic
  };
  let key: string;
  beforeAll(async () => {
    key = await pool([11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
    for (const [n, [actual, slippage, trades]] of Object.entries(amounts))
      await score(Number(n), '60d', [Math.round(actual * 1e6), Math.round(slippage * 1e8), trades]);
    // Scores of another period and of another pool do not appear.
    await score(9, '30d', [1_000_000, 0, 1], NOW_S - 4_000);
    await score(12, '60d', [1_000_000_000, 0, 50]);
    await failure(9, 'timeout_180s', NOW_S - 700);
    // A wallet with scores keeps its rank if its last refresh failed.
    await failure(6, 'timeout_180s', NOW_S - 10);
  });

  it('has the documented keys in their order', async () => {
    const board = await get('leaderboard?period=60d&sort_by=actual_pnl_usdc&limit=1&offset=1', key);
    expect(JSON.stringify(board).replace(/"last_refresh":(null|\d+)/, '"last_refresh":0')).toBe(
      JSON.stringify({
        period: '60d',
        sort_by: 'actual_pnl_usdc',
        order: 'desc',
        filters: { min_trade_count: 0, exclude_toxic: false },
        total_in_pool: 11,
        scored: 8,
        filtered_in: 8,
        pending: 2,
        errored: 1,
        offset: 1,
        limit: 1,
        last_refresh: 0,
        results: [
          {
            local_rank: 2,
            wallet: wallet(1),
            actual_pnl_usdc: 100,
            backtest_copy_pnl_usdc: 85,
            slippage_amount_usdc: 15,
            slippage_cost_rate_pct: 15,
            toxic_for_copying: false,
            trade_count: 10,
            partial: false,
            computed_at: NOW_S - 100,
          },
        ],
        errored_sample: [{ wallet: wallet(9), error: 'timeout_180s', ts: NOW_S - 700 }],
        pending_sample: [wallet(10), wallet(11)],
      }),
    );
  });

  it.each([
    ['', 'desc', [6, 1, 2, 4, 5, 7, 8, 3]],
    ['backtest_copy_pnl_usdc', 'asc', [3, 8, 7, 5, 4, 2, 1, 6]],
    ['actual_pnl_usdc', 'desc', [6, 1, 2, 4, 5, 7, 8, 3]],
    // 1 and 2 have the same amount: by wallet in both orders.
    ['actual_pnl_usdc', 'asc', [3, 8, 7, 5, 4, 1, 2, 6]],
    ['slippage_amount_usdc', 'desc', [2, 1, 7, 6, 8, 3, 4, 5]],
    ['slippage_amount_usdc', 'asc', [5, 4, 3, 6, 8, 7, 1, 2]],
    // 4, 5 and 7 have no rate.
    ['slippage_cost_rate_pct', 'desc', [8, 2, 1, 3, 6, 4, 5, 7]],
    ['slippage_cost_rate_pct', 'asc', [6, 3, 1, 2, 8, 4, 5, 7]],
    ['trade_count', 'desc', [7, 1, 2, 3, 4, 8, 6, 5]],
    ['trade_count', 'asc', [5, 6, 8, 3, 4, 1, 2, 7]],
  ])('sorts by %s %s, null rates last', async (sortBy, direction, expected) => {
    const query = `period=60d&order=${direction}${sortBy === '' ? '' : `&sort_by=${sortBy}`}`;
    expect(order(await get<Board>(`leaderboard?${query}`, key))).toEqual(expected);
    // The same list page by page.
    const pages: number[] = [];
    for (let offset = 0; offset < 9; offset += 3) {
      const board = await get<Board>(`leaderboard?${query}&limit=3&offset=${offset}`, key);
      expect(board.results.map(({ local_rank }) => local_rank)).toEqual(
        board.results.map((_, index) => offset + index + 1),
      );
      pages.push(...order(board));
    }
    expect(pages).toEqual(expected);
  });

  it('filters by fills and by the exact rate, and returns the number of matches', async () => {
    const sorted = 'leaderboard?period=60d&sort_by=trade_count&order=asc';
    const filtered = await get<Board>(`${sorted}&min_trade_count=4&exclude_toxic=true`, key);
    expect(filtered).toMatchObject({
      filters: { min_trade_count: 4, exclude_toxic: true },
      scored: 8,
      filtered_in: 4,
      pending: 2,
      errored: 1,
    });
    expect(order(filtered)).toEqual([3, 4, 1, 7]);
    expect(order(await get<Board>(`${sorted}&exclude_toxic=1`, key))).toEqual([5, 6, 3, 4, 1, 7]);
    expect(await get<Board>(`${sorted}&min_trade_count=100`, key)).toMatchObject({ filtered_in: 0, results: [] });
    expect(await get<Board>(`${sorted}&offset=8`, key)).toMatchObject({ filtered_in: 8, offset: 8, results: [] });
  });

  it('clamps limits to 1..1000 and rejects other values with the documented texts', async () => {
    for (const [limit, taken] of [
      ['0', 1],
      ['-5', 1],
      ['1000', 1_000],
      ['99999999999999999999', 1_000],
    ] as const)
      expect(await get(`leaderboard?limit=${limit}`, key)).toMatchObject({ limit: taken });
    const texts: Readonly<Record<string, string>> = {
      'period=1d': 'Invalid period. Allowed: 7d, 14d, 30d, 60d, 90d, 180d',
      'sort_by=wallet':
        'Invalid sort_by. Allowed: backtest_copy_pnl_usdc, actual_pnl_usdc, slippage_amount_usdc, slippage_cost_rate_pct, trade_count',
      'order=up': 'Invalid order. Allowed: asc | desc',
    };
    for (const [query, error] of Object.entries(texts))
      expect(await api.get(`/v2/copy-pnl/leaderboard?${query}`, key)).toMatchObject({ status: 400, body: { error } });
    for (const query of ['limit=x', 'offset=-1', 'min_trade_count=-1', 'min_trade_count=1.5', 'exclude_toxic=maybe'])
      expect((await api.get(`/v2/copy-pnl/leaderboard?${query}`, key)).status).toBe(400);
  });

  it('has no samples if nothing is pending or errored, and at most ten entries', async () => {
    const scored = await get<Board>('leaderboard?period=60d', await pool([1, 2]));
    expect(Object.keys(scored)).not.toContain('pending_sample');
    expect(Object.keys(scored)).not.toContain('errored_sample');
    const many = await pool(Array.from({ length: 1_000 }, (_, n) => 50_000 - n));
    for (let n = 50_000; n > 49_985; n--) await failure(n, 'timeout_180s', NOW_S - 1);
    const board = await get<Board>('leaderboard', many);
    expect(board).toMatchObject({ total_in_pool: 1_000, scored: 0, pending: 985, errored: 15, results: [] });
    expect(board.pending_sample).toEqual(Array.from({ length: 10 }, (_, n) => wallet(49_001 + n)));
    expect((board.errored_sample as { wallet: string }[]).map((entry) => entry.wallet)).toEqual(
      Array.from({ length: 10 }, (_, n) => wallet(49_986 + n)),
    );
    const empty = await get<Board>('leaderboard', await api.key('starter'));
    expect(empty).toMatchObject({ total_in_pool: 0, scored: 0, pending: 0, errored: 0, results: [] });
  });

  it('and the snapshot contain no wallets that only other keys track', async () => {
    const other = await pool([1]);
    expect(order(await get<Board>('leaderboard?period=60d', other))).toEqual([1]);
    expect(await get('snapshot?periods=60d', other)).toMatchObject({
      total_in_pool: 1,
      wallets: [{ wallet: wallet(1) }],
    });
    const free = await api.key('free');
    for (const path of ['leaderboard', 'snapshot'])
      expect((await api.get(`/v2/copy-pnl/${path}`, free)).status).toBe(403);
  });
});

it('snapshot and leaderboard read the scores of the pool, not those of 100,000 wallets', async () => {
  await api.clickhouse.command(
    `INSERT INTO copy_scores (wallet, period, actual, slippage, trade_count, partial, computed_at)
      SELECT concat('0x', leftPad(lower(hex(toUInt64(1000000 + number))), 40, '0')), period, number, 0, 1, false, {at:DateTime64(3)}
      FROM numbers(100000) ARRAY JOIN ['${PERIODS.join("', '")}'] AS period`,
    { at: NOW_S - 50 },
  );
  await api.clickhouse.command('OPTIMIZE TABLE copy_scores FINAL');
  const key = await pool([1_000_007, 1_050_000, 1_099_999]);
  const selectedRows = async () => {
    const sql = "SELECT toString(sum(value)) AS value FROM system.events WHERE event = 'SelectedRows'";
    return Number((await api.clickhouse.query<{ value: string }>(sql))[0]?.value);
  };
  // The account's other rows are read here already.
  for (const path of ['snapshot', 'leaderboard?period=60d']) {
    const before = await selectedRows();
    const body = await get<{ total_in_pool: number; pending?: number; pending_any?: number }>(path, key);
    const rows = (await selectedRows()) - before;
    expect([body.total_in_pool, body.pending ?? body.pending_any]).toEqual([3, 0]);
    // A granule of 1,024 rows begins and one ends the range of each wallet; failures and cycles are few.
    expect(rows).toBeLessThan(3 * 2 * 1_024 + 200);
  }
  const before = await selectedRows();
  await api.clickhouse.query('SELECT max(actual) AS most FROM copy_scores');
  expect((await selectedRows()) - before).toBeGreaterThan(600_000);
});
