import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ClickHouse } from '../../infra/clickhouse/client.js';
import { createMemoryLog, type MemoryLog } from '../../infra/log/testing.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { catalogSink } from '../../processors/catalog/sink.js';
import { fillsSink } from '../../processors/fills/sink.js';
import { oracleSink } from '../../processors/oracle/sink.js';
import { pnlSink } from '../../processors/positions/sink.js';
import { rebuild } from '../../processors/rebuild/rebuild.js';
import { rebuildTasksFor } from '../../processors/rebuild/rebuild-tasks.js';
import type { SinkProgress } from '../../processors/sink/progress-table.js';
import { plainMarket } from '../../processors/stream/catalog-market.fixture.js';
import { createCodec } from '../../schemas/codec.js';
import { allTopics, topics } from '../../schemas/topics.js';
import { emptyTables, startMigratedClickHouse, type TestClickHouse } from '../support/clickhouse.js';
import { accountFor, activityOf } from '../support/positions.js';
import { comboYes } from '../support/venue.js';
import { address, createTestTick, createTestTrade } from './events.js';
import { runToEnd, smallSink } from './run-sink.js';

const codec = createCodec();
const logger = silentLogger();
const FEED = 'BTC/USD';
let clickhouse: TestClickHouse;
let live: ClickHouse;
let shadow: ClickHouse;
let log: MemoryLog;

beforeAll(async () => {
  clickhouse = await startMigratedClickHouse();
  live = clickhouse.client;
  shadow = await clickhouse.connect({ database: 'rebuild' });
});
afterAll(() => clickhouse.stop());

const trades = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, i) => {
    const trade = createTestTrade(Math.floor((from + i) / 5), (from + i) % 5, {
      builder: i % 3 === 0 ? `0x${'ab'.repeat(32)}` : null,
    });
    return { key: 'block', timestampMs: trade.timestamp_ms, value: codec.encode('trade', trade) };
  });

/** Every second one is of a combo. */
const changes = Array.from({ length: 20 }, (_, i) => {
  const activity = activityOf({
    wallet: address(i % 3),
    block_number: 100 + i,
    action: 'BUY',
    tokens: [i % 2 === 0 ? comboYes : '77'],
    amounts: [1_000_000n],
    usdc: 500_000n,
  });
  const [value] = accountFor([activity]).events;
  if (value === undefined) throw new Error('no event');
  return { key: value.wallet, partition: 0, timestampMs: value.timestamp_ms, value: codec.encode('pnl_event', value) };
});

/** 60 fills and 40 ticks in the log, all of them in the live tables, in small chunks. */
async function liveTables(): Promise<void> {
  await emptyTables(live);
  log = createMemoryLog();
  await log.ensureTopics(allTopics);
  await log.append(topics.chainFinal.name, trades(0, 60));
  await log.append(
    topics.oracleTicks.name,
    Array.from({ length: 40 }, (_, i) => {
      const tick = createTestTick(FEED, 1_790_000_000 + i * 60, BigInt(100 + ((i * 7) % 13)));
      return { key: FEED, partition: 0, timestampMs: tick.timestamp_ms, value: codec.encode('price_tick', tick) };
    }),
  );
  for (const definition of [fillsSink, oracleSink]) await runToEnd(smallSink(definition, log, live).sink);
}

const run = (name: string, checkOnly = false) =>
  rebuild({
    tasks: rebuildTasksFor(name),
    log,
    codec,
    live,
    shadow,
    logger,
    signal: new AbortController().signal,
    checkOnly,
  });
/** Every stored row, including repeated ones. */
const stored = async () =>
  (
    await live.query<Record<string, string>>(
      `SELECT (SELECT count() FROM fills) AS fills, (SELECT count() FROM fills_by_wallet) AS by_wallet, (SELECT count() FROM fills_by_token) AS by_token,
        (SELECT count() FROM fills_by_builder) AS by_builder, (SELECT sum(usdc) FROM fills) AS usdc, (SELECT count() FROM ticks) AS ticks,
        (SELECT count() FROM candles) AS candles`,
    )
  )[0];
/** Indexes and settings of exchanged tables are those of the shadow database. */
const schema = () =>
  live.query('SELECT name, create_table_query FROM system.tables WHERE database = currentDatabase() ORDER BY name');

describe('rebuild', { timeout: 240_000 }, () => {
  it('produces rows identical to every live table', async () => {
    await liveTables();
    await log.append(topics.pnlEvents.name, changes);
    await runToEnd(smallSink(pnlSink, log, live).sink);
    const before = await stored();
    const schemaBefore = await schema();
    expect(before).toMatchObject({ fills: '60', by_wallet: '120', by_token: '60', by_builder: '20', ticks: '40' });
    const reports = await run('all');
    expect(reports.filter((report) => !report.identical)).toEqual([]);
    expect(reports.find((report) => report.table === 'fills_by_wallet')?.rebuilt.rows).toBe(120);
    for (const [table, rows] of [
      ['pnl_events', 20],
      ['combo_events', 10],
      ['combo_markets', 1],
    ])
      expect([table, reports.find((report) => report.table === table)?.rebuilt.rows]).toEqual([table, rows]);
    expect(reports).toHaveLength(46);
    expect(await stored()).toEqual(before);
    expect(await schema()).toEqual(schemaBefore);
    const databasesLeft = await live.query('SELECT name FROM system.databases WHERE name = {name:String}', {
      name: shadow.database,
    });
    expect(databasesLeft).toEqual([]);
  });

  it('finds no difference in tags that a market has lost, whose records the compacted catalogue no longer has', async () => {
    await liveTables();
    await live.insertRows('tag_tokens', [{ tag: 'lost', token_id: '7', _offset: 1 }]);
    const report = async () => (await run('markets', true)).find(({ table }) => table === 'tag_tokens');
    expect(await report()).toMatchObject({ identical: true, differences: null });
    const market = { ...plainMarket, condition_id: '0xc0', tag_slugs: ['nba'], token_ids: ['8'] };
    const value = codec.encode('catalog_market', market);
    await log.append(topics.catalog.name, [{ key: 'market:0xc0', value, timestampMs: 1 }]);
    await runToEnd(smallSink(catalogSink, log, live).sink);
    await live.command("ALTER TABLE tag_tokens DELETE WHERE tag = 'nba' SETTINGS mutations_sync = 2");
    expect(await report()).toMatchObject({ identical: false, differences: { onlyLive: 1, onlyRebuilt: 1 } });
  });

  it('of the positions empties the tables computed from them when it exchanges tables', async () => {
    await liveTables();
    const row = { tag: 'nba', wallet: 'w'.repeat(20), fills: 1, volume: 1, markets: 1, version: 1 };
    await live.insertRows('wallet_tags', [row]);
    await live.insertRows('overlap_token_tags', [
      { token_id: '1', condition_id: 'c', tags: ['nba'], former: [], version: 1 },
    ]);
    await live.insertRows('wallet_tags_progress', [{ source: 'positions', partition: 0, next_offset: 9, version: 1 }]);
    const left = async () =>
      (
        await live.query<{ rows: string }>(
          'SELECT (SELECT count() FROM wallet_tags) + (SELECT count() FROM overlap_token_tags) + (SELECT count() FROM wallet_tags_progress) AS rows',
        )
      )[0]?.rows;
    await run('positions', true);
    expect(await left()).toBe('3');
    await run('positions');
    expect(await left()).toBe('0');
  });

  it('is rejected for tables whose records were deleted, which sinks do not fill again from what is left either', async () => {
    await liveTables();
    const before = await stored();
    await log.deleteBefore(topics.oracleTicks.name, 0, 30);
    for (const [name, checkOnly] of [
      ['all', false],
      ['all', true],
      ['ticks', false],
    ] as const)
      await expect(run(name, checkOnly)).rejects.toThrow(
        'The oldest records of oracle.ticks were deleted (RAW_HISTORY_DAYS), so rebuilt tables would lack their rows; the live tables are unchanged.',
      );
    await expect(run('all')).rejects.toThrow(/can be rebuilt one by one: fills, .*markets/);
    expect((await run('fills')).every(({ identical }) => identical)).toBe(true);
    expect(await stored()).toEqual(before);
    await runToEnd(smallSink(oracleSink, log, live).sink);
    for (const table of ['ticks', 'chunks']) await live.command(`TRUNCATE TABLE ${table}`);
    await expect(runToEnd(smallSink(oracleSink, log, live).sink)).rejects.toThrow(
      'Sink oracle/oracle.ticks/0 has to read oracle.ticks/0 from offset 0 on, but the log begins at 30',
    );
    expect(await stored()).toMatchObject({ ticks: '0' });
  });

  it('lets sinks resume without repeated or missing rows, views included', async () => {
    await liveTables();
    await run('fills');
    await log.append(topics.chainFinal.name, trades(60, 75));
    await runToEnd(smallSink(fillsSink, log, live).sink);
    await runToEnd(smallSink(fillsSink, log, live).sink);
    expect(await stored()).toMatchObject({
      fills: '75',
      by_wallet: '150',
      by_token: '75',
      usdc: String(75 * 20_000_000),
    });
    expect((await run('fills', true)).filter((report) => !report.identical)).toEqual([]);
  });

  it('lets sinks report the last record before their position, or nothing until they have inserted a younger one', async () => {
    await liveTables();
    const reported: SinkProgress[] = [];
    const progress = { report: (one: SinkProgress) => reported.push(one) };
    const position = { sink: 'fills', topic: topics.chainFinal.name, partition: 0, recordKey: 'block' };
    const at = (nextOffset: number) => {
      const recordTimeMs = trades(nextOffset - 1, nextOffset)[0]?.timestampMs;
      return { ...position, nextOffset, recordTimeMs };
    };
    await run('fills');
    await runToEnd(smallSink(fillsSink, log, live, 10, { progress }).sink);
    expect(reported).toEqual([at(60)]);
    await run('fills');
    await log.append(topics.chainFinal.name, trades(60, 70));
    reported.length = 0;
    await runToEnd(smallSink(fillsSink, log, live, 10, { progress }).sink);
    expect(reported).toEqual([at(70)]);
  });

  it('reports wrong tables and repairs them', async () => {
    await liveTables();
    await live.command(
      'ALTER TABLE fills_by_wallet DELETE WHERE block_number = 3',
      {},
      { settings: { mutations_sync: '2' } },
    );
    await live.command('DROP TABLE fills_by_token SYNC');
    const checked = await run('fills_by_token', true);
    expect(
      checked
        .filter((report) => !report.identical)
        .map((report) => [report.table, report.live.rows, report.rebuilt.rows]),
    ).toEqual([
      ['fills_by_wallet', 110, 120],
      // The recreated table has the newest chunk, which is always inserted again.
      ['fills_by_token', 4, 60],
    ]);
    const [byWallet] = checked.flatMap(({ table, differences }) => (table === 'fills_by_wallet' ? [differences] : []));
    expect(byWallet).toMatchObject({ onlyLive: 0, onlyRebuilt: 10 });
    expect(byWallet?.rows.map(({ side }) => side)).toEqual(Array.from({ length: 10 }, () => 'rebuilt'));
    // The transaction, the order, and in some rows a builder.
    expect(byWallet?.rows[0]?.row.match(/0x[0-9a-f]{64}/g)?.length).toBeGreaterThanOrEqual(2);
    // The deleted rows are in the rebuilt table only, each in a part that is listed.
    expect(byWallet?.stored).toHaveLength(10);
    const rebuiltParts = byWallet?.parts.filter(({ side }) => side === 'rebuilt').map(({ part }) => part);
    for (const { side, part, offset } of byWallet?.stored ?? []) {
      expect([side, rebuiltParts]).toEqual(['rebuilt', expect.arrayContaining([part])]);
      expect(Number(offset)).toBeGreaterThanOrEqual(15);
      expect(Number(offset)).toBeLessThan(20);
    }
    expect((await stored())?.by_wallet).toBe('110');
    await run('fills_by_token');
    expect((await stored())?.by_wallet).toBe('120');
    expect((await run('all', true)).filter((report) => !report.identical)).toEqual([]);
  });

  it('stops at the position of the live tables in a longer log', async () => {
    await liveTables();
    await log.append(topics.chainFinal.name, trades(60, 80));
    expect((await run('fills')).filter((report) => !report.identical)).toEqual([]);
    expect((await stored())?.fills).toBe('60');
    await runToEnd(smallSink(fillsSink, log, live).sink);
    expect((await stored())?.fills).toBe('80');
  });

  it('does not change the live tables when processors are started meanwhile', async () => {
    await liveTables();
    const before = await stored();
    const rejected = rebuild({
      tasks: rebuildTasksFor('fills'),
      log,
      codec,
      live,
      shadow: {
        ...shadow,
        async insertBytes(...call) {
          await log.acquireOwnership('sink-fills-chain.final-0');
          await shadow.insertBytes(...call);
        },
      },
      logger,
      signal: new AbortController().signal,
    });
    await expect(rejected).rejects.toThrow(/Processors were started during the rebuild: the live tables are unchanged/);
    expect(await stored()).toEqual(before);
    expect((await run('fills')).filter((report) => !report.identical)).toEqual([]);
  });

  it('rejects an unknown table name and lists the tables', () => {
    expect(() => rebuildTasksFor('fils')).toThrow(
      /^There is no table "fils" to rebuild\. [\s\S]*Tables: fills, fills_by_wallet/,
    );
    expect(() => rebuildTasksFor(undefined)).toThrow(/^No table was named\. [\s\S]*Tables: fills/);
  });
});
