import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ClickHouse } from '../../infra/clickhouse/client.js';
import { migrate } from '../../infra/clickhouse/migrations.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { livePriceSelect } from '../../processors/markets/current-price.js';
import { migrations } from '../../processors/migrations.js';
import { comboTables } from '../../processors/positions/combo-tables.js';
import { unrealizedPnlSql } from '../../schemas/primitives/positions.sql.js';
import { startMigratedClickHouse, type TestClickHouse } from '../support/clickhouse.js';

let engine: TestClickHouse;
let client: ClickHouse;
const TOKENS = 40_000;

beforeAll(async () => {
  engine = await startMigratedClickHouse();
  client = engine.client;
  const run = (sql: string) => client.command(sql);
  // Token n of condition n / 2: fills of all, quotes of the first three quarters, settlements of the first quarter.
  await run(`INSERT INTO fills (block_number, log_index, timestamp, maker, taker, token_id, usdc, shares, is_taker_order, side)
    SELECT number, 0, 1790000000 + number, 'm', 't', number % ${TOKENS}, 300000, 1000000, false, 'BUY' FROM numbers(${TOKENS * 2})`);
  await run(`INSERT INTO token_quotes (token_id, condition_id, outcome_index, price, bid, ask, updated_at)
    SELECT number, toString(intDiv(number, 2)), number % 2, 0.5, if(number % 3 = 0, NULL, 0.4), if(number % 3 = 0, NULL, 0.5), 1790000000 FROM numbers(${(TOKENS / 4) * 3})`);
  await run(`INSERT INTO token_settlements (token_id, condition_id, outcome_index, numerator, denominator, timestamp)
    SELECT number, toString(intDiv(number, 2)), number % 2, number % 2, 1, 1790100000 FROM numbers(${TOKENS / 4})`);
  await run(`INSERT INTO condition_events (condition_id, block_number, log_index, timestamp, token_id, kind, amount, collateral)
    SELECT toString(intDiv(number, 2)), number, 1, 1790000000, number, 'split', 7, 7 FROM numbers(${TOKENS})`);
  await run(`INSERT INTO pnl_events (wallet, id, timestamp, token_id, action, minted, usdc, realized_pnl)
    SELECT 'w' || toString(number % 100), toString(number), 1790000000 + number * 10, number % ${TOKENS}, 'BUY', if(number % 2 = 0, 5, -1), 10, toInt64(number % 3) - 1 FROM numbers(${TOKENS})`);
  await run(
    `INSERT INTO resolutions (condition_id, payout_numerators, timestamp) SELECT toString(number), [0, 1], 1790100000 FROM numbers(${TOKENS / 8})`,
  );
  await run(
    `INSERT INTO markets (condition_id, active, closed) SELECT toString(number), true, number % 2 = 0 FROM numbers(${TOKENS / 4})`,
  );
});
afterAll(() => engine.stop());

describe('prices of tokens', () => {
  let next = 1_000_000;
  const priceOf = async (token: number) => {
    const [row] = await client.query<{ price: number; source: string; resolved: boolean }>(
      'SELECT price, source, resolved FROM token_prices WHERE token_id = {token:UInt256}',
      { token },
    );
    return row === undefined ? null : [row.price, row.source, Boolean(row.resolved)];
  };
  it('come from the settlement first, and from the newer of fill and quote without a fresh midpoint', async () => {
    expect(await priceOf(1)).toEqual([1, 'settlement', true]);
    expect(await priceOf(2)).toEqual([0, 'settlement', true]);
    // Its quote is older than a minute, its fill newer.
    expect(await priceOf(20_003)).toEqual([0.3, 'last_fill', false]);
    expect(await priceOf(TOKENS - 1)).toEqual([0.3, 'last_fill', false]);
    expect(await priceOf(TOKENS + 5)).toBeNull();
  });

  it.each([
    ['a fresh midpoint, regardless of fills', { quotedS: 5, price: 0.5, bidAsk: true, tradedS: 1 }, [0.45, 'clob_mid']],
    [
      'the newer fill, with a midpoint older than a minute',
      { quotedS: 70, price: 0.5, bidAsk: true, tradedS: 65 },
      [0.3, 'last_fill'],
    ],
    [
      'the newer quote, with a midpoint older than a minute',
      { quotedS: 70, price: 0.5, bidAsk: true, tradedS: 75 },
      [0.5, 'v1_condition'],
    ],
    ['the newer quote', { quotedS: 5, price: 0.6, bidAsk: false, tradedS: 9 }, [0.6, 'v1_condition']],
    ['the newer fill', { quotedS: 9, price: 0.6, bidAsk: false, tradedS: 5 }, [0.3, 'last_fill']],
    [
      'the fill, of a quote without a price',
      { quotedS: 5, price: null, bidAsk: false, tradedS: 900 },
      [0.3, 'last_fill'],
    ],
    [
      'an old midpoint, for a token without fill and price',
      { quotedS: 900, price: null, bidAsk: true, tradedS: null },
      [0.45, 'v1_condition'],
    ],
    [
      'no source, for a quote without any price',
      { quotedS: 5, price: null, bidAsk: false, tradedS: null },
      [0, 'none'],
    ],
  ])('come from %s', async (_name, { quotedS, price, bidAsk, tradedS }, expected) => {
    const token = next++;
    const nowS = Math.floor(Date.now() / 1000);
    const ago = (seconds: number) => nowS - seconds;
    await client.insertRows('token_quotes', [
      { token_id: token, price, bid: bidAsk ? 0.4 : null, ask: bidAsk ? 0.5 : null, updated_at: ago(quotedS) * 1000 },
    ]);
    if (tradedS !== null)
      await client.insertRows('last_prices', [
        { token_id: token, usdc: 300_000, shares: 1_000_000, timestamp: ago(tradedS), place: 1 },
      ]);
    expect(await priceOf(token)).toEqual([...expected, false]);
  });

  describe('with an order book of 0.70 and 0.75', () => {
    const book = (token: number, over: Record<string, unknown>) => ({
      token_id: token,
      bid_prices: ['0.70'],
      ask_prices: ['0.75'],
      mid: '0.725',
      verified: true,
      synthetic: false,
      ...over,
    });
    /** Seconds since the book's change, its properties, seconds since a fill at 0.3 and a quote at 0.6 with bid 0.4 and ask 0.5, and whether the market is settled. */
    it.each([
      ['newer than the fill', { bookedS: 5, over: {}, tradedS: 9, quotedS: null }, [0.725, 'clob_mid', false]],
      [
        'older than the fill but fresh',
        { bookedS: 20, over: {}, tradedS: 1, quotedS: null },
        [0.725, 'clob_mid', false],
      ],
      ['fresh, besides a fresh quote', { bookedS: 20, over: {}, tradedS: 1, quotedS: 1 }, [0.725, 'clob_mid', false]],
      [
        'of a token without any fill',
        { bookedS: 5, over: {}, tradedS: null, quotedS: null },
        [0.725, 'clob_mid', false],
      ],
      ['older than a minute', { bookedS: 62, over: {}, tradedS: 900, quotedS: null }, [0.3, 'last_fill', false]],
      [
        'older than a minute, besides a fresh quote',
        { bookedS: 62, over: {}, tradedS: 900, quotedS: 5 },
        [0.45, 'clob_mid', false],
      ],
      ['unverified', { bookedS: 1, over: { verified: false }, tradedS: 900, quotedS: null }, [0.3, 'last_fill', false]],
      ['synthetic', { bookedS: 1, over: { synthetic: true }, tradedS: 900, quotedS: null }, [0.3, 'last_fill', false]],
      ['with one side', { bookedS: 1, over: { mid: null }, tradedS: 900, quotedS: null }, [0.3, 'last_fill', false]],
      [
        'unverified, of a token without any other price',
        { bookedS: 1, over: { verified: false }, tradedS: null, quotedS: null },
        null,
      ],
      ['of a settled token', { bookedS: 1, over: {}, tradedS: 9, quotedS: 9, settled: true }, [1, 'settlement', true]],
    ])('%s', async (_name, state, expected) => {
      const token = next++;
      const nowS = Math.floor(Date.now() / 1000);
      const ago = (seconds: number) => nowS - seconds;
      const bookedAt = ago(state.bookedS);
      await client.insertRows('order_books', [
        book(token, { updated_at: bookedAt * 1000, received_at: nowS * 1000, ...state.over }),
      ]);
      if (state.tradedS !== null)
        await client.insertRows('last_prices', [
          { token_id: token, usdc: 300_000, shares: 1_000_000, timestamp: ago(state.tradedS), place: 1 },
        ]);
      if (state.quotedS !== null)
        await client.insertRows('token_quotes', [
          { token_id: token, price: 0.6, bid: 0.4, ask: 0.5, updated_at: ago(state.quotedS) * 1000 },
        ]);
      if ('settled' in state)
        await client.insertRows('token_settlements', [
          { token_id: token, numerator: 1, denominator: 1, timestamp: ago(100) },
        ]);
      expect(await priceOf(token)).toEqual(expected);
      if (expected?.[0] !== 0.725) return;
      const [row] = await client.query<{ at: number }>(
        'SELECT toUnixTimestamp(updated_at) AS at FROM token_prices WHERE token_id = {token:UInt256}',
        { token },
      );
      expect(row?.at).toBe(bookedAt);
    });
  });
  it('are the same in the nested form of the view', async () => {
    const differing = (a: string, b: string) =>
      `SELECT count() AS rows FROM (SELECT * FROM (${a}) EXCEPT SELECT * FROM (${b}))`;
    const columns = 'token_id, source, price, updated_at, resolved, last_trade_at';
    const [flat, nested] = [`SELECT ${columns} FROM token_prices`, `SELECT ${columns} FROM (${livePriceSelect})`];
    expect(await client.query(differing(flat, nested))).toEqual([{ rows: '0' }]);
    expect(await client.query(differing(nested, flat))).toEqual([{ rows: '0' }]);
  });
});

describe('open interest and status', () => {
  it('add up splits and mints by token', async () => {
    const rows = await client.query<{ token_id: string; amount: string }>(
      'SELECT toString(token_id) AS token_id, toString(amount) AS amount FROM open_interest WHERE token_id IN (10, 11) ORDER BY token_id',
    );
    expect(rows).toEqual([
      { token_id: '10', amount: '12' },
      { token_id: '11', amount: '6' },
    ]);
  });

  it('combine catalogue and chain for the status of a condition', async () => {
    const statusOf = async (condition: string) => {
      const [row] = await client.query<Record<string, unknown>>(
        `SELECT status, winning_outcome_index, toUnixTimestamp(resolved_at) AS at FROM market_status WHERE condition_id = {condition:String}`,
        { condition },
      );
      return row === undefined ? null : [row.status, row.winning_outcome_index, row.at];
    };
    expect(await statusOf('3')).toEqual(['resolved', 1, 1_790_100_000]);
    expect(await statusOf('6000')).toEqual(['closed', null, null]);
    expect(await statusOf('6001')).toEqual(['live', null, null]);
    expect(await statusOf('99999')).toBeNull();
  });

  it('wallet_days sums up the PnL events of the day', async () => {
    const [row] = await client.query<Record<string, string>>(
      `SELECT toString(sum(fills)) AS fills, toString(sum(volume)) AS volume, toString(sum(wins)) AS wins, toString(sum(losses)) AS losses,
        toString(sum(realized_pnl)) AS realized, toString(sum(gross_loss)) AS loss FROM wallet_days WHERE wallet = 'w7'`,
    );
    const walletEvents = Array.from({ length: TOKENS / 100 }, (_, i) => i * 100 + 7);
    const wins = walletEvents.filter((n) => n % 3 === 2).length;
    const losses = walletEvents.filter((n) => n % 3 === 0).length;
    expect(row).toEqual({
      fills: String(walletEvents.length),
      volume: String(walletEvents.length * 10),
      wins: String(wins),
      losses: String(losses),
      realized: String(wins - losses),
      loss: String(-losses),
    });
  });
});

describe('unrealizedPnlSql', () => {
  // Shares, average price, price, by hand: shares x price - shares x average, each to the nearest base unit, halves away from zero.
  it.each([
    [132_394_178, '-0.162671374458433643', 0.5, 66_197_089 + 21_536_743],
    [3, '-0.5', 0, 2],
    [3, '0.5', 1, 3 - 2],
    [1, '-0.4', 0, 0],
    [1_000_001, '0.3333335', 0.25, 250_000 - 333_334],
  ])('of %i base units bought at %s, at %d is %i', async (size, average, price, expected) => {
    const [row] = await client.query<{ pnl: string }>(
      `SELECT toString(${unrealizedPnlSql('p', 'q')}) AS pnl FROM
        (SELECT toUInt64({size:UInt64}) AS size, toUInt64(0) AS received, CAST({average:String} AS Decimal(38, 18)) AS avg_price) AS p,
        (SELECT {price:Float64} AS price, 'settlement' AS source) AS q`,
      { size, average, price },
    );
    expect(Number(row?.pnl)).toBe(expected);
  });
});

describe('granules read by a query', () => {
  it.each([
    ['token_prices', 'SELECT price FROM token_prices WHERE token_id IN (5, 25000)'],
    ['open_interest', 'SELECT sum(amount) FROM open_interest WHERE token_id IN (5, 25000)'],
    ['market_status', `SELECT status FROM market_status WHERE condition_id = '77'`],
    ['pnl_events', `SELECT count() FROM pnl_events WHERE wallet = 'w7'`],
    ['condition_events', `SELECT count() FROM condition_events WHERE condition_id = '77'`],
  ])('of %s is its key range, not the table', async (_name, sql) => {
    const plan = await client.query<{ explain: string }>(`EXPLAIN indexes = 1 ${sql}`);
    // Indexes are applied one after another: the granules after the last one of each table are read.
    const granules = plan
      .map(({ explain }) => explain)
      .join('\n')
      .split('ReadFromMergeTree')
      .map((read) => [...read.matchAll(/Granules: (\d+)\/(\d+)/g)].at(-1))
      .filter((found) => found !== undefined);
    expect(granules.length).toBeGreaterThan(0);
    for (const [, read, all] of granules) {
      if (Number(all) > 8) expect(Number(read)).toBeLessThanOrEqual(Math.max(4, Number(all) / 4));
    }
  });
});

it('the combo tables contain rows from before their migration', async () => {
  const older = await engine.connect({ database: 'combos' });
  const until = migrations.indexOf(comboTables);
  await migrate({ client: older, migrations: migrations.slice(0, until), logger: silentLogger() });
  // One of four rows is of a combo: Yes and No of the third module. Another has the module's bits, but nonzero reserved bits.
  const base = 'bitShiftLeft(toUInt256(3), 248)';
  await older.command(`INSERT INTO pnl_events (wallet, id, block_number, timestamp, token_id, action)
    SELECT concat('w', toString(number % 7)), toString(number), 1000 - number, 1790000000 + number,
      [toUInt256(number), ${base} + intDiv(number, 4) % 2, ${base} + bitShiftLeft(toUInt256(1), 40), bitShiftLeft(toUInt256(4), 248)][number % 4 + 1],
      if(number % 8 = 1, 'REDEEM', 'BUY') FROM numbers(400)`);
  await migrate({ client: older, migrations, logger: silentLogger() });
  const condition = `concat('0x03', repeat('0', 60))`;
  const counts = () =>
    older.query(`SELECT (SELECT count() FROM combo_events FINAL) AS events, (SELECT min(block_number) FROM combo_events) AS oldest,
      (SELECT sum(events) FROM combo_markets WHERE condition_id = ${condition}) AS counted, (SELECT sum(redemptions) FROM combo_markets) AS redemptions,
      (SELECT toUnixTimestamp(max(last_at)) FROM combo_markets) AS last`);
  // The last combo row is number 397.
  expect(await counts()).toEqual([
    { events: '100', oldest: '603', counted: '100', redemptions: '50', last: 1_790_000_397 },
  ]);
  // Later rows are added on insert.
  await older.command(`INSERT INTO pnl_events (wallet, id, block_number, timestamp, token_id, action)
    VALUES ('w', 'a', 1, 1790000500, ${base}, 'SELL'), ('w', 'b', 1, 1790000600, 77, 'SELL')`);
  expect(await counts()).toEqual([
    { events: '101', oldest: '1', counted: '101', redemptions: '50', last: 1_790_000_500 },
  ]);
});
