import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { ClickHouse } from '../../infra/clickhouse/client.js';
import { createMemoryLog, type MemoryLog } from '../../infra/log/testing.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { createMetrics } from '../../infra/telemetry/metrics.js';
import { createOrderBookTable } from '../../processors/order-books/order-book-table.js';
import { createCodec } from '../../schemas/codec.js';
import { allTopics, topics } from '../../schemas/topics.js';
import type { OrderBookUpdate } from '../../schemas/types.gen.js';
import { startMigratedClickHouse, type TestClickHouse } from '../support/clickhouse.js';

const codec = createCodec();
const logger = silentLogger();
const topic = topics.orderbookUpdates.name;
const soon = (check: () => Promise<unknown>) => vi.waitFor(check, { timeout: 10_000, interval: 20 });
const CONDITION = `0x${'ab'.repeat(32)}`;
let engine: TestClickHouse;
let client: ClickHouse;

beforeAll(async () => {
  engine = await startMigratedClickHouse();
  client = engine.client;
});
afterAll(() => engine.stop());

const update = (tokenId: string, seq: number, over: Partial<OrderBookUpdate> = {}): OrderBookUpdate => {
  const nowMs = Date.now();
  const epoch = over.epoch ?? 'run-1';
  return {
    id: `${epoch}-${tokenId}-${seq}`,
    update_type: 'book',
    token_id: tokenId,
    condition_id: CONDITION,
    timestamp_ms: nowMs,
    hash: 'ab12',
    bids: [],
    asks: [],
    best_bid: null,
    best_ask: null,
    price: null,
    size: null,
    side: null,
    tick_size: null,
    transaction_hash: null,
    epoch,
    seq,
    received_ms: nowMs,
    verified: true,
    verified_since_ms: nowMs,
    reason: null,
    fee_rate_bps: null,
    synthetic: false,
    ...over,
  };
};
const append = (log: MemoryLog, updates: readonly OrderBookUpdate[]) =>
  log.append(
    topic,
    updates.map((value) => ({
      key: value.token_id,
      timestampMs: value.received_ms ?? 0,
      value: codec.encode('order_book_update', value),
    })),
  );
async function openLog(): Promise<MemoryLog> {
  const log = createMemoryLog();
  await log.ensureTopics(allTopics);
  await client.command('TRUNCATE TABLE order_books');
  return log;
}

/** Runs a new processor, as after a restart. `store` replaces parts of the client. */
function start(log: MemoryLog, store: Partial<Pick<ClickHouse, 'insertRows' | 'command'>> = {}) {
  const stop = new AbortController();
  const metrics = createMetrics({ process: 'test', defaults: false });
  const clickhouse = {
    query: client.query,
    stream: client.stream,
    command: client.command,
    database: client.database,
    insertRows: client.insertRows,
    ...store,
  };
  const table = createOrderBookTable({ log, codec, clickhouse, logger, metrics, nowMs: Date.now, flushMs: 20 });
  const running = table.run(stop.signal);
  running.catch(() => undefined);
  return {
    metrics,
    running,
    async stop() {
      stop.abort();
      await running;
    },
  };
}
interface Row {
  readonly bids: readonly (readonly [string, string])[];
  readonly asks: readonly (readonly [string, string])[];
  readonly mid: string | null;
  readonly verified: boolean;
  readonly reason: string;
  readonly tick_size: string;
  readonly seq: string;
  readonly offset: string;
}
const readRow = async (tokenId: string): Promise<Row | undefined> => {
  const [row] = await client.query<Row>(
    `SELECT arrayZip(bid_prices, bid_sizes) AS bids, arrayZip(ask_prices, ask_sizes) AS asks, mid, verified, reason, tick_size, toString(seq) AS seq, toString(_offset) AS offset
     FROM order_books FINAL WHERE token_id = {tokenId:UInt256}`,
    { tokenId },
  );
  return row;
};
const rowWithSeq = async (tokenId: string, seq: number): Promise<Row> => {
  await soon(async () => expect((await readRow(tokenId))?.seq).toBe(String(seq)));
  return (await readRow(tokenId)) as Row;
};

describe('order_books', () => {
  it('has the newest book of a token with its midpoint, across restarts', async () => {
    const log = await openLog();
    const first = start(log);
    await append(log, [
      update('7', 1, {
        bids: [
          { price: '0.41', size: '100' },
          { price: '.4', size: '5.5' },
        ],
        asks: [{ price: '0.44', size: '20' }],
        tick_size: '0.01',
      }),
      update('7', 2, { update_type: 'price_change', bids: [{ price: '0.42', size: '1' }] }),
    ]);
    expect(await rowWithSeq('7', 2)).toMatchObject({
      bids: [
        ['0.42', '1'],
        ['0.41', '100'],
        ['.4', '5.5'],
      ],
      asks: [['0.44', '20']],
      mid: '0.43',
      verified: true,
      tick_size: '0.01',
    });
    await first.stop();
    // The book itself is not in the log after the position of the restart.
    await append(log, [update('7', 3, { update_type: 'price_change', asks: [{ price: '0.44', size: '0' }] })]);
    const second = start(log);
    expect(await rowWithSeq('7', 3)).toMatchObject({ asks: [], mid: null, verified: true, tick_size: '0.01' });
    await second.stop();
  });

  it('is unverified after missing records, until the next whole book', async () => {
    const log = await openLog();
    const run = start(log);
    const bids = [{ price: '0.4', size: '1' }];
    await append(log, [
      update('8', 1, { bids }),
      update('8', 3, { update_type: 'price_change', bids: [{ price: '0.5', size: '9' }] }),
    ]);
    await soon(async () =>
      expect(await readRow('8')).toMatchObject({ verified: false, reason: 'records_missing', bids: [['0.4', '1']] }),
    );
    await append(log, [update('8', 4, { update_type: 'price_change', bids: [{ price: '0.6', size: '9' }] })]);
    await append(log, [update('8', 5, { bids: [{ price: '0.5', size: '2' }] })]);
    expect(await rowWithSeq('8', 5)).toMatchObject({ verified: true, reason: '', bids: [['0.5', '2']] });
    await run.stop();
  });

  it('moves records that it cannot read or apply to the dead letters, once, and counts them', async () => {
    const log = await openLog();
    const run = start(log);
    await log.append(topic, [{ key: '9', value: Buffer.from('junk'), timestampMs: 1 }]);
    await append(log, [
      update('9', 1, { bids: [{ price: '0.4', size: '1' }] }),
      update('9', 2, { update_type: 'price_change', bids: [{ price: '1.5', size: '1' }] }),
      update('x9', 1),
    ]);
    await soon(async () => expect((await log.bounds(topics.deadLetters.name, 0)).next).toBe(3));
    expect(await run.metrics.registry.getSingleMetricAsString('oddstream_order_book_table_skipped_total')).toContain(
      '} 3',
    );
    await soon(async () => expect(await readRow('9')).toMatchObject({ verified: false, reason: 'invalid_level' }));
    await run.stop();
  });

  it('is emptied and filled again if it belongs to another log', async () => {
    const older = await openLog();
    const run = start(older);
    await append(older, [update('7', 1), update('7', 2), update('7', 3, { bids: [{ price: '0.1', size: '1' }] })]);
    await rowWithSeq('7', 3);
    await run.stop();
    const log = createMemoryLog();
    await log.ensureTopics(allTopics);
    await append(log, [update('7', 1, { epoch: 'run-2', bids: [{ price: '0.2', size: '1' }] })]);
    const next = start(log);
    expect(await rowWithSeq('7', 1)).toMatchObject({ bids: [['0.2', '1']] });
    await next.stop();
  });

  it('is not emptied when another process appends and inserts rows while a processor starts', async () => {
    const log = await openLog();
    const first = start(log);
    await append(log, [update('7', 1), update('7', 2)]);
    await rowWithSeq('7', 2);
    let inserting: Promise<unknown> | undefined;
    const moving: MemoryLog = {
      ...log,
      async bounds(name, partition) {
        const before = await log.bounds(name, partition);
        inserting ??= append(log, [update('7', 3)]).then(() => rowWithSeq('7', 3));
        await inserting;
        return before;
      },
    };
    const statements: string[] = [];
    const second = start(moving, { command: async (sql) => void statements.push(sql) });
    await soon(async () => expect(inserting).toBeDefined());
    await inserting;
    await first.stop();
    await append(log, [update('7', 4)]);
    await rowWithSeq('7', 4);
    await second.stop();
    expect(statements).toEqual([]);
  });

  it('equals the books of the feed whenever the processor is killed, before, within or after an insert', async () => {
    const change = fc.record({
      token: fc.constantFrom('11', '12', '13'),
      side: fc.constantFrom('bids' as const, 'asks' as const),
      tick: fc.integer({ min: 1, max: 6 }),
      size: fc.nat(2),
      dies: fc.constantFrom('no', 'no', 'no', 'before', 'after', 'stop'),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 25 }), async (changes) => {
        const log = await openLog();
        const naive = new Map<string, { bids: Map<number, number>; asks: Map<number, number>; seq: number }>();
        let dying: 'before' | 'after' | null = null;
        const store = {
          insertRows: async (...args: Parameters<ClickHouse['insertRows']>) => {
            const dies = dying;
            dying = null;
            if (dies === 'before') throw new Error('killed');
            await client.insertRows(...args);
            if (dies === 'after') throw new Error('killed');
          },
        };
        let run = start(log, store);
        for (const { token, side, tick, size, dies } of changes) {
          const book = naive.get(token) ?? { bids: new Map(), asks: new Map(), seq: 0 };
          if (!naive.has(token)) {
            naive.set(token, book);
            await append(log, [update(token, ++book.seq)]);
          }
          if (dies === 'before' || dies === 'after') dying = dies;
          // Bids below 0.1, asks above 0.9.
          const price = side === 'bids' ? tick / 100 : 1 - tick / 100;
          await append(log, [
            update(token, ++book.seq, {
              update_type: 'price_change',
              [side]: [{ price: price.toFixed(2), size: String(size) }],
            }),
          ]);
          if (size === 0) book[side].delete(tick);
          else book[side].set(tick, size);
          if (dies !== 'no') {
            await run.stop();
            run = start(log, store);
          }
        }
        dying = null;
        for (const [token, { bids, asks, seq }] of naive) {
          const row = await rowWithSeq(token, seq);
          const list = (levels: Map<number, number>, priceOf: (tick: number) => number) =>
            [...levels].sort(([a], [b]) => a - b).map(([tick, size]) => [priceOf(tick).toFixed(2), String(size)]);
          expect(row.bids).toEqual(list(bids, (tick) => tick / 100).reverse());
          expect(row.asks).toEqual(list(asks, (tick) => 1 - tick / 100).reverse());
          expect(row.verified).toBe(true);
        }
        await run.stop();
      }),
      { numRuns: 12 },
    );
  });
});
