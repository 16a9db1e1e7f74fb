import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ClickHouse } from '../../infra/clickhouse/client.js';
import { DEFAULT_ANALYST_LIMITS } from '../../infra/clickhouse/embedded/analyst-profile.js';
import { datasets } from '../../infra/export/datasets.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { publishViews } from '../../processors/public-views/publish.js';
import { publicViews } from '../../processors/public-views/views.js';
import { startMigratedClickHouse, type TestClickHouse } from '../support/clickhouse.js';

const ROWS = 1_000_000;
/** Of one insert, which the memory of a query bounds. */
const INSERT_ROWS = 250_000;
const DAYS = 40;
const START = 1_770_000_000 - (1_770_000_000 % 86_400);
const DAY = new Date((START + 20 * 86_400) * 1000).toISOString().slice(0, 10);
/** Rows are in order of time; every token and every wallet is spread evenly over all days. */
const at = `toDateTime(${START} + intDiv(number * ${DAYS * 86_400}, ${ROWS}), 'UTC')`;
const token = 'toUInt256(cityHash64(number) % 20000)';
const wallet = (salt: number) => `concat('0x', leftPad(lower(hex(cityHash64(number, ${salt}) % 10000)), 40, '0'))`;
const WALLET = `0x${'0'.repeat(36)}07d0`;
const logPositionColumns = 'intDiv(number, 10) AS block_number, number % 10 AS log_index';

const generated: Readonly<Record<string, string>> = {
  matches_by_day: `SELECT ${at} AS traded_at, ${token} AS token_id, ${logPositionColumns}, ${wallet(1)} AS maker, ${wallet(2)} AS taker, 500000 AS usdc, 1000000 AS shares FROM numbers(${ROWS})`,
  fills_by_wallet: `SELECT ${wallet(1)} AS wallet, 'maker' AS role, ${at} AS timestamp, ${token} AS token_id, ${logPositionColumns}, wallet AS maker, 500000 AS usdc, 1000000 AS shares FROM numbers(${ROWS})`,
  fills: `SELECT ${at} AS timestamp, ${token} AS token_id, ${logPositionColumns}, 500000 AS usdc, 1000000 AS shares FROM numbers(${ROWS})`,
  positions: `SELECT ${wallet(1)} AS wallet, ${token} AS token_id, 1000000 AS size, 1 AS version FROM numbers(${ROWS})`,
  pnl_events: `SELECT ${wallet(1)} AS wallet, ${at} AS timestamp, ${token} AS token_id, ${logPositionColumns}, toString(number) AS id FROM numbers(${ROWS})`,
  wallet_events: `SELECT ${wallet(1)} AS wallet, if(number % 2 = 0, 'redemption', 'merge') AS kind, ${at} AS timestamp, ${logPositionColumns} FROM numbers(${ROWS})`,
  token_candles_1m: `SELECT ${token} AS token_id, toStartOfMinute(${at}) AS bucket, initializeAggregation('argMinState', toUInt64(1), number) AS open, initializeAggregation('argMaxState', toUInt64(1), number) AS close FROM numbers(${ROWS})`,
  ticks: `SELECT 'BTC/USD' AS feed, 0 AS twap_window_s, ${at} AS timestamp_ms, 1 AS price, toString(number) AS id FROM numbers(${ROWS})`,
  tokens: `SELECT number AS token_id, toString(intDiv(number, 2)) AS condition_id, concat('m-', toString(intDiv(number, 2))) AS market_slug FROM numbers(${ROWS}) WHERE number < 20000`,
  wallet_tags: `SELECT concat('tag-', toString(number % 100)) AS tag, toFixedString(reverse(hex(sipHash64(number))) || 'wxyz', 20) AS wallet, 1 AS fills, 1 AS version FROM numbers(${ROWS})`,
  markets: `SELECT toString(number) AS condition_id, concat('m-', toString(number)) AS slug, 'BTC' AS crypto_asset, '5m' AS crypto_duration FROM numbers(${ROWS}) WHERE number < 60000`,
};

let engine: TestClickHouse;
let analyst: ClickHouse;
const granules = new Map<string, number>();
beforeAll(async () => {
  engine = await startMigratedClickHouse({
    analyst: { password: undefined, database: 'market', concurrency: 2, limits: DEFAULT_ANALYST_LIMITS },
  });
  const { client } = engine;
  await publishViews({ client, database: 'market', views: publicViews, logger: silentLogger() });
  const views = await client.query<{ name: string }>(
    "SELECT name FROM system.tables WHERE database = currentDatabase() AND engine = 'MaterializedView' AND name NOT IN ('positions_by_token_mv', 'wallet_days_mv')",
  );
  // Each table is filled on its own.
  for (const { name } of views) await client.command(`DROP VIEW ${name}`);
  for (const [table, select] of Object.entries(generated)) {
    const columns = await client.query<{ name: string }>(`DESCRIBE (${select})`);
    const names = columns.map(({ name }) => name).join(', ');
    for (let from = 0; from < ROWS; from += INSERT_ROWS) {
      const piece = select.replace(`numbers(${ROWS})`, `numbers(${from}, ${INSERT_ROWS})`);
      await client.command(`INSERT INTO ${table} (${names}) ${piece}`, {}, { settings: { max_threads: 1 } });
    }
  }
  // As the compaction leaves them.
  for (const table of [...Object.keys(generated), 'wallet_days', 'positions_by_token'])
    await client.command(`OPTIMIZE TABLE ${table} FINAL`);
  const marks = await client.query<{ table: string; marks: string }>(
    'SELECT table, sum(marks - parts) AS marks FROM (SELECT table, sum(marks) AS marks, count() AS parts FROM system.parts WHERE database = currentDatabase() AND active GROUP BY table) GROUP BY table',
  );
  for (const row of marks) granules.set(row.table, Number(row.marks));
  analyst = await engine.connect({ database: 'market', user: 'analyst' });
}, 300_000);
afterAll(() => engine.stop());

/** Granules of each table below the views that a statement of an analyst would read. */
async function reads(statement: string): Promise<Map<string, number>> {
  const rows = await analyst.query<{ table: string; marks: string }>(`EXPLAIN ESTIMATE ${statement}`);
  return new Map(rows.map(({ table, marks }) => [table, Number(marks)]));
}

describe('views over large tables, as an analyst reads them', () => {
  it.each([
    ['a day of trades', 'trades', `day = '${DAY}'`, 'matches_by_day'],
    [
      'an hour of trades',
      'trades',
      `traded_at >= '${DAY} 10:00:00' AND traded_at < '${DAY} 11:00:00'`,
      'matches_by_day',
    ],
    ['a token of trades', 'trades', 'token_id = 1234', 'matches_by_day'],
    ['the window of a market by its condition', 'windows', "condition_id = '617'", 'markets'],
    [
      'a market of trades',
      'trades',
      "token_id IN (SELECT token_id FROM tokens WHERE slug = 'm-617')",
      'matches_by_day',
    ],
    ['a wallet of trade_parties', 'trade_parties', `wallet = '${WALLET}'`, 'fills_by_wallet'],
    [
      'an hour of the export of trade_parties',
      datasets.trade_parties.view,
      `traded_at >= toDateTime('${DAY} 10:00:00', 'UTC') AND traded_at < toDateTime('${DAY} 11:00:00', 'UTC')`,
      'fills',
    ],
    ['a day of volume_days', 'volume_days', `day = '${DAY}'`, 'fills'],
    ['a wallet of positions', 'positions', `wallet = '${WALLET}'`, 'positions'],
    ['a token of holders', 'holders', 'token_id = 1234', 'positions_by_token'],
    [
      'a market of holders',
      'holders',
      "token_id IN (SELECT token_id FROM tokens WHERE slug = 'm-617')",
      'positions_by_token',
    ],
    ['a wallet of pnl_events', 'pnl_events', `wallet = '${WALLET}'`, 'pnl_events'],
    ['a wallet of wallet_days', 'wallet_days', `wallet = '${WALLET}'`, 'wallet_days'],
    ['a tag of wallet_tags', 'wallet_tags', "tag = 'tag-7'", 'wallet_tags'],
    ['a wallet of redemptions', 'redemptions', `wallet = '${WALLET}'`, 'wallet_events'],
    ['a wallet of splits_merges', 'splits_merges', `wallet = '${WALLET}'`, 'wallet_events'],
    ['a token of candles_1m', 'candles_1m', 'token_id = 1234', 'token_candles_1m'],
    ['a token of candles_5m', 'candles_5m', 'token_id = 1234', 'token_candles_1m'],
    [
      'an hour of ticks',
      'ticks',
      `feed = 'BTC/USD' AND twap_window_s = 0 AND tick_at >= '${DAY} 10:00:00' AND tick_at < '${DAY} 11:00:00'`,
      'ticks',
    ],
    ['a market', 'markets', "condition_id = '617'", 'markets'],
    ['the tokens of a slug', 'tokens', "slug = 'm-617'", 'tokens'],
  ])('%s: less than a twentieth of the granules', async (_name, view, condition, table) => {
    const total = granules.get(table) ?? 0;
    // A few large granules would prove nothing.
    expect(total).toBeGreaterThan(30);
    const columns = publicViews.find(({ name }) => name === view)?.columns ?? [];
    const all = columns.map(({ name }) => `any(${name})`).join(', ');
    const read = (await reads(`SELECT count(), ${all} FROM ${view} WHERE ${condition}`)).get(table);
    expect(read).toBeGreaterThan(0);
    expect((read as number) / total).toBeLessThan(0.05);
    // What is estimated is not an empty set.
    expect(await analyst.query(`SELECT count() > 0 AS found FROM ${view} WHERE ${condition}`)).toEqual([{ found: 1 }]);
  });

  it('the window of a market by its slug: less than a fifth of the granules, since a bloom filter lets through some by mistake', async () => {
    const read = (await reads("SELECT count(), any(open_price) FROM windows WHERE slug = 'm-617'")).get('markets') ?? 0;
    expect(read).toBeGreaterThan(0);
    expect(read / (granules.get('markets') ?? 0)).toBeLessThan(0.2);
  });

  it('without a filter reads all granules, so that the estimate is a measure', async () => {
    expect((await reads('SELECT sum(match_usd) FROM trades')).get('matches_by_day')).toBe(
      granules.get('matches_by_day'),
    );
  });
});
