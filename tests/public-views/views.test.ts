import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { migrate } from '../../infra/clickhouse/migrations.js';
import { FatalError } from '../../infra/errors.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { migrations } from '../../processors/migrations.js';
import { publishViews } from '../../processors/public-views/publish.js';
import { publicViews } from '../../processors/public-views/views.js';
import { startMigratedClickHouse, type TestClickHouse } from '../support/clickhouse.js';
import { insertVenue } from '../support/venue.js';

const logger = silentLogger();
let engine: TestClickHouse;
beforeAll(async () => {
  engine = await startMigratedClickHouse();
  await publishViews({ client: engine.client, database: 'market', views: publicViews, logger });
});
afterAll(() => engine.stop());

/** Ordinary functions that a gate on statements rejects by name, besides table functions and those of dictionaries. */
const DANGEROUS =
  /^(file|revision|tid|getSetting|getServerPort|getMacro|hostName|fqdn|hostname|uptime|version|currentUser|user|database|filesystem\w*|sleep\w*|throwIf|dictGet\w*|joinGet\w*|catboost\w*|nested|input|executable|addressTo\w+|demangle|connectionId|serverUUID|zookeeper\w*|queryID|query_id|meta|logTrace|initializeAggregation)$/i;

describe('the public database', () => {
  it('contains exactly the views of this version', async () => {
    const found = await engine.client.query<{ name: string; engine: string }>(
      "SELECT name, engine FROM system.tables WHERE database = 'market' ORDER BY name",
    );
    expect(found).toEqual(
      publicViews.map(({ name }) => ({ name, engine: 'View' })).sort((a, b) => (a.name < b.name ? -1 : 1)),
    );
    expect(found.map(({ name }) => name)).toEqual([
      'candles_1d',
      'candles_1h',
      'candles_1m',
      'candles_5m',
      'coverage',
      'events',
      'holders',
      'markets',
      'open_interest',
      'order_books',
      'pnl_events',
      'positions',
      'prices_now',
      'redemptions',
      'resolutions',
      'social_posts',
      'splits_merges',
      'tags',
      'ticks',
      'tokens',
      'trade_parties',
      'trade_parties_by_time',
      'trades',
      'volume_days',
      'wallet_days',
      'wallet_tags',
      'windows',
    ]);
  });

  it('has a comment on every view and every column', async () => {
    const views = await engine.client.query<{ name: string; comment: string }>(
      "SELECT name, comment FROM system.tables WHERE database = 'market'",
    );
    for (const { name, comment } of views) expect(comment, name).toMatch(/^.{30,}Key: .*Freshness: .{10,}/s);
    const columns = await engine.client.query<{ place: string; comment: string }>(
      "SELECT concat(table, '.', name) AS place, comment FROM system.columns WHERE database = 'market'",
    );
    expect(columns.length).toBeGreaterThan(250);
    for (const { place, comment } of columns) expect(comment.length, place).toBeGreaterThan(3);
  });

  it('answers tests for emptiness and NULL on every text, list and nullable column', async () => {
    const isSized = (type: string) => /^(String|Array|Map)/.test(type);
    const conditions: readonly [applies: (type: string) => boolean, condition: (column: string) => string][] = [
      [(type) => type === 'String', (column) => `${column} != ''`],
      [(type) => type === 'String', (column) => `${column} = ''`],
      [isSized, (column) => `length(${column}) > 0`],
      [isSized, (column) => `notEmpty(${column})`],
      [isSized, (column) => `empty(${column})`],
      [(type) => type.startsWith('Nullable'), (column) => `${column} IS NULL`],
      [(type) => type.startsWith('Nullable'), (column) => `${column} IS NOT NULL`],
    ];
    const failed: string[] = [];
    let checked = 0;
    // One condition per statement: the engine reads the size of a column alone only if the statement needs nothing else of it.
    for (const { name, columns } of publicViews)
      for (const [applies, condition] of conditions) {
        const counts = columns.flatMap((one) => (applies(one.type) ? [`countIf(${condition(one.name)})`] : []));
        checked += counts.length;
        if (counts.length === 0) continue;
        const query = engine.client.query(`SELECT ${counts.join(', ')} FROM market.${name}`);
        await query.catch((error: Error) => failed.push(`${name}: ${error.message}`));
      }
    expect(checked).toBeGreaterThan(500);
    expect(failed).toEqual([]);
  });

  it('names in its comments only columns that exist as key', () => {
    for (const { name, key, columns } of publicViews)
      for (const part of key)
        expect(
          columns.map((column) => column.name),
          name,
        ).toContain(part);
  });

  it('gives money as Decimal, times as DateTime64 in UTC, and no state of an aggregate function', async () => {
    const columns = await engine.client.query<{ place: string; type: string }>(
      "SELECT concat(table, '.', name) AS place, type FROM system.columns WHERE database = 'market'",
    );
    for (const { place, type } of columns) {
      expect(type, place).not.toMatch(/AggregateFunction|Float|LowCardinality|Enum|DateTime(?!64)/);
      if (/_usd$|price$|\.(open|high|low|close|bid|ask|shares)$/.test(place)) expect(type, place).toMatch(/Decimal/);
      if (/_at$/.test(place)) expect(type, place).toMatch(/^(Nullable\()?DateTime64\(3, 'UTC'\)/);
    }
    // Coverage has a row per source without any data.
    for (const { name } of publicViews.filter((view) => view.name !== 'coverage'))
      expect(await engine.client.query(`SELECT * FROM market.${name} LIMIT 1`)).toEqual([]);
  });

  it('returns the types that it declares', async () => {
    for (const { name, columns } of publicViews) {
      const found = await engine.client.query<{ name: string; type: string }>(
        `DESCRIBE (SELECT * FROM market.${name}) SETTINGS print_pretty_type_names = 0`,
      );
      expect(found.map((column) => [column.name, column.type])).toEqual(
        columns.map((column) => [column.name, column.type]),
      );
    }
  });

  it('has no column or view that is named as a table function or a function that a gate rejects', async () => {
    const functions = await engine.client.query<{ name: string }>(
      'SELECT name FROM system.table_functions UNION ALL SELECT name FROM system.table_engines',
    );
    expect(functions.length).toBeGreaterThan(90);
    const forbidden = new Set(functions.map(({ name }) => name.toLowerCase()));
    for (const { name, columns } of publicViews)
      for (const word of [name, ...columns.map((column) => column.name)]) {
        expect(forbidden, `${name}.${word}`).not.toContain(word.toLowerCase());
        expect(word, name).not.toMatch(DANGEROUS);
        expect(word).toMatch(/^[a-z][a-z0-9_]*$/);
      }
  });

  it('is published again without an error, by several processes at once, and follows the text of its version', async () => {
    const client = await engine.connect();
    const publish = (views = publicViews) => publishViews({ client, database: 'market', views, logger });
    await Promise.all([publish(), publish(), publish()]);
    const older = publicViews.map((view) => ({ ...view, summary: 'An older text of thirty letters or more.' }));
    await publish(older);
    await publish();
    const [row] = await client.query<{ n: string }>(
      "SELECT count() AS n FROM system.tables WHERE database = 'market' AND comment LIKE 'An older%'",
    );
    expect(row?.n).toBe('0');
  });

  it('is not published over the views of another database, and stays as it is', async () => {
    const next = await engine.connect({ database: 'test_next' });
    await migrate({ client: next, migrations, logger });
    const definitions = () =>
      engine.client.query("SELECT name, as_select FROM system.tables WHERE database = 'market' ORDER BY name");
    const before = await definitions();
    const publishing = publishViews({ client: next, database: 'market', views: publicViews, logger });
    await expect(publishing).rejects.toThrow(FatalError);
    await expect(publishing).rejects.toThrow(
      /View market\.candles_1d reads tables of test, not of test_next.*ANALYST_DATABASE/,
    );
    expect(await definitions()).toEqual(before);
    // The name of one database may end with that of the other.
    await publishViews({ client: next, database: 'market_next', views: publicViews, logger });
    const publishingOld = publishViews({ client: engine.client, database: 'market_next', views: publicViews, logger });
    await expect(publishingOld).rejects.toThrow(FatalError);
    await publishViews({ client: next, database: 'market_next', views: publicViews, logger });
  });

  it('is not published into a database with other tables', async () => {
    const client = await engine.connect({ database: 'taken' });
    await client.command('CREATE TABLE trades (a UInt8) ENGINE = MergeTree ORDER BY a');
    const publishing = publishViews({ client: engine.client, database: 'taken', views: publicViews, logger });
    await expect(publishing).rejects.toThrow(FatalError);
    await expect(publishing).rejects.toThrow(/trades.*ANALYST_DATABASE/);
    expect(await client.query("SELECT name FROM system.tables WHERE database = 'taken'")).toEqual([{ name: 'trades' }]);
  });

  it('divides and multiplies prices of a feed in 18 decimals without overflow', async () => {
    const tick = { feed: 'BTC/USD', twap_window_s: 0, source: 'test', received_at: 1_796_000_000_000 };
    const [low, high] = ['64000.25', '65000.500000000000000001'];
    await engine.client.insertRows('ticks', [
      { ...tick, id: 'a', timestamp_ms: 1_796_000_000_000, price: low, bid: low },
      { ...tick, id: 'b', timestamp_ms: 1_796_000_001_000, price: high, bid: high },
    ]);
    const [row] = await engine.client.query(
      `SELECT toString(max(price) / min(price)) AS ratio, toString((max(bid) - min(bid)) / min(bid)) AS change, toString(max(price) * min(price)) AS product
       FROM market.ticks WHERE feed = 'BTC/USD'`,
    );
    const one = 10n ** 18n;
    const [a, b] = [64_000_25n * 10n ** 16n, 65_000_500_000_000_000_000_001n];
    expect(row).toEqual({
      ratio: `1.${String((b * one) / a).slice(1)}`,
      change: `0.0${(((b - a) * one) / a).toString()}`.replace(/0+$/, ''),
      product: '4160048250.12500000000006400025',
    });
    expect(row).toMatchObject({ ratio: expect.stringMatching(/^1\.0156288/) });
  });

  it('has the tick size and the newest trade of an order book, NULL where the venue sent none', async () => {
    const empty = { condition_id: '', bid_prices: [], bid_sizes: [], ask_prices: [], ask_sizes: [], verified: true };
    const levels = { bid_prices: ['0.5'], bid_sizes: ['7'], ask_prices: ['0.6', '0.7'], ask_sizes: ['2.5', '10'] };
    const times = { verified_since: 1_796_000_000_000, updated_at: Date.now(), received_at: Date.now() };
    const trade = { last_trade_price: '.535', last_trade_size: '12.5', last_trade_side: 'SELL' };
    await engine.client.insertRows('order_books', [
      { token_id: '1', ...empty, ...levels, ...times, tick_size: '0.001', ...trade, last_trade_at: 1_796_000_000_123 },
      { token_id: '2', ...empty, ...times },
      // Deleted some hours after its day.
      { token_id: '3', ...empty, ...times, received_at: Date.now() - 25 * 3_600_000 },
    ]);
    expect(
      await engine.client.query(
        'SELECT sum(length(bids.price)) AS prices, toString(sum(arraySum(asks.shares))) AS shares FROM market.order_books',
      ),
    ).toEqual([{ prices: '1', shares: '12.5' }]);
    const rows = await engine.client.query(
      `SELECT toString(tick_size) AS tick, toString(last_trade_price) AS price, toString(last_trade_shares) AS shares, last_trade_side AS side, toString(last_trade_at) AS at
       FROM market.order_books ORDER BY token_id`,
    );
    expect(rows).toEqual([
      { tick: '0.001', price: '0.535', shares: '12.5', side: 'SELL', at: '2026-11-30 00:53:20.123' },
      { tick: null, price: null, shares: null, side: '', at: null },
    ]);
  });

  it('says of redemptions, splits and merges whether the market is neg-risk, NULL where the catalogue does not list it', async () => {
    await insertVenue(engine.client);
    const kinds = (view: string, kind: string) =>
      engine.client.query(`SELECT ${kind} AS kind, is_neg_risk FROM market.${view} ORDER BY block_number`);
    expect(await kinds('splits_merges', 'kind')).toEqual([
      { kind: 'split', is_neg_risk: false },
      { kind: 'conversion', is_neg_risk: null },
      { kind: 'merge', is_neg_risk: false },
    ]);
    expect(await kinds('redemptions', 'slug')).toEqual([
      { kind: 'rain', is_neg_risk: true },
      { kind: '', is_neg_risk: null },
    ]);
  });
});
