import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ClickHouse } from '../../infra/clickhouse/client.js';
import { migrate } from '../../infra/clickhouse/migrations.js';
import { createMemoryLog } from '../../infra/log/testing.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { catalogSink } from '../../processors/catalog/sink.js';
import { chainSink } from '../../processors/chain/sink.js';
import { fillsSink } from '../../processors/fills/sink.js';
import { migrations } from '../../processors/migrations.js';
import { oracleSink } from '../../processors/oracle/sink.js';
import { chunksTable } from '../../processors/sink/chunk-recorder.js';
import * as columns from '../../processors/sink/columns.js';
import { defineTable, encodeRows } from '../../processors/sink/sink-definition.js';
import { SINK_FORMAT, type TableStore } from '../../processors/sink/table-store.js';
import { socialSink } from '../../processors/social/sink.js';
import { usageSink } from '../../processors/usage/sink.js';
import { walletEventsSink } from '../../processors/wallet-events/sink.js';
import { createCodec } from '../../schemas/codec.js';
import { allTopics } from '../../schemas/topics.js';
import type { PriceTick } from '../../schemas/types.gen.js';
import { emptyTables, startMigratedClickHouse, type TestClickHouse } from '../support/clickhouse.js';
import { createTestTick, createTestTrade } from './events.js';
import { runToEnd, smallSink } from './run-sink.js';

const codec = createCodec();
let clickhouse: TestClickHouse;

beforeAll(async () => {
  clickhouse = await startMigratedClickHouse();
});
afterAll(() => clickhouse.stop());

async function emptyDatabase(): Promise<ClickHouse> {
  await emptyTables(clickhouse.client);
  return clickhouse.client;
}

async function logWith(topic: string, values: readonly { key: string; value: Buffer; timestampMs: number }[]) {
  const log = createMemoryLog();
  await log.ensureTopics(allTopics);
  if (values.length > 0)
    await log.append(
      topic,
      values.map((value) => ({ ...value, partition: 0 })),
    );
  return log;
}

/** Dies at its `dieAt`-th insert; `committed`: the insert was executed and only its response was lost. */
function dyingStore(client: ClickHouse, dieAt: number, committed: boolean): TableStore {
  let inserts = 0;
  let crashed = false;
  return {
    query: client.query,
    async insertBytes(...call) {
      if (crashed) throw new Error('crashed');
      if (inserts++ !== dieAt) return client.insertBytes(...call);
      crashed = true;
      if (committed) await client.insertBytes(...call);
      throw new Error('crashed');
    },
  };
}

describe('tables', () => {
  it('have exactly the columns and types that the sinks write', async () => {
    const client = await emptyDatabase();
    const sinks = [fillsSink, chainSink, oracleSink, catalogSink, usageSink, walletEventsSink, socialSink];
    for (const table of [chunksTable, ...sinks.flatMap((sink) => sink.tables)]) {
      const found = await client.query<{ name: string; type: string }>(
        'SELECT name, type FROM system.columns WHERE database = currentDatabase() AND table = {table:String} ORDER BY position',
        { table: table.name },
      );
      expect([table.name, found.map(({ name, type }) => `${name} ${type}`)]).toEqual([
        table.name,
        table.columns.map((name, index) => `${name} ${table.types[index]}`),
      ]);
    }
  });

  it('store every value that a column can write unchanged', async () => {
    const client = await emptyDatabase();
    const table = defineTable('nasty', {
      n: columns.uint32,
      s: columns.string,
      opt: columns.nullable(columns.string),
      list: columns.stringArray,
      big: columns.uint256,
      price: columns.decimal38(18),
      at: columns.dateTime64,
      second: columns.dateTime,
      f: columns.float64,
      side: columns.enum8('BUY', 'SELL'),
      tiny: columns.uint8,
      small: columns.uint16,
      wide: columns.uint64,
      signed: columns.int64,
      flag: columns.bool,
      word: columns.lowCardinality,
      wides: columns.uint64Array,
      bigs: columns.uint256Array,
      maybe: columns.nullable(columns.decimal38(18)),
    });
    const ddl = table.columns.map((name, index) => `${name} ${table.types[index]}`).join(', ');
    await client.command(`CREATE TABLE nasty (${ddl}) ENGINE = MergeTree ORDER BY n`);
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('\\N', "\\'", 'a\tb\nc\\d', '\r\n', '', "[']", '\0', '\b\f', '€'.repeat(100), 'x'.repeat(20_000)),
    );
    const limit = 10n ** 38n - 1n;
    const row = fc.record({
      s: text,
      opt: fc.option(text),
      list: fc.array(text, { maxLength: 4 }),
      big: fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }).map(String),
      price: fc.bigInt({ min: -limit, max: limit }),
      at: fc.integer({ min: Date.UTC(1900, 0, 1), max: Date.UTC(2299, 11, 31) }),
      second: fc.integer({ min: 0, max: 2 ** 32 - 1 }).map((seconds) => seconds * 1000),
      f: fc.double({ noNaN: true, noDefaultInfinity: true }),
      side: fc.constantFrom('BUY' as const, 'SELL' as const),
      tiny: fc.integer({ min: 0, max: 255 }),
      small: fc.integer({ min: 0, max: 65_535 }),
      wide: fc.oneof(fc.maxSafeNat(), fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })),
      signed: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
      flag: fc.boolean(),
      word: fc.constantFrom('', 'yes', 'ü€😀'),
      wides: fc.array(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), { maxLength: 3 }),
      bigs: fc.array(fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }).map(String), { maxLength: 3 }),
      maybe: fc.option(fc.constantFrom(-limit, -1n, 0n, limit)),
    });
    const rows = fc.sample(row, 400).map((values, n) => ({ n, ...values }));
    await client.insertBytes('nasty', SINK_FORMAT, encodeRows(table, rows), { columns: table.columns });
    const back = await client.query<Record<string, string | number | string[] | null>>(
      `SELECT n, hex(s) AS s, if(isNull(opt), NULL, hex(assumeNotNull(opt))) AS opt, arrayMap(x -> hex(x), list) AS list,
        toString(big) AS big, toString(price) AS price,
        toUnixTimestamp64Milli(at) AS at, toUnixTimestamp(second) AS second, toString(reinterpretAsUInt64(f)) AS f, side,
        toString(tiny) AS tiny, toString(small) AS small, toString(wide) AS wide, toString(signed) AS signed, toString(flag) AS flag, word,
        arrayMap(x -> toString(x), wides) AS wides, arrayMap(x -> toString(x), bigs) AS bigs, toString(maybe * toDecimal256('1000000000000000000', 0)) AS maybe
       FROM nasty ORDER BY n`,
    );
    const hex = (value: string) => Buffer.from(value).toString('hex').toUpperCase();
    const bits = (value: number) => new BigUint64Array(new Float64Array([value]).buffer)[0]?.toString();
    expect(back).toHaveLength(rows.length);
    back.forEach((found, index) => {
      const sent = rows[index] as (typeof rows)[number];
      const scaled = String(found.price).includes('.') ? String(found.price) : `${found.price}.0`;
      const [whole = '0', fraction = ''] = scaled.split('.');
      expect(BigInt(`${whole}${fraction.padEnd(18, '0')}`)).toBe(sent.price);
      expect([found.s, found.opt, found.list, found.big, found.side]).toEqual([
        hex(sent.s),
        sent.opt === null ? null : hex(sent.opt),
        sent.list.map(hex),
        sent.big,
        sent.side,
      ]);
      expect([Number(found.at), Number(found.second)]).toEqual([sent.at, sent.second / 1000]);
      expect(found.f).toBe(bits(sent.f === 0 ? 0 : sent.f));
      expect([found.tiny, found.small, found.wide, found.signed, found.flag, found.word]).toEqual(
        [sent.tiny, sent.small, sent.wide, sent.signed, sent.flag, sent.word].map(String),
      );
      expect([found.wides, found.bigs]).toEqual([sent.wides.map(String), sent.bigs]);
      expect(found.maybe).toBe(sent.maybe === null ? null : String(sent.maybe));
    });
  });

  it('reject the rows of a process whose types differ, and store none', async () => {
    const client = await emptyDatabase();
    await client.command('CREATE TABLE changed (n UInt64, hash FixedString(32)) ENGINE = MergeTree ORDER BY n');
    const older = defineTable('changed', { n: columns.uint64, hash: columns.string });
    const body = encodeRows(older, [{ n: 1, hash: 'x'.repeat(32) }]);
    await expect(client.insertBytes('changed', SINK_FORMAT, body, { columns: older.columns })).rejects.toThrow(
      /Type of 'hash' must be FixedString\(32\), not String/,
    );
    expect(await client.query('SELECT count() AS n FROM changed')).toEqual([{ n: '0' }]);
  });

  it('equal those of an uninterrupted run, views included, when the sink dies at any insert', async () => {
    const trades = Array.from({ length: 40 }, (_, i) =>
      createTestTrade(1 + Math.floor(i / 4), i % 4, {
        usdc: BigInt(1_000_000 + i * 1000),
        is_taker_order: i % 4 === 3,
        builder: i % 3 === 0 ? '0xb1' : null,
      }),
    );
    const log = await logWith(
      'chain.final',
      trades.map((trade) => ({ key: '1', value: codec.encode('trade', trade), timestampMs: trade.timestamp_ms })),
    );
    const contents = async (client: ClickHouse) => ({
      fills: await client.query('SELECT * FROM fills ORDER BY block_number, log_index'),
      wallets: await client.query('SELECT * FROM fills_by_wallet ORDER BY wallet, block_number, log_index, role'),
      tokens: await client.query('SELECT * FROM fills_by_token ORDER BY token_id, block_number, log_index'),
      builders: await client.query('SELECT * FROM fills_by_builder ORDER BY builder, block_number, log_index'),
      prices: await client.query('SELECT * FROM last_prices FINAL ORDER BY token_id'),
      volumes: await client.query('SELECT * FROM token_volumes FINAL ORDER BY token_id'),
      hours: await client.query('SELECT * FROM hourly_volumes FINAL ORDER BY hour'),
      builderVolumes: await client.query('SELECT * FROM builder_volumes FINAL ORDER BY builder'),
    });
    const undisturbed = await emptyDatabase();
    await runToEnd(smallSink(fillsSink, log, undisturbed).sink);
    const expected = await contents(undisturbed);
    expect(expected.fills).toHaveLength(40);
    expect(expected.wallets).toHaveLength(40 + 30);
    expect(expected.builders).toHaveLength(trades.filter((trade) => trade.builder !== null).length);

    for (const [committed, dieAt] of [
      [false, 0],
      [true, 0],
      [true, 1],
      [false, 2],
      [true, 5],
    ] as const) {
      const client = await emptyDatabase();
      await runToEnd(smallSink(fillsSink, log, dyingStore(client, dieAt, committed)).sink).catch(() => undefined);
      await runToEnd(smallSink(fillsSink, log, dyingStore(client, dieAt, committed), 11).sink).catch(() => undefined);
      await runToEnd(smallSink(fillsSink, log, client).sink);
      expect([committed, dieAt, await contents(client)]).toEqual([committed, dieAt, expected]);
    }
  }, 240_000);
});

describe('candles', () => {
  /** By definition: a spot tick belongs to the window that contains it; one on a boundary also closes the previous window. */
  function naiveCandles(ticks: readonly PriceTick[]) {
    const windows = new Map<string, PriceTick[]>();
    const put = (feed: string, start: number, tick: PriceTick) => {
      const key = `${feed} ${start}`;
      windows.set(key, [...(windows.get(key) ?? []), tick]);
    };
    for (const tick of ticks) {
      if (tick.is_twap) continue;
      const start = Math.floor(tick.timestamp_ms / 300_000) * 300;
      put(tick.feed, start, tick);
      if (tick.timestamp_ms % 300_000 === 0) put(tick.feed, start - 300, tick);
    }
    return [...windows]
      .map(([key, list]) => {
        const byTime = [...list].sort((a, b) => a.timestamp_ms - b.timestamp_ms);
        const prices = list.map((tick) => tick.price / 10n ** 18n).sort((a, b) => Number(a - b));
        const text = (price: bigint) => String(price);
        return {
          window: key,
          open: text((byTime[0] as PriceTick).price / 10n ** 18n),
          high: text(prices.at(-1) as bigint),
          low: text(prices[0] as bigint),
          close: text((byTime.at(-1) as PriceTick).price / 10n ** 18n),
        };
      })
      .sort((a, b) => (a.window < b.window ? -1 : 1));
  }

  it('equal an independent aggregation, with late, repeated and boundary ticks and a retried chunk', async () => {
    const T = 1_790_000_100;
    const start = T - (T % 300);
    const price = (i: number) => BigInt(60_000 + ((i * 7919) % 997));
    const onTime = Array.from({ length: 900 }, (_, i) => createTestTick('BTC/USD', start + i, price(i)));
    const late = onTime.splice(100, 7);
    const boundary = onTime.find((tick) => tick.timestamp_ms === (start + 300) * 1000) as PriceTick;
    const ticks: PriceTick[] = [
      ...onTime.slice(0, 500),
      ...late,
      boundary,
      ...onTime.slice(500),
      ...Array.from({ length: 10 }, (_, i) => createTestTick('ETH/USD', start + 299 + i, price(i))),
      createTestTick('BTC/USD', start + 5, 1n, { id: 'BTC/USD-twap', is_twap: true, twap_window_s: 60 }),
      ...onTime.slice(3, 9),
    ];
    const log = await logWith(
      'oracle.ticks',
      ticks.map((tick) => ({
        key: tick.feed,
        value: codec.encode('price_tick', tick),
        timestampMs: tick.timestamp_ms,
      })),
    );
    const client = await emptyDatabase();
    for (const [dieAt, committed] of [
      [1, true],
      [3, false],
      [5, true],
    ] as const)
      await runToEnd(smallSink(oracleSink, log, dyingStore(client, dieAt, committed), 100 + dieAt).sink).catch(
        () => undefined,
      );
    await runToEnd(smallSink(oracleSink, log, client, 90).sink);
    const rows = await client.query<{ window: string; open: string; high: string; low: string; close: string }>(
      `SELECT concat(feed, ' ', toString(toUnixTimestamp(bucket))) AS window, toString(open) AS open, toString(high) AS high,
         toString(low) AS low, toString(close) AS close FROM candles ORDER BY window`,
    );
    expect(rows).toEqual(naiveCandles(ticks));
    const [count] = await client.query<{ n: string }>('SELECT count() AS n FROM ticks FINAL');
    expect(Number(count?.n)).toBe(new Set(ticks.map((tick) => tick.id)).size);
  });
});

describe('the index of order hashes', () => {
  it('skips the granules of other orders, also for rows older than the index', async () => {
    const client = await clickhouse.connect({ database: 'older' });
    const logger = silentLogger();
    const before = migrations.filter((migration) => migration.id < '0006');
    await migrate({ client, migrations: before, logger });
    const orderHash = `'0x' || leftPad(toString({part:UInt64}), 64, '0')`;
    const order = '3'.padStart(64, '0');
    // Four months, so four parts of one granule each; every order is in one of them.
    for (let part = 0; part < 4; part++) {
      await client.command(
        `INSERT INTO fills (id, block_number, log_index, order_hash, timestamp) SELECT toString(number), {part:UInt64}, number, ${orderHash}, 1780000000 + {part:UInt64} * 2678400 FROM numbers(100)`,
        { part },
      );
    }
    await migrate({ client, migrations, logger });
    const granules = async () => {
      const plan = await client.query<{ explain: string }>(
        `EXPLAIN indexes = 1 SELECT block_number FROM fills WHERE order_hash = unhex({order:String})`,
        { order },
      );
      return plan
        .map((row) => /Granules: (\S+)/.exec(row.explain)?.[1])
        .filter((found) => found !== undefined)
        .at(-1);
    };
    await expect.poll(granules).toBe('1/4');
    const [row] = await client.query<{ found: string }>(
      `SELECT count() AS found FROM fills WHERE order_hash = unhex({order:String})`,
      { order },
    );
    expect(row?.found).toBe('100');
  });
});
