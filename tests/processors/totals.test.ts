import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ClickHouse } from '../../infra/clickhouse/client.js';
import { migrate } from '../../infra/clickhouse/migrations.js';
import { createMemoryLog } from '../../infra/log/testing.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { fillsSink } from '../../processors/fills/sink.js';
import { migrations } from '../../processors/migrations.js';
import { fingerprint } from '../../processors/rebuild/fingerprint.js';
import { walletEventsSink } from '../../processors/wallet-events/sink.js';
import { createCodec } from '../../schemas/codec.js';
import { addresses } from '../../schemas/primitives/venue.js';
import { allTopics, topics } from '../../schemas/topics.js';
import type { EventKind, Trade } from '../../schemas/types.gen.js';
import { emptyTables, startMigratedClickHouse, type TestClickHouse } from '../support/clickhouse.js';
import { address, createTestTrade, hash } from './events.js';
import { runToEnd, smallSink } from './run-sink.js';

const codec = createCodec();
const logger = silentLogger();
let clickhouse: TestClickHouse;

beforeAll(async () => {
  clickhouse = await startMigratedClickHouse();
});
afterAll(() => clickhouse.stop());

/** Every database uses some 40 MB of the engine's memory. */
const drop = (client: ClickHouse) => client.command('DROP DATABASE {name:Identifier} SYNC', { name: client.database });

async function logOf(records: readonly { kind: EventKind; value: object; timestampMs: number }[]) {
  const log = createMemoryLog();
  await log.ensureTopics(allTopics);
  const encoded = records.map(({ kind, value, timestampMs }) => ({
    key: '1',
    timestampMs,
    value: codec.encode(kind, value as never),
  }));
  await log.append(topics.chainFinal.name, encoded);
  return log;
}

const amount = fc.bigInt({ min: 0n, max: 2n ** 60n });
const tradesOf = fc.array(
  fc.record({
    step: fc.integer({ min: 0, max: 50 }),
    token: fc.integer({ min: 1, max: 3 }),
    side: fc.constantFrom('BUY' as const, 'SELL' as const),
    taker: fc.boolean(),
    version: fc.integer({ min: 1, max: 3 }),
    builder: fc.constantFrom(null, '0xb1', '0xb2'),
    usdc: amount,
    shares: amount,
    fee: amount,
  }),
  { minLength: 1, maxLength: 30 },
);

/** A row of `fills` as the first versions wrote it, with hashes as text. */
const oldRowOf = (trade: Trade, offset: number) => ({
  id: trade.id,
  block_number: trade.block_number,
  log_index: trade.log_index,
  timestamp: trade.timestamp_ms / 1000,
  tx_hash: trade.tx_hash,
  exchange: trade.exchange,
  exchange_version: trade.exchange_version,
  neg_risk: trade.neg_risk,
  order_hash: trade.order_hash,
  maker: trade.maker,
  taker: trade.taker,
  is_taker_order: trade.is_taker_order,
  side: trade.side,
  token_id: trade.token_id,
  usdc: trade.usdc,
  shares: trade.shares,
  fee: trade.fee,
  fee_shares: trade.fee_shares,
  builder: trade.builder ?? '',
  _offset: offset,
});

/** By definition, one fill after another. */
function naive(trades: readonly Trade[]) {
  const volumes = new Map<string, bigint[]>();
  const hours = new Map<string, bigint[]>();
  const builders = new Map<string, bigint[]>();
  const candles = new Map<string, bigint[]>();
  const add = (map: Map<string, bigint[]>, key: string, values: readonly bigint[]) => {
    const old = map.get(key) ?? values.map(() => 0n);
    map.set(
      key,
      values.map((value, index) => (old[index] as bigint) + value),
    );
  };
  for (const trade of trades) {
    const buy = trade.side === 'BUY';
    const hour = Math.floor(trade.timestamp_ms / 3_600_000) * 3600;
    const counted = trade.is_taker_order ? 0n : 1n;
    add(hours, `${hour} ${trade.exchange_version}`, [counted, counted * trade.usdc, trade.fee]);
    if (trade.builder !== null)
      add(builders, trade.builder, [
        1n,
        trade.usdc,
        buy ? trade.usdc : trade.shares,
        buy ? trade.shares : trade.usdc,
        buy ? trade.shares : 0n,
        buy ? 0n : trade.shares,
        trade.fee,
      ]);
    if (trade.is_taker_order) continue;
    add(volumes, `${trade.token_id} ${trade.exchange_version}`, [
      1n,
      buy ? 1n : 0n,
      trade.usdc,
      buy ? trade.usdc : 0n,
      trade.shares,
    ]);
    if (trade.shares === 0n) continue;
    const rounded = (trade.usdc * 2_000_000n + trade.shares) / (2n * trade.shares);
    const price = rounded < 2n ** 64n ? rounded : 2n ** 64n - 1n;
    const minute = Math.floor(trade.timestamp_ms / 60_000) * 60;
    for (const key of [`1m ${trade.token_id} ${minute}`, `1h ${trade.token_id} ${hour}`]) {
      const [open, high, low] = candles.get(key) ?? [price, price, price];
      candles.set(key, [
        open as bigint,
        price > (high as bigint) ? price : (high as bigint),
        price < (low as bigint) ? price : (low as bigint),
        price,
      ]);
    }
  }
  return { volumes, hours, builders, candles };
}

async function stored(client: ClickHouse) {
  const table = async (sql: string) => {
    const rows = await client.query<{ k: string; v: string[] }>(sql);
    return new Map(rows.map((row) => [row.k, row.v.map(BigInt)]));
  };
  const text = (...columns: string[]) => `[${columns.map((column) => `toString(${column})`).join(', ')}]`;
  const candles = (name: string) =>
    table(
      `SELECT concat('${name} ', toString(token_id), ' ', toString(toUnixTimestamp(bucket))) AS k,
        ${text('argMinMerge(open)', 'max(high)', 'min(low)', 'argMaxMerge(close)')} AS v
       FROM token_candles_${name} GROUP BY token_id, bucket`,
    );
  return {
    volumes: await table(
      `SELECT concat(toString(token_id), ' ', toString(exchange_version)) AS k, ${text('trades', 'buys', 'usdc', 'buy_usdc', 'shares')} AS v FROM token_volumes FINAL`,
    ),
    hours: await table(
      `SELECT concat(toString(toUnixTimestamp(hour)), ' ', toString(exchange_version)) AS k, ${text('trades', 'usdc', 'fee')} AS v FROM hourly_volumes FINAL`,
    ),
    builders: await table(
      `SELECT builder AS k, ${text('trades', 'usdc', 'maker_amount', 'taker_amount', 'buy_shares', 'sell_shares', 'fee')} AS v FROM builder_volumes FINAL`,
    ),
    candles: new Map([...(await candles('1m')), ...(await candles('1h'))]),
  };
}

it('sums of fills equal an independent count, in small chunks and in a migrated database, whose fills and copies are the same', async () => {
  await fc.assert(
    fc.asyncProperty(tradesOf, async (inputs) => {
      let block = 1;
      const trades = inputs.map((input, index) => {
        block += input.step * 20;
        return createTestTrade(block, index, {
          token_id: String(input.token),
          side: input.side,
          is_taker_order: input.taker,
          exchange_version: input.version,
          builder: input.builder,
          usdc: input.usdc,
          shares: input.shares,
          fee: input.fee,
        });
      });
      const expected = naive(trades);
      const log = await logOf(trades.map((value) => ({ kind: 'trade', value, timestampMs: value.timestamp_ms })));
      const { client } = clickhouse;
      await emptyTables(client);
      await runToEnd(smallSink(fillsSink, log, client).sink);
      expect(await stored(client)).toEqual(expected);

      const older = await clickhouse.connect({ database: 'older' });
      await migrate({ client: older, migrations: migrations.filter(({ id }) => id < '0008'), logger });
      await older.insertRows('fills', trades.map(oldRowOf));
      await migrate({ client: older, migrations, logger });
      expect(await stored(older)).toEqual(expected);
      for (const table of ['fills', 'fills_by_wallet', 'fills_by_token', 'fills_by_builder', 'matches_by_day'])
        expect([table, await fingerprint(older, table)]).toEqual([table, await fingerprint(client, table)]);
      await drop(older);
    }),
    { numRuns: 4, endOnFailure: true },
  );
}, 300_000);

it('wallet events have wallet, kind and subject; an invalid bit mask becomes a dead letter', async () => {
  const at = (block: number, index: number) => ({
    id: `${hash(block)}-${index}`,
    block_number: block,
    block_hash: hash(1),
    timestamp_ms: 1_790_000_000_000 + block * 1000,
    tx_hash: hash(block),
    log_index: index,
  });
  const condition = { collateral_token: addresses.usdcE, condition_id: hash(0xc1) };
  const converted = { stakeholder: address(1), market_id: hash(0xab), amount: 15_000_000n };
  const events: { kind: EventKind; value: { timestamp_ms: number } }[] = [
    { kind: 'position_split', value: { ...at(1, 0), ...condition, stakeholder: address(1), amount: 50n } as never },
    { kind: 'position_merge', value: { ...at(1, 1), ...condition, stakeholder: address(2), amount: 7n } as never },
    { kind: 'positions_converted', value: { ...at(2, 0), ...converted, index_set: '0x6' } as never },
    { kind: 'positions_converted', value: { ...at(2, 1), ...converted, index_set: 'six' } as never },
    {
      kind: 'redemption',
      value: {
        ...at(3, 4),
        ...condition,
        redeemer: address(1),
        index_sets: [1, 2],
        amounts: null,
        payout: 80n,
        source: 'AutoRedeemer.BinaryRedemption',
      } as never,
    },
    {
      kind: 'deposit',
      value: {
        ...at(4, 0),
        from: address(5),
        to: address(1),
        asset: address(6),
        amount: 3n,
        direction: 'deposit',
      } as never,
    },
    {
      kind: 'deposit',
      value: {
        ...at(4, 1),
        from: address(1),
        to: address(7),
        asset: address(6),
        amount: 2n,
        direction: 'withdrawal',
      } as never,
    },
  ];
  const log = await logOf(events.map((event) => ({ ...event, timestampMs: event.value.timestamp_ms })));
  const { client } = clickhouse;
  await emptyTables(client);
  await runToEnd(smallSink(walletEventsSink, log, client).sink);
  expect(
    await client.query(
      'SELECT wallet, toString(kind) AS kind, log_index, subject_id, amount, index_sets, source FROM wallet_events ORDER BY wallet, kind',
    ),
  ).toEqual([
    {
      wallet: address(1),
      kind: 'conversion',
      log_index: 0,
      subject_id: hash(0xab),
      amount: '15000000',
      index_sets: ['6'],
      source: null,
    },
    {
      wallet: address(1),
      kind: 'redemption',
      log_index: 4,
      subject_id: hash(0xc1),
      amount: '80',
      index_sets: ['1', '2'],
      source: 'AutoRedeemer.BinaryRedemption',
    },
    {
      wallet: address(1),
      kind: 'split',
      log_index: 0,
      subject_id: hash(0xc1),
      amount: '50',
      index_sets: [],
      source: null,
    },
    {
      wallet: address(2),
      kind: 'merge',
      log_index: 1,
      subject_id: hash(0xc1),
      amount: '7',
      index_sets: [],
      source: null,
    },
  ]);
  expect(
    await client.query(
      'SELECT wallet, toString(direction) AS direction, counterparty, amount FROM collateral_flows ORDER BY log_index',
    ),
  ).toEqual([
    { wallet: address(1), direction: 'deposit', counterparty: address(5), amount: '3' },
    { wallet: address(7), direction: 'withdrawal', counterparty: address(1), amount: '2' },
  ]);
  expect((await log.bounds(topics.deadLetters.name, 0)).next).toBe(1);
});
