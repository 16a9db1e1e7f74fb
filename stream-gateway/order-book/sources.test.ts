import { describe, expect, it } from 'vitest';
import type { Log, LogRecord, RecordBatch } from '../../infra/log/port.js';
import { createCodec } from '../../schemas/codec.js';
import { topics } from '../../schemas/topics.js';
import type { OrderBookUpdate, SourceStatus } from '../../schemas/types.gen.js';
import { createMarketLookup } from '../filters/market-lookup.js';
import { createBookStore } from './book-store.js';
import { createSourceWatch, type SourceWatch } from './source-watch.js';
import { tailBooks } from './tail-books.js';
import { bookRecord, sourceStatus } from './testing.js';
import { createNameCache, createNamesReader } from './token-names.js';

const codec = createCodec();
const TOKEN = '111111111111';

/** A log to which the given batches are written after the start; then it ends. */
const logOf = (
  batches: readonly (readonly (Buffer | null)[])[],
): Pick<Log, 'read' | 'bounds' | 'offsetForTimestamp' | 'partitions'> => {
  const all = batches.flat();
  return {
    partitions: async () => 1,
    bounds: async () => ({ earliest: 0, next: all.length }),
    offsetForTimestamp: async () => 0,
    async *read({ topic, partition, follow }): AsyncIterable<RecordBatch> {
      if (!follow) return;
      let offset = 0;
      for (const batch of batches) {
        const records = batch.map(
          (value): LogRecord => ({ offset: offset++, key: 'orderbook', value, timestampMs: 0 }),
        );
        yield { topic, partition, records, nextOffset: offset };
      }
    },
  };
};

const status = (over: Partial<SourceStatus>): Buffer => codec.encode('source_status', sourceStatus(over));
const watchOf = (records: readonly Buffer[], nowMs = () => 0) =>
  createSourceWatch({
    log: logOf([records]),
    codec,
    signal: new AbortController().signal,
    nowMs,
    onUnreadable: (_at, reason) => {
      throw new Error(reason);
    },
  });

describe('createSourceWatch', () => {
  it('is silent 8 s after the last record or status, and at once after a stop', async () => {
    const watch = watchOf([status({})], () => 1_000);
    expect(watch.isSilent(100_000)).toBe(false);
    await watch.run();
    await watch.loaded;
    expect([watch.isSilent(8_999), watch.isSilent(9_000)]).toEqual([false, true]);
    watch.recordActivity(9_000);
    expect([watch.isSilent(16_999), watch.isSilent(17_000)]).toEqual([false, true]);
    const stopped = watchOf([status({}), status({ phase: 'stopped' })], () => 1_000);
    await stopped.run();
    expect(stopped.isSilent(1_000)).toBe(true);
    stopped.recordActivity(1_001);
    expect(stopped.isSilent(1_001)).toBe(false);
  });
});

describe('createSourceWatch, of a source that has failed', () => {
  const down = status({ connected: false });

  it('is silent at once, until the next record about a book', async () => {
    const watch = watchOf([status({}), down, down]);
    await watch.run();
    expect(watch.isSilent(1)).toBe(true);
    watch.recordActivity(2);
    expect(watch.isSilent(2)).toBe(false);
    const back = watchOf([status({}), down, status({})]);
    await back.run();
    expect(back.isSilent(1)).toBe(false);
  });

  it('is silent again at the second status after a record that was read late', async () => {
    const silent: boolean[] = [];
    const watch: SourceWatch = createSourceWatch({
      log: {
        bounds: async () => ({ earliest: 0, next: 0 }),
        async *read({ follow }) {
          if (!follow) return;
          for (const [offset, value] of [status({}), down, down, down].entries()) {
            yield {
              topic: topics.sources.name,
              partition: 0,
              records: [{ offset, key: 'orderbook', value, timestampMs: 0 }],
              nextOffset: offset + 1,
            };
            silent.push(watch.isSilent(0));
            if (offset === 1) watch.recordActivity(0);
          }
        },
      },
      codec,
      signal: new AbortController().signal,
      nowMs: () => 0,
      onUnreadable: () => undefined,
    });
    await watch.run();
    expect(silent).toEqual([false, true, false, true]);
  });
});

describe('a new run of the source', () => {
  const counts = { checks: 0, mismatches: 0, repairs: 0, repair_failures: 0, silent_tokens: 0 };
  const order_books = { synthetic: false, followed: 0, verified: 0, ...counts };
  const isVerified = (store: ReturnType<typeof createBookStore>) => store.get(TOKEN)?.status.verified;

  it('is named by its status', async () => {
    const watch = watchOf([
      status({ order_books: { ...order_books, epoch: 'e1' } }),
      status({ order_books: { ...order_books, epoch: 'e2' } }),
      status({}),
    ]);
    expect(watch.epoch()).toBeNull();
    await watch.run();
    expect(watch.epoch()).toBe('e2');
  });

  it('is alone once no other one has reported for 8 s', async () => {
    const e1 = status({ order_books: { ...order_books, epoch: 'e1' } });
    const e2 = status({ order_books: { ...order_books, epoch: 'e2' } });
    const without = status({});
    let nowMs = 0;
    const alone: boolean[] = [];
    const statuses: readonly (readonly [number, Buffer])[] = [
      [1_000, e1],
      [8_999, e1],
      [9_000, without],
      [9_000, e1],
      [20_000, e2],
      [27_000, e1],
      [28_000, e2],
      [35_999, e2],
      // The clock is set back.
      [1_000, e2],
      [8_999, e2],
      [9_000, e2],
    ];
    const watch: SourceWatch = createSourceWatch({
      log: {
        bounds: async () => ({ earliest: 0, next: 0 }),
        async *read({ follow }) {
          if (!follow) return;
          for (const [offset, [atMs, value]] of statuses.entries()) {
            nowMs = atMs;
            const records = [{ offset, key: 'orderbook', value, timestampMs: 0 }];
            yield { topic: topics.sources.name, partition: 0, records, nextOffset: offset + 1 };
            alone.push(watch.isAlone());
          }
        },
      },
      codec,
      signal: new AbortController().signal,
      nowMs: () => nowMs,
      onUnreadable: () => undefined,
    });
    await watch.run();
    expect(alone).toEqual([false, false, false, true, false, false, false, false, false, false, true]);
  });

  it('that writes nothing but its status ends the trust in the books of the run before, for its late records too', () => {
    const store = createBookStore();
    store.markLoaded(0);
    store.apply(bookRecord(TOKEN, 1), 1);
    store.sourceStarted('e1', 2);
    expect(isVerified(store)).toBe(true);
    store.sourceStarted('e2', 3);
    expect(store.get(TOKEN)?.status).toEqual({ verified: false, sinceMs: 3, reason: 'source_unreachable' });
    store.apply(bookRecord(TOKEN, 2), 4);
    expect(isVerified(store)).toBe(false);
    store.sourceStarted('e2', 5);
    // The clock of the new run is behind.
    store.apply(bookRecord(TOKEN, 1, { epoch: 'e2', received_ms: 1 }), 6);
    expect(isVerified(store)).toBe(true);
    store.sourceStarted('e1', 7);
    expect(isVerified(store)).toBe(true);
  });

  it('whose clock is behind ends the trust in the books of the run before also if a record of it was read before its status', () => {
    const store = createBookStore();
    const other = '8';
    store.markLoaded(0);
    for (const token of [TOKEN, other]) store.apply(bookRecord(token, 1, { received_ms: 90_000 }), 1);
    store.sourceStarted('e1', 2);
    store.apply(bookRecord(other, 1, { epoch: 'e2', received_ms: 60_000 }), 3);
    store.sourceStarted('e2', 4);
    expect(store.get(TOKEN)?.status).toEqual({ verified: false, sinceMs: 4, reason: 'source_unreachable' });
    expect(store.get(other)?.status.verified).toBe(true);
    store.sourceStarted('e1', 5);
    store.apply(bookRecord(TOKEN, 1, { epoch: 'e2', received_ms: 60_001 }), 6);
    expect(isVerified(store)).toBe(true);
  });
});

describe('tailBooks', () => {
  it('reports records that are no order-book updates or whose texts are no ids or numbers, and passes the others', async () => {
    const encode = (update: OrderBookUpdate) => codec.encode('order_book_update', update);
    const trade = { update_type: 'last_trade_price', side: 'BUY' } as const;
    const bad = [
      Buffer.from('x'),
      encode(bookRecord('1","x":"', 1)),
      encode(bookRecord(TOKEN, 2, { condition_id: 'slug' })),
      encode(bookRecord(TOKEN, 3, { ...trade, price: '1e9', size: '1' })),
      encode(bookRecord(TOKEN, 4, { ...trade, price: '0.5', size: '"' })),
    ];
    const good = [bookRecord(TOKEN, 5), bookRecord(TOKEN, 6, { ...trade, price: '0.5', size: '1' })];
    const passed: OrderBookUpdate[] = [];
    const unreadable: number[] = [];
    let caughtUp = 0;
    await tailBooks({
      log: logOf([[...bad, null], good.map(encode)]),
      codec,
      signal: new AbortController().signal,
      nowMs: () => 0,
      onUpdates: (updates) => passed.push(...updates),
      onCaughtUp: () => caughtUp++,
      onUnreadable: ({ topic, offset }) => {
        expect(topic).toBe(topics.orderbookUpdates.name);
        unreadable.push(offset);
      },
    });
    expect(unreadable).toEqual([0, 1, 2, 3, 4]);
    expect(passed.map(({ seq }) => seq)).toEqual([5, 6]);
    expect(caughtUp).toBe(1);
  });
});

describe('createBookStore', () => {
  it('ignores records that are read again, and rejects a book with invalid levels', () => {
    const store = createBookStore();
    store.markLoaded(0);
    const bids = [{ price: '0.4', size: '1' }];
    store.apply(bookRecord(TOKEN, 1, { bids }), 1);
    store.clearDirty();
    store.apply(bookRecord(TOKEN, 1), 2);
    expect(store.dirty().size).toBe(0);
    store.apply(bookRecord(TOKEN, 2, { bids: [...bids, { price: '7', size: '1' }] }), 3);
    const book = store.get(TOKEN);
    expect(book?.bids()).toEqual(bids);
    expect(book?.status).toEqual({ verified: false, sinceMs: 3, reason: 'invalid_level' });
  });

  it('after a start, trusts only books of the newest run of the source', () => {
    const store = createBookStore();
    store.apply(bookRecord('222222222221', 1, { epoch: 'e2', received_ms: 9 }), 1);
    store.apply(bookRecord(TOKEN, 1, { received_ms: 5 }), 1);
    store.markLoaded(10);
    expect(store.get('222222222221')?.status.verified).toBe(true);
    expect(store.get(TOKEN)?.status).toEqual({ verified: false, sinceMs: 10, reason: 'source_unreachable' });
    expect(store.counts()).toEqual({ verified: 1, unverified: 1 });
  });

  it('retires tokens without a record for ten minutes, and forgets them a pass later', () => {
    const store = createBookStore();
    store.markLoaded(0);
    store.apply(bookRecord(TOKEN, 1), 0);
    store.clearDirty();
    store.expire(599_999);
    expect(store.get(TOKEN)?.status.verified).toBe(true);
    store.expire(600_000);
    expect(store.get(TOKEN)?.status).toEqual({ verified: false, sinceMs: 600_000, reason: 'not_followed' });
    expect(store.dirty().size).toBe(1);
    store.expire(660_000);
    expect([store.size, store.tokensOfCondition('0x11111111111')]).toEqual([0, []]);
  });
});

describe('createNameCache', () => {
  it('reads names once, asks again for unknown tokens after a minute, and forgets tokens without a book', async () => {
    const asked: (readonly string[])[] = [];
    const known = { slug: 's', outcome: 'Yes', question: 'q', eventTitle: null };
    const cache = createNameCache({
      async read(tokenIds) {
        asked.push(tokenIds);
        return tokenIds.filter((tokenId) => tokenId === 'a').map((tokenId) => ({ tokenId, ...known }));
      },
    });
    await cache.refresh(['a', 'b'], 0);
    await cache.refresh(['a', 'b'], 59_999);
    expect(cache.get('a')).toEqual(known);
    await cache.refresh(['a', 'b'], 60_000);
    await cache.refresh(['b'], 60_001);
    expect(cache.get('a')).toBeUndefined();
    expect(asked).toEqual([['a', 'b'], ['b']]);
  });
});

describe('createNameCache, of known tokens', () => {
  it('reads names again after five minutes, and keeps those that are not found or cannot be read', async () => {
    const first = { slug: 's', outcome: 'Yes', question: 'Will it?', eventTitle: null };
    const corrected = { ...first, question: 'Will it be?' };
    const replies = [[{ tokenId: 'a', ...first }], [{ tokenId: 'a', ...corrected }], [], 'unreachable'] as const;
    let reads = 0;
    const cache = createNameCache({
      async read() {
        const reply = replies[reads++];
        if (typeof reply !== 'object') throw new Error(reply);
        return reply;
      },
    });
    await cache.refresh(['a'], 0);
    await cache.refresh(['a'], 299_999);
    expect([reads, cache.get('a')]).toEqual([1, first]);
    await cache.refresh(['a'], 300_000);
    expect([reads, cache.get('a')]).toEqual([2, corrected]);
    await cache.refresh(['a'], 600_000);
    await expect(cache.refresh(['a'], 900_000)).rejects.toThrow('unreachable');
    expect([reads, cache.get('a')]).toEqual([4, corrected]);
  });
});

describe('lookups in the catalogue', () => {
  /** The server's default limit of a URL, bytes. */
  const MAX_URL_BYTES = 1_048_576;
  const idOf = (n: number) => (10n ** 77n + BigInt(n)).toString();
  /** Rows of the items, from a server that rejects longer URLs than ClickHouse accepts. */
  const server = (column: string) => {
    const sizes: number[] = [];
    return {
      sizes,
      async query<T>(sql: string, params: Record<string, unknown>): Promise<T[]> {
        const [items] = Object.values(params) as [readonly string[]];
        const literal = `[${items.map((item) => `'${item.replaceAll(/['\\]/g, '\\$&')}'`).join(',')}]`;
        const url = new URLSearchParams({ query: sql, param_ids: literal }).toString();
        if (url.length > MAX_URL_BYTES) throw new Error(`URI too long: ${url.length}`);
        sizes.push(items.length);
        return items.map((item) => ({ [column]: item, token_id: item }) as T);
      },
    };
  };

  it('asks for as many token ids as a message may have', async () => {
    const ids = Array.from({ length: 15_000 }, (_, n) => idOf(n));
    const tokens = server('token_id');
    expect(await createNamesReader(tokens).knownTokens(ids)).toEqual(new Set(ids));
    expect(tokens.sizes).toEqual([...Array.from({ length: 7 }, () => 2_000), 1_000]);
  });

  it('asks for as many condition ids, and for long slugs of any characters', async () => {
    const requested = (rows: readonly { requested: string }[]) => rows.map((row) => row.requested);
    const conditions = Array.from({ length: 15_000 }, (_, n) => `0x${n.toString(16).padStart(64, '0')}`);
    const markets = server('requested');
    expect(requested(await createMarketLookup(markets).byConditions(conditions))).toEqual(conditions);
    const slugs = Array.from({ length: 3_000 }, (_, n) => `${n}${"'€".repeat(147)}`);
    expect(requested(await createMarketLookup(markets).bySlugs(slugs))).toEqual(slugs);
    expect(await createMarketLookup(markets).bySlugs([])).toEqual([]);
  });
});
