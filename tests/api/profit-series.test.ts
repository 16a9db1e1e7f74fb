import { afterAll, beforeAll, expect, it } from 'vitest';
import { readProfitSeries } from '../../api/positions/series.js';
import { createReads, type Reads } from '../../api/reads.js';
import { createClickHouseTables } from '../../api/tables/clickhouse-tables.js';
import type { Tables } from '../../api/tables/port.js';
import { migrate } from '../../infra/clickhouse/migrations.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { migrations } from '../../processors/migrations.js';
import { startTestClickHouse, type TestClickHouse } from '../support/clickhouse.js';

const HOUR_S = 3_600;
const T = 1_790_000_400;
const TOKENS = 40_000;
const walletOf = (positions: number) => `0x${String(positions).padStart(40, '0')}`;
const sizes = [2_999, 3_000, 3_001, TOKENS];
/** The second moment is after all buys, the last is now. */
const grid = { startS: T - HOUR_S, stepS: 2 * HOUR_S, points: 3 };

let engine: TestClickHouse;
let tables: Tables;
let reads: Reads;

beforeAll(async () => {
  engine = await startTestClickHouse();
  await migrate({ client: engine.client, migrations, logger: silentLogger() });
  // One share of each token for 0.40 USD; quotes of 0.50 now.
  for (const positions of sizes) {
    await engine.client.command(`INSERT INTO pnl_events (wallet, token_id, id, leg, block_number, log_index, timestamp, action, shares, usdc, cash, cost, size_after, cost_after, _offset)
      SELECT '${walletOf(positions)}', number + 1000, toString(number), 0, 100 + intDiv(number, 1000), number % 1000, toDateTime(${T} + number % ${HOUR_S}, 'UTC'), 'BUY',
        1000000, 400000, -400000, 400000, 1000000, 400000, number FROM numbers(${positions})`);
  }
  await engine.client.command(`INSERT INTO token_quotes (token_id, price, updated_at, _offset)
    SELECT number + 1000, 0.5, toDateTime64(${T}, 3, 'UTC'), number FROM numbers(${TOKENS})`);
  tables = createClickHouseTables(engine.client);
  reads = createReads({ tables, nowMs: () => (T + 3 * HOUR_S) * 1000 });
}, 60_000);
afterAll(() => engine.stop());

const seriesOf = (positions: number, most: number | null) =>
  readProfitSeries({ tables, ...reads }, walletOf(positions), grid, most as number);

it.each(sizes)('tells a series of %s positions whole, however large the wallet', async (positions) => {
  // Nothing; at cost, as nobody knows a price of then; at the quotes.
  const expected = [0n, 0n, BigInt(positions) * 100_000n];
  expect((await seriesOf(positions, null)) as unknown).toEqual(
    expected.map((pnl, n) => ({ atS: grid.startS + n * grid.stepS, pnl })),
  );
});

it('tells a wallet with more changes than asked for from one with as many', async () => {
  expect(await seriesOf(3_000, 3_000)).toEqual(await seriesOf(3_000, null));
  expect(await seriesOf(2_999, 3_000)).toEqual(await seriesOf(2_999, null));
  expect(await seriesOf(3_001, 3_000)).toBe('more');
  expect(await seriesOf(TOKENS, 3_000)).toBe('more');
  expect(await seriesOf(1, 3_000)).toBeNull();
});
