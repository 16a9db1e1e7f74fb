import { afterAll, beforeAll, expect, it } from 'vitest';
import { candlesSql } from '../../api/candles/candles.sql.js';
import { readCandles } from '../../api/candles/reader.js';
import { createClickHouseTables } from '../../api/tables/clickhouse-tables.js';
import type { Sql, Tables } from '../../api/tables/port.js';
import { startMigratedClickHouse, type TestClickHouse } from '../support/clickhouse.js';

const T = 1_790_000_000;
const TOKEN = '777';
/** Inserts that are not merged: each leaves separate rows in nearly every bucket. */
const INSERTS = 8;
const HOURS = 60;

let engine: TestClickHouse;
let tables: Tables;
let sqlTexts: Sql[] = [];

beforeAll(async () => {
  engine = await startMigratedClickHouse();
  const { client } = engine;
  for (const table of ['token_candles_1m', 'token_candles_1h']) await client.command(`SYSTEM STOP MERGES ${table}`);
  for (let n = 0; n < INSERTS; n++)
    await client.command(`INSERT INTO fills (block_number, log_index, timestamp, maker, taker, is_taker_order, side, token_id, usdc, shares, _offset)
      SELECT 1000 + number, ${n}, toDateTime(${T} + number * 900, 'UTC'), '0xa', '0xb', false,
        if((number + ${n}) % 3 = 0, 'SELL', 'BUY'), toUInt256(${TOKEN}), (1 + cityHash64(number, ${n}) % 99) * 10000, 1000000, number * ${INSERTS} + ${n}
      FROM numbers(${HOURS * 4}) WHERE cityHash64(number, ${n}, 5) % 4 > 0`);
  const live = createClickHouseTables(client);
  tables = {
    ...live,
    rows: <Row>(sql: Sql) => {
      sqlTexts.push(sql);
      return live.rows<Row>(sql);
    },
  };
});
afterAll(() => engine.stop());

it.each([
  [3_600, 'before'],
  [3_600, 'after'],
  [60, 'before'],
  [60, 'after'],
] as const)(
  'readCandles pages of %i s, %s, equal those over all rows, whether merged or not',
  async (seconds, direction) => {
    const all = await tables.rows<{
      bucket_s: number;
      open: string;
      high: string;
      low: string;
      close: string;
      usdc: string;
    }>(candlesSql({ tokenId: TOKEN, seconds, fromS: null, toS: null }));
    expect(all.length).toBeGreaterThan(50);
    const brief = all.map((row) => [row.bucket_s, row.open, row.high, row.low, row.close, row.usdc].map(Number));
    const query = { tokenId: TOKEN, seconds, direction, gapFill: false };
    for (const limit of [1, 2, 7, 40, 1_000]) {
      let edge: number | null = null;
      const listed: number[][] = [];
      for (let pages = 0; pages < 100; pages++) {
        sqlTexts = [];
        const page = await readCandles(tables, {
          ...query,
          limit,
          fromS: direction === 'after' ? edge : null,
          toS: direction === 'before' ? edge : null,
        });
        const rows = page.candles.map((one) =>
          [one.startS, one.open, one.high, one.low, one.close, one.usdc].map(Number),
        );
        listed.splice(direction === 'after' ? listed.length : 0, 0, ...rows);
        if (!(direction === 'after' ? page.hasNewer : page.hasOlder)) break;
        edge =
          (direction === 'after' ? (page.candles.at(-1)?.startS ?? 0) : (page.candles[0]?.startS ?? 0)) +
          (direction === 'after' ? seconds : -seconds);
        if (limit < 3 && pages === 5) break;
      }
      const expected = direction === 'after' ? brief.slice(0, listed.length) : brief.slice(-listed.length);
      expect(listed).toEqual(expected);
      if (limit >= 3) expect(listed).toHaveLength(brief.length);
    }
  },
);
