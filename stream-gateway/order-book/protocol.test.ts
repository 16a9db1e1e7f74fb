import { afterEach, describe, expect, it } from 'vitest';
import { createBookStore } from './book-store.js';
import { createMessageRate } from './message-rate.js';
import { resolveMarkets } from './resolve-markets.js';
import { bookRecord, connectBookClient, startTestOrderBook } from './testing.js';

let running: Awaited<ReturnType<typeof startTestOrderBook>> | undefined;
const start = async (over: Parameters<typeof startTestOrderBook>[0] = {}) => {
  running = await startTestOrderBook(over);
  return running;
};
afterEach(async () => {
  await running?.server.close();
  running = undefined;
});

const token = (n: number) => `${900_000_000_000 + n}`;
const level = { price: '0.5', size: '1' };
const fill = (store: ReturnType<typeof createBookStore>, count: number) => {
  for (let n = 0; n < count; n++) store.apply(bookRecord(token(n), 1, { bids: [level] }), 1);
  store.clearDirty();
};

describe('messages of the order-book socket', () => {
  it('answers each faulty one with its code and stays open', async () => {
    const { server, store } = await start();
    fill(store, 1);
    const client = await connectBookClient(server);
    const many = Array.from({ length: 15_001 }, (_, n) => token(n));
    for (const [message, code] of [
      ['{', 'invalid_json'],
      ['[]', 'invalid_message'],
      [{ action: 'toString' }, 'invalid_message'],
      [{ action: 'subscribe' }, 'invalid_message'],
      [{ action: 'subscribe', markets: [] }, 'invalid_message'],
      [{ action: 'subscribe', markets: [7] }, 'invalid_message'],
      [{ action: 'subscribe', markets: many }, 'input_too_large'],
      [' '.repeat(2 * 1024 * 1024 + 1), 'input_too_large'],
      [{ action: 'subscribe', markets: ['unknown'] }, 'unresolved_markets'],
      [{ action: 'resync' }, 'resync_not_subscribed'],
    ] as const) {
      client.send(message);
      expect(await client.next()).toMatchObject({ error: code });
    }
    client.send({ action: 'subscribe', markets: [token(0)] });
    await client.nextOf('snapshots_done');
    client.send({ action: 'subscribe', markets: ['unknown'] });
    expect(await client.next()).toMatchObject({ error: 'unresolved_markets' });
    client.send({ action: 'resync', markets: ['unknown'] });
    expect(await client.next()).toMatchObject({ error: 'resync_resolved_empty' });
    // The set of before stays.
    client.send({ action: 'resync', markets: ['*'] });
    expect(await client.next()).toEqual({ type: 'resyncing', markets: 1 });
    await client.nextOf('snapshot_batch');
    expect(await client.next()).toEqual({ type: 'snapshots_done', total: 1, reason: 'resync' });
    client.send({ action: 'unsubscribe' });
    expect(await client.next()).toEqual({ type: 'unsubscribed', markets: 1, remaining: 0 });
    client.send({ action: 'ping' });
    expect(await client.next()).toEqual({ type: 'pong' });
  });

  it('are limited to 20 per second after 100 at once', () => {
    let nowMs = 0;
    const rate = createMessageRate(() => nowMs);
    for (let n = 0; n < 100; n++) expect(rate.take()).toBe(0);
    expect(rate.take()).toBe(50);
    nowMs = 50;
    expect(rate.take()).toBe(0);
    expect(rate.take()).toBe(50);
  });

  it('are rejected with service_warming_up until the books are loaded, and with unavailable without the catalogue', async () => {
    let ready = false;
    const { server } = await start({
      ready: () => ready,
      resolve: async () => {
        throw new Error('no catalogue');
      },
    });
    const client = await connectBookClient(server);
    client.send({ action: 'subscribe', markets: ['a'] });
    expect(await client.next()).toMatchObject({ error: 'service_warming_up', retry_after_ms: 1_000 });
    ready = true;
    client.send({ action: 'subscribe', markets: ['a'] });
    expect(await client.next()).toMatchObject({ error: 'unavailable', retry_after_ms: 5_000 });
  });
});

describe('books of the order-book socket', () => {
  it('come in one batch for 100 tokens, and 50 every 200 ms for more; a second resync waits', async () => {
    const { server, store } = await start();
    fill(store, 120);
    const client = await connectBookClient(server);
    client.send({ action: 'subscribe', markets: Array.from({ length: 100 }, (_, n) => token(n)) });
    expect(await client.nextOf('snapshot_batch')).toMatchObject({ count: 100, total_sent: 100 });
    await client.nextOf('snapshots_done');
    client.send({ action: 'subscribe', markets: ['*'] });
    expect(await client.next()).toEqual({ type: 'subscribed', markets: 120, firehose: true });
    client.send({ action: 'resync' });
    expect(await client.next()).toMatchObject({ type: 'snapshot_batch', count: 50, total_sent: 50 });
    expect(await client.next()).toMatchObject({ error: 'resync_in_progress' });
    // A change of a token whose book was sent, of one whose book comes later, and of a new one.
    for (const n of [0, 119]) store.apply(bookRecord(token(n), 2, { bids: [{ price: '0.4', size: '1' }] }), 1);
    store.apply(bookRecord(token(500), 1, { bids: [level] }), 1);
    server.flush();
    expect(((await client.nextOf('batch')).updates as { asset_id: string }[]).map((one) => one.asset_id)).toEqual([
      token(0),
    ]);
    expect(await client.next()).toMatchObject({ type: 'snapshot_batch', count: 50, total_sent: 100 });
    expect(await client.next()).toMatchObject({ type: 'snapshot_batch', count: 20, total_sent: 120 });
    expect(await client.next()).toMatchObject({ type: 'snapshot_batch', count: 1, total_sent: 121 });
    expect(await client.next()).toEqual({ type: 'snapshots_done', total: 121 });
    store.apply(bookRecord(token(500), 2, { bids: [{ price: '0.4', size: '1' }] }), 1);
    server.flush();
    expect(await client.next()).toMatchObject({ type: 'batch', count: 1 });
    client.send({ action: 'unsubscribe', markets: [token(0)] });
    expect(await client.next()).toMatchObject({ error: 'invalid_message' });
  });

  it('are binary and smaller with compress=zlib, text otherwise, and metered as encoded', async () => {
    const metered = new Map<string, number>();
    const { server, store } = await start({
      limits: { tickMs: 20 },
      meter: {
        add({ accountId }, meter, bytes) {
          expect(meter).toBe('oracle_orderbook');
          metered.set(accountId, (metered.get(accountId) ?? 0) + bytes);
        },
      },
    });
    fill(store, 60);
    const markets = Array.from({ length: 60 }, (_, n) => token(n));
    const sizes: number[] = [];
    for (const options of [{ key: 'a' }, { key: 'b', compress: true }, { key: 'c', deflateExtension: true }]) {
      const client = await connectBookClient(server, options);
      client.send({ action: 'subscribe', markets });
      await client.nextOf('snapshots_done');
      const data = client.raw.filter((_, n) => client.frames[n]?.type === 'snapshot_batch');
      expect(data.map(({ isBinary }) => isBinary)).toEqual([options.key === 'b']);
      expect(client.raw.filter(({ isBinary }) => isBinary)).toHaveLength(options.key === 'b' ? 1 : 0);
      const bytes = data.reduce((sum, one) => sum + one.bytes, 0);
      await expect.poll(() => metered.get(options.key)).toBe(bytes);
      sizes.push(bytes);
    }
    expect(sizes[1]).toBeLessThan((sizes[0] as number) / 4);
    // The extension is invisible above the frame.
    expect(sizes[2]).toBe(sizes[0]);
  });

  it('close a client that does not read, and no other', async () => {
    const { server, store, metrics } = await start({
      limits: { peer: { maxBufferedBytes: 256 * 1024, highWaterBytes: 64 * 1024 } },
    });
    fill(store, 50);
    const slow = await connectBookClient(server, { integrity: '1' });
    const other = await connectBookClient(server);
    const markets = Array.from({ length: 50 }, (_, n) => token(n));
    slow.send({ action: 'subscribe', markets });
    other.send({ action: 'subscribe', markets: markets.slice(0, 1) });
    for (const client of [slow, other]) await client.nextOf('snapshots_done');
    slow.socket.pause();
    const slowCloses = async () => (await metrics.registry.metrics()).match(/slow_closes_total\{[^}]*\} (\d+)/)?.[1];
    for (let seq = 2; seq < 3_000; seq++) {
      const bids = Array.from({ length: 20 }, (_, n) => ({ price: `0.${100 + n}`, size: String(seq) }));
      for (let n = 0; n < 50; n++) store.apply(bookRecord(token(n), seq, { update_type: 'price_change', bids }), 1);
      server.flush();
      await other.nextOf('batch');
      if (seq % 20 === 0 && (await slowCloses()) === '1') break;
    }
    await expect.poll(slowCloses).toBe('1');
    slow.socket.resume();
    expect((await slow.closed).code).toBeOneOf([1006, 1013]);
    expect(other.socket.readyState).toBe(other.socket.OPEN);
    other.verify();
  });
});

describe('a subscription of all books without a book yet', () => {
  it('can be sent again, and ends when the allowance is used up', async () => {
    let usedUp = false;
    const { server } = await start({
      limits: { tickMs: 20 },
      usedUpUntil: () => (usedUp ? Date.UTC(2100, 0, 1) : null),
    });
    const client = await connectBookClient(server);
    client.send({ action: 'subscribe', markets: ['*'] });
    expect(await client.next()).toEqual({ type: 'subscribed', markets: 0, firehose: true });
    expect(await client.next()).toEqual({ type: 'snapshots_done', total: 0 });
    for (const markets of [{}, { markets: ['*'] }]) {
      client.send({ action: 'resync', ...markets });
      expect(await client.next()).toEqual({ type: 'resyncing', markets: 0 });
      expect(await client.next()).toEqual({ type: 'snapshots_done', total: 0, reason: 'resync' });
    }
    usedUp = true;
    expect(await client.next()).toMatchObject({ error: 'monthly_allowance_used_up' });
    expect((await client.closed).code).toBe(4402);
  });
});

describe('integrity', () => {
  it('is 0 or 1, has no firehose, and at most 500 tokens a connection and its bound a process', async () => {
    const { server, store } = await start({ limits: { integrityTokens: 3 } });
    fill(store, 600);
    const wrong = await connectBookClient(server, { integrity: '2' });
    expect(await wrong.next()).toMatchObject({ error: 'invalid_integrity_option' });
    expect((await wrong.closed).code).toBe(1008);
    const [first, second] = [
      await connectBookClient(server, { integrity: '1' }),
      await connectBookClient(server, { integrity: '1' }),
    ];
    first.send({ action: 'subscribe', markets: ['*'] });
    expect(await first.next()).toMatchObject({ error: 'integrity_firehose_unsupported' });
    first.send({ action: 'subscribe', markets: Array.from({ length: 501 }, (_, n) => token(n)) });
    expect(await first.next()).toMatchObject({ error: 'token_limit' });
    first.send({ action: 'subscribe', markets: [token(0), token(1)] });
    await first.nextOf('snapshots_done');
    second.send({ action: 'subscribe', markets: [token(1), token(2), token(3)] });
    expect(await second.next()).toMatchObject({ error: 'integrity_capacity' });
    second.send({ action: 'subscribe', markets: [token(1), token(2)] });
    await second.nextOf('snapshots_done');
    first.socket.close();
    await first.closed;
    second.send({ action: 'subscribe', markets: [token(1), token(2), token(3)] });
    expect(await second.nextOf('book_snapshot')).toMatchObject({ integrity: { seq: 2 } });
    second.verify();
  });
});

describe('resolveMarkets', () => {
  it('resolves token ids, condition ids and slugs, from the books or the catalogue, without duplicates', async () => {
    const store = createBookStore();
    for (const n of [10, 11]) store.apply(bookRecord(token(n), 1, { condition_id: '0xaa' }), 1);
    store.apply(bookRecord(token(20), 1), 1);
    store.apply(bookRecord(token(20), 2, { update_type: 'status', verified: false, reason: 'not_followed' }), 1);
    const row = (requested: string, token_id: string) => ({ requested, condition_id: '0x0', token_id });
    const deps = {
      store,
      lookup: {
        bySlugs: async (slugs: readonly string[]) =>
          slugs.filter((slug) => slug === 'event').map((slug) => row(slug, token(10))),
        byConditions: async (ids: readonly string[]) =>
          ids.filter((id) => id === '0xbb').map((id) => row(id, token(20))),
      },
      tokens: { knownTokens: async (ids: readonly string[]) => new Set(ids.filter((id) => id === token(30))) },
    };
    const entries = ['0xAA', '0xbb', '0xcc', token(10), token(30), token(40), 'event', '12345', 'event'];
    expect(await resolveMarkets(entries, deps)).toEqual({
      firehose: false,
      tokenIds: [token(10), token(11), token(20), token(30)],
      from: { token_ids: 2, slugs: 1, condition_ids: 2 },
      unresolved: ['0xcc', token(40), '12345'],
      withoutBook: [token(20), token(30)],
    });
    expect(await resolveMarkets(['event', '*'], deps)).toMatchObject({ firehose: true });
  });
});
