import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePorts } from '../support/ports.js';
import { eventually, outputs, type Product } from '../support/product.js';
import { REFERENCE_RUN_TIMEOUT_MS, startLoaded } from '../support/reference-run.js';

interface Score {
  readonly actual_pnl_usdc: number;
  readonly backtest_copy_pnl_usdc: number;
  readonly slippage_amount_usdc: number;
  readonly trade_count: number;
  readonly computed_at: number;
}
interface Snapshot {
  readonly total_in_pool: number;
  readonly pending_any: number;
  readonly last_refresh: number | null;
  readonly wallets: readonly { readonly wallet: string; readonly periods: Readonly<Record<string, Score | null>> }[];
}

let product: Product;
let second: { readonly url: string; stop(): Promise<void> };

/** A second api process on the log and the tables of the product. */
async function startSecondApi(): Promise<typeof second> {
  const [port, adminPort] = await freePorts(2);
  const child = spawn(process.execPath, ['dist/api/main.js'], {
    env: {
      ...process.env,
      RECORDED_HISTORY_ONLY: '1',
      ODDSTREAM_DATA: product.dataDir,
      CLICKHOUSE_URL: product.clickhouse,
      CLICKHOUSE_USER: 'oddstream',
      CLICKHOUSE_PASSWORD: product.clickhousePassword(),
      API_PORT: String(port),
      ADMIN_PORT_API: String(adminPort),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      output += chunk;
    });
  const isStopped = () => child.exitCode !== null || child.signalCode !== null;
  outputs.set('the second api', { text: () => output, isStopped });
  const url = `http://127.0.0.1:${port}`;
  await eventually('the second api', async () => isStopped() || (await fetch(`${url}/healthz`)).ok, 180_000);
  expect(isStopped(), output).toBe(false);
  return {
    url,
    async stop() {
      const ended = once(child, 'exit');
      if (child.exitCode === null && child.kill('SIGTERM')) await ended;
    },
  };
}

beforeAll(async () => {
  product = await startLoaded({ LOG_LEVEL: 'info' });
  second = await startSecondApi();
}, REFERENCE_RUN_TIMEOUT_MS);
afterAll(async () => {
  await second?.stop();
  await product?.dispose();
});

/** A request of the product's own key, repeated while the limit of one per 5 s rejects it. */
async function request<T>(method: string, path: string, body?: unknown, api = product.api): Promise<T> {
  return eventually(`${method} ${path}`, async () => {
    const response = await fetch(`${api}/v2/copy-pnl/${path}`, {
      method,
      headers: { 'x-api-key': product.key(), 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (response.status === 429) {
      expect(await response.json()).toMatchObject({ error: 'copy-pnl rate limited (1 req per 5s per key).' });
      return null;
    }
    expect(response.status).toBe(200);
    return (await response.json()) as T;
  });
}
const add = <T>(addresses: readonly string[]) => request<T>('POST', 'wallets', { addresses });
const remove = (addresses: readonly string[]) => request('DELETE', 'wallets', { addresses });

/** Wallets by activity, the most active first; each has traded. */
const activeWallets = async (count: number) =>
  (
    await product.sql<{ wallet: string }>(
      `SELECT maker AS wallet FROM fills GROUP BY maker ORDER BY count() DESC, maker LIMIT ${count}`,
    )
  ).map(({ wallet }) => wallet);

const unixMs = (column: string) => `toString(toUnixTimestamp64Milli(${column}))`;
/** Time of the scores by wallet. */
const scoreTimes = async (sinceMs = 0) =>
  new Map(
    (
      await product.sql<{ wallet: string; at: string }>(
        `SELECT wallet, ${unixMs('min(computed_at)')} AS at FROM copy_scores FINAL
          WHERE computed_at >= fromUnixTimestamp64Milli(toInt64(${sinceMs})) GROUP BY wallet`,
      )
    ).map(({ wallet, at }) => [wallet, Number(at)]),
  );
const cycles = async () =>
  (
    await product.sql<{ started: string; completed: string }>(
      `SELECT ${unixMs('started_at')} AS started, ${unixMs('completed_at')} AS completed FROM copy_cycles FINAL ORDER BY started_at`,
    )
  ).map(({ started, completed }) => [Number(started), Number(completed)] as const);

/** Unix seconds, both included. */
interface RecordedWindow {
  readonly fromS: number;
  readonly toS: number;
}

interface NaiveScore {
  readonly actual: bigint;
  readonly slippage: bigint;
  readonly trades: number;
}

/**
 * The recording is older than the longest period, so the last 170 days of its activity are inserted again, moved by whole days so that they end today.
 * Returns the original window.
 */
async function repeatActivity(wallets: readonly string[]): Promise<RecordedWindow> {
  const DAY_S = 86_400;
  const [row] = await product.sql<{ last: number }>(
    'SELECT toUnixTimestamp(max(timestamp)) AS last FROM wallet_activity',
  );
  const toS = row?.last ?? 0;
  const fromS = toS - 170 * DAY_S;
  const days = Math.floor((Date.now() / 1000 - toS) / DAY_S);
  expect(days).toBeGreaterThan(180);
  const listed = wallets.map((wallet) => `'${wallet}'`).join(', ');
  await product.sql(
    `INSERT INTO wallet_activity SELECT * REPLACE (timestamp + toIntervalDay(${days}) AS timestamp) FROM (
        SELECT * FROM wallet_activity FINAL WHERE wallet IN (${listed}) AND toUnixTimestamp(timestamp) >= ${fromS}
      )`,
  );
  return { fromS, toS };
}

/**
 * The score of a wallet from the tables of fills and of wallet events, which other sinks fill, row by row in integers: actual in base units, slippage in
 * hundredths of them.
 */
async function naiveScore(wallet: string, { fromS, toS }: RecordedWindow): Promise<NaiveScore> {
  const inWindow = `toUnixTimestamp(timestamp) BETWEEN ${fromS} AND ${toS}`;
  const fills = await product.sql<{ side: string; usdc: string; shares: string }>(
    `SELECT side, toString(usdc) AS usdc, toString(shares) AS shares FROM fills FINAL WHERE maker = '${wallet}' AND ${inWindow}`,
  );
  const settlements = await product.sql<{ action: string; usdc: string }>(
    `SELECT action, toString(usdc) AS usdc FROM wallet_activity FINAL
      WHERE wallet = '${wallet}' AND action IN ('SPLIT', 'MERGE', 'REDEEM', 'CONVERT') AND ${inWindow}`,
  );
  let [actual, slippage] = [0n, 0n];
  for (const { side, ...row } of fills) {
    const [usdc, shares] = [BigInt(row.usdc), BigInt(row.shares)];
    actual += side === 'SELL' ? usdc : -usdc;
    if (side === 'SELL') slippage += usdc * 2n;
    else {
      // 1.02 times the price, but not above 1.00 per share.
      const copied = usdc * 102n < shares * 100n ? usdc * 102n : shares * 100n;
      slippage += copied > usdc * 100n ? copied - usdc * 100n : 0n;
    }
  }
  for (const { action, usdc } of settlements) actual += action === 'SPLIT' ? -BigInt(usdc) : BigInt(usdc);
  return { actual, slippage, trades: fills.length };
}

describe('the pool of a key', () => {
  it('is pending, then scored automatically, with the same result in a second api process', async () => {
    const [wallets, idle] = [await activeWallets(5), `0x${'0'.repeat(37)}c0b`];
    const recorded = await repeatActivity(wallets);
    const sentMs = Date.now();
    const added = await add<{ added: number; total: number }>([...wallets, idle]);
    expect(added).toMatchObject({ added: 6, total: 6 });
    await eventually('the scores', async () => (await scoreTimes()).size === 6);
    process.stderr.write(`pool wallets scored within ${Date.now() - sentMs} ms of the request\n`);

    const snapshot = await eventually('the end of the cycle', async () => {
      const found = await request<Snapshot>('GET', 'snapshot?periods=180d');
      return found.last_refresh !== null && found;
    });
    expect(snapshot).toMatchObject({ total_in_pool: 6, pending_any: 0 });
    for (const { wallet, periods } of snapshot.wallets) {
      const { actual, slippage, trades } = await naiveScore(wallet, recorded);
      const score = periods['180d'];
      expect([wallet, score?.trade_count]).toEqual([wallet, trades]);
      // Amounts are rounded to cents.
      expect(Math.abs((score?.actual_pnl_usdc ?? 0) * 1e6 - Number(actual))).toBeLessThanOrEqual(5_001);
      expect(Math.abs((score?.slippage_amount_usdc ?? 0) * 1e8 - Number(slippage))).toBeLessThanOrEqual(500_100);
      expect(
        Math.abs((score?.backtest_copy_pnl_usdc ?? 0) * 1e8 - Number(actual * 100n - slippage)),
      ).toBeLessThanOrEqual(500_100);
    }
    expect(snapshot.wallets.find(({ wallet }) => wallet === wallets[0])?.periods['180d']?.trade_count).toBeGreaterThan(
      10,
    );
    const other = await request<Snapshot>('GET', 'snapshot?periods=180d', undefined, second.url);
    expect(other.wallets).toEqual(snapshot.wallets);
    const list = await request<{ wallets: string[] }>('GET', 'wallets', undefined, second.url);
    expect(list.wallets).toEqual([...wallets, idle].sort());
    const leaderboard = await request<{ results: { wallet: string; trade_count: number }[] }>(
      'GET',
      'leaderboard?period=180d&sort_by=trade_count&min_trade_count=1',
    );
    expect(leaderboard.results.map(({ wallet }) => wallet).sort()).toEqual([...wallets].sort());
    expect(leaderboard.results[0]?.trade_count).toBe(Math.max(...leaderboard.results.map(({ trade_count: n }) => n)));

    // After removal and re-adding the previous scores are visible at once.
    await remove(wallets);
    expect(await request('GET', 'snapshot')).toMatchObject({ total_in_pool: 1 });
    await add(wallets);
    const again = await request<Snapshot>('GET', 'snapshot?periods=180d');
    expect(again.wallets).toEqual(snapshot.wallets);
  }, 180_000);

  it('is refreshed by a cycle that kill -9 of processors interrupts, and no wallet is scored twice', async () => {
    const wallets = await activeWallets(999);
    expect(wallets.length).toBeGreaterThan(200);
    await add(wallets);
    await eventually('the scores', async () => (await scoreTimes()).size >= wallets.length);
    const interrupted = await eventually(
      'a kill inside a cycle',
      async () => {
        // Without a cycle in the tables the next process starts one for all wallets at once.
        process.kill(await eventually('processors', async () => product.pid('processors')), 'SIGKILL');
        await product.sql('TRUNCATE TABLE copy_cycles');
        const [startedMs] = await eventually('a cycle', async () => (await cycles())[0]);
        await eventually('a part of the cycle', async () => (await scoreTimes(startedMs)).size > 0);
        process.kill(await eventually('processors', async () => product.pid('processors')), 'SIGKILL');
        const done = await scoreTimes(startedMs);
        const [, completedMs] = (await cycles())[0] ?? [];
        return completedMs === 0 && done.size < wallets.length && { startedMs, done };
      },
      240_000,
    );
    const [startedMs, completedMs] = await eventually('the end of the cycle', async () =>
      (await cycles()).find(([, completed]) => completed > 0),
    );
    expect(startedMs).toBe(interrupted.startedMs);
    expect(await cycles()).toHaveLength(1);
    const times = await scoreTimes(startedMs);
    for (const wallet of wallets) expect([wallet, times.has(wallet)]).toEqual([wallet, true]);
    expect(interrupted.done.size).toBeGreaterThan(0);
    for (const [wallet, at] of interrupted.done) expect([wallet, times.get(wallet)]).toEqual([wallet, at]);
    for (const at of times.values()) expect(at).toBeLessThanOrEqual(completedMs);
    // The process that ended the cycle did the rest of it, and nothing else.
    const finished = await product.metric('processors', 'oddstream_copy_pnl_scored_wallets_total');
    expect(finished).toBeGreaterThan(0);
    expect(finished + interrupted.done.size).toBeLessThanOrEqual(times.size);
    expect(await product.sql('SELECT 1 FROM copy_score_errors')).toEqual([]);
  }, 400_000);
});
