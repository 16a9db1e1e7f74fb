import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { copierSql } from '../../api/copy-pnl/copier.sql.js';
import { createScoreReader } from '../../api/copy-pnl/score-reader.js';
import { createClickHouseTables } from '../../api/tables/clickhouse-tables.js';
import type { Sql, Tables } from '../../api/tables/port.js';
import { startMigratedClickHouse, type TestClickHouse } from '../support/clickhouse.js';
import { address } from '../support/rows.js';

const NOW_S = Date.UTC(2026, 9, 1) / 1000;
const DAY_S = 86_400;
const wallet = address(0xbb);
const rows = 200_000;
const unlimited = { scanBudgetMs: 300_000, batchBudgetMs: 300_000 };

let engine: TestClickHouse;
beforeAll(async () => {
  engine = await startMigratedClickHouse();
  for (let from = 0; from < rows; from += 50_000)
    await engine.client.command(`INSERT INTO wallet_activity (wallet, timestamp, block_number, log_index, id, action, tokens, amounts, shares, usdc, _offset)
          SELECT '${wallet}', ${NOW_S - 3 * DAY_S} + intDiv(number, 10), number, 0, toString(number), 'BUY', [number % 1000], [1000000], 1000000, 500000, number
          FROM numbers(${from}, 50000)`);
});
afterAll(() => engine?.stop());

describe('createScoreReader for a large wallet', () => {
  it('cuts a scan off when its budget is used up, and sets partial', async () => {
    const tables = createClickHouseTables(engine.client);
    const window = { fromS: NOW_S - 7 * DAY_S, toS: NOW_S };
    const options = { includeTrades: false, maxTrades: 1 };
    const cut = await createScoreReader({ tables, scanBudgetMs: 1 }).score(wallet, window, options);
    expect(cut.partial).toBe(true);
    expect(Number(cut.cash?.rows ?? 0)).toBeLessThan(rows);
    const whole = await createScoreReader({ tables, ...unlimited }).score(wallet, window, options);
    expect(whole.partial).toBe(false);
    expect(whole.cash).toMatchObject({ rows: '200000', bought: '100000000000' });
  });

  it('reads each row of a large wallet once, not once per page', async () => {
    await engine.client.command('OPTIMIZE TABLE wallet_activity FINAL');
    let read = 0;
    const counting: Tables = {
      rows: async <T>({ text, params }: Sql): Promise<T[]> => {
        const url = new URL(engine.url);
        url.searchParams.set('database', engine.client.database);
        url.searchParams.set('max_threads', '1');
        for (const [name, value] of Object.entries(params))
          url.searchParams.set(`param_${name}`, Array.isArray(value) ? `['${value.join("','")}']` : String(value));
        const response = await fetch(url, { method: 'POST', body: `${text} FORMAT JSON` });
        const { data, statistics } = (await response.json()) as { data: T[]; statistics: { rows_read: number } };
        read += statistics.rows_read;
        return data;
      },
      reachable: async () => true,
    };
    const score = await createScoreReader({ tables: counting, ...unlimited }).score(
      wallet,
      { fromS: NOW_S - 7 * DAY_S, toS: NOW_S },
      { includeTrades: true, maxTrades: 199_999 },
    );
    expect([score.partial, score.tradesTruncated]).toEqual([false, true]);
    expect(score.trades?.map(({ ts }) => ts)).toEqual(
      Array.from({ length: 199_999 }, (_, n) => NOW_S - 3 * DAY_S + Math.floor(n / 10)),
    );
    // 200,000 for the cash, and each page its 10,000 rows and the rest of a block.
    expect(read).toBeGreaterThanOrEqual(2 * rows);
    expect(read).toBeLessThan(1_200_000);
  });
});

describe('copierSql', () => {
  it('copies at the first fill after window and delay, in memory bounded by the window', async () => {
    const copied = address(0xcc);
    const fromS = NOW_S - 30 * DAY_S;
    await engine.client.command(`INSERT INTO wallet_activity (wallet, timestamp, id, action, tokens, amounts, shares, usdc)
      VALUES ('${copied}', ${fromS}, 'x', 'BUY', [7], [1000000], 1000000, 400000)`);
    // The first is within the delay; the others begin 4 s after window and delay, one per second.
    for (let from = 0; from < 500_000; from += 100_000)
      await engine.client.command(`INSERT INTO fills_by_token (token_id, timestamp, block_number, shares, usdc)
        SELECT 7, ${fromS} + if(number = 0, 59, 64 + number), number, 1000000, 500000 + number FROM numbers(${from}, 100000)`);
    const { text, params } = copierSql(
      { wallet: copied, fromS, toS: fromS + 1 },
      { slippageBps: 0, delayS: 60, minLiquidity: 0n },
    );
    const days = await engine.client.query(text, params, {
      settings: { max_memory_usage: '60000000', max_threads: 1 },
    });
    expect(days).toMatchObject([{ actual: '-400000', cash: '-5000010000', without_next_fill: '0' }]);
  });
});
