import { afterEach, describe, expect, it } from 'vitest';
import { orderBookFrames } from '../../schemas/order-book/socket.js';
import { bookRecord, clientChecksum, connectBookClient, startTestOrderBook } from './testing.js';

let running: Awaited<ReturnType<typeof startTestOrderBook>>;
const start = async (over: Parameters<typeof startTestOrderBook>[0] = {}) => {
  running = await startTestOrderBook(over);
  return running;
};
afterEach(() => running.server.close());

const A = '111111111111';
const B = '111111111112';
const C = '222222222221';
const level = (price: string, size: string) => ({ price, size });
const row = (side: 'BUY' | 'SELL', price: string, size: string) => ({ side, price, size });
const change = (token: string, seq: number, levels: readonly ReturnType<typeof row>[], over = {}) =>
  bookRecord(token, seq, {
    update_type: 'price_change',
    bids: levels.filter(({ side }) => side === 'BUY'),
    asks: levels.filter(({ side }) => side === 'SELL'),
    ...over,
  });

describe('order-book socket', () => {
  it('acknowledges a subscription, sends its books best first, then changes as batches of both tokens of a market', async () => {
    const { server, store } = await start();
    store.apply(bookRecord(A, 1, { bids: [level('0.4', '10'), level('.41', '5')], asks: [level('0.5', '1')] }), 1);
    store.apply(bookRecord(B, 1, { bids: [level('0.5', '1')] }), 1);
    store.apply(bookRecord(C, 1), 1);
    server.flush();
    const client = await connectBookClient(server);
    client.send({ action: 'subscribe', markets: [A, B, C, A, 'no-such-slug'] });
    expect(await client.next()).toEqual({
      type: 'subscribed',
      markets: 3,
      resolved_from: { token_ids: 3, slugs: 0, condition_ids: 0 },
      unresolved: ['no-such-slug'],
    });
    const snapshot = await client.next();
    expect(snapshot).toMatchObject({ type: 'snapshot_batch', count: 2, total_sent: 2 });
    expect((snapshot.snapshots as object[])[0]).toEqual({
      type: 'book_snapshot',
      asset_id: A,
      market: '0x11111111111',
      condition_id: '0x11111111111',
      bids: [level('.41', '5'), level('0.4', '10')],
      asks: [level('0.5', '1')],
      timestamp: 1_790_000_000_001,
      hash: null,
      seq: 1,
      verified: true,
      since: 1_790_000_000_000,
    });
    expect(await client.next()).toEqual({ type: 'snapshots_done', total: 2 });
    store.apply(change(A, 2, [row('BUY', '0.4', '7')]), 2);
    store.apply(change(B, 2, [row('BUY', '0.5', '0')]), 2);
    store.apply(change(A, 3, [row('BUY', '0.4', '8'), row('SELL', '0.49', '2')]), 2);
    server.flush();
    const batch = await client.next();
    expect(batch).toMatchObject({ type: 'batch', count: 1 });
    const shared = { best_bid: '.41', best_ask: '0.49', verified: true, seq: 3 };
    expect(batch.updates).toEqual([
      {
        type: 'price_change',
        market: '0x11111111111',
        assets: [
          { asset_id: A, price: '0.4', size: '8', side: 'BUY', ...shared },
          { asset_id: A, price: '0.49', size: '2', side: 'SELL', ...shared },
          { asset_id: B, price: '0.5', size: '0', side: 'BUY', best_bid: null, best_ask: null, verified: true, seq: 2 },
        ],
      },
    ]);
    for (const frame of client.frames) {
      const { type } = frame;
      const schema = { subscribed: 'book_subscribed', unsubscribed: 'book_unsubscribed' }[type as string] ?? type;
      expect(orderBookFrames[schema as keyof typeof orderBookFrames].safeParse(frame).error).toBeUndefined();
    }
  });

  it('sends trades, the levels that differ after a book of the venue, and a whole book after a repair', async () => {
    const { server, store } = await start();
    store.apply(bookRecord(A, 1, { bids: [level('0.4', '10')], asks: [level('0.5', '1')] }), 1);
    server.flush();
    const client = await connectBookClient(server);
    client.send({ action: 'subscribe', markets: [A] });
    await client.nextOf('snapshots_done');
    const trade = { update_type: 'last_trade_price', price: '0.5', size: '1', side: 'BUY', fee_rate_bps: '0' } as const;
    store.apply(bookRecord(A, 2, trade), 2);
    store.apply(bookRecord(A, 3, { bids: [level('0.4', '10')], asks: [level('0.6', '3')] }), 2);
    server.flush();
    expect((await client.next()).updates).toEqual([
      {
        type: 'book_update',
        asset_id: A,
        market: '0x11111111111',
        bids: [],
        asks: [level('0.6', '3'), level('0.5', '0')],
        verified: true,
        seq: 3,
      },
      {
        type: 'last_trade_price',
        asset_id: A,
        market: '0x11111111111',
        price: '0.5',
        size: '1',
        side: 'BUY',
        fee_rate_bps: '0',
        timestamp: '1790000000002',
        verified: true,
      },
    ]);
    const lost = { verified: false, verified_since_ms: 77, reason: 'hash_mismatch' };
    store.apply(change(A, 4, [row('BUY', '0.3', '9')], lost), 3);
    server.flush();
    const [status, depth] = (await client.next()).updates as Record<string, unknown>[];
    expect(status).toEqual({ type: 'book_status', asset_id: A, verified: false, since: 77, reason: 'hash_mismatch' });
    expect(depth).toMatchObject({ type: 'price_change', assets: [{ price: '0.3', verified: false }] });
    store.apply(bookRecord(A, 5, { ...trade, ...lost }), 3);
    server.flush();
    expect((await client.next()).updates).toMatchObject([{ type: 'last_trade_price', verified: false }]);
    store.apply(bookRecord(A, 6, { bids: [level('0.35', '2')], reason: 'hash_mismatch', verified_since_ms: 99 }), 4);
    server.flush();
    expect((await client.next()).updates).toMatchObject([
      {
        type: 'book_snapshot',
        bids: [level('0.35', '2')],
        asks: [],
        verified: true,
        since: 99,
        reason: 'hash_mismatch',
      },
    ]);
    store.apply(bookRecord(A, 7, { bids: [level('0.35', '2')], reason: 'repeated' }), 5);
    store.apply(change(A, 8, [row('SELL', '0.7', '1')]), 5);
    server.flush();
    expect(await client.next()).toMatchObject({ count: 1, updates: [{ type: 'price_change' }] });
    for (const frame of client.frames.filter(({ type }) => type === 'batch'))
      expect(orderBookFrames.batch.safeParse(frame).error).toBeUndefined();
  });

  it('declares a book unverified after a gap in the log and when its source is silent, until it is sent again', async () => {
    const { server, store } = await start();
    store.apply(bookRecord(A, 1, { bids: [level('0.4', '10')] }), 1);
    store.apply(bookRecord(C, 1, { bids: [level('0.1', '10')] }), 1);
    server.flush();
    const client = await connectBookClient(server);
    client.send({ action: 'subscribe', markets: [A, C] });
    await client.nextOf('snapshots_done');
    store.apply(change(A, 3, [row('BUY', '0.4', '0')]), 5_000);
    server.flush();
    expect((await client.next()).updates).toEqual([
      { type: 'book_status', asset_id: A, verified: false, since: 5_000, reason: 'gap' },
    ]);
    store.apply(bookRecord(A, 4, { bids: [level('0.2', '1')], verified_since_ms: 1, received_ms: 4 }), 6_000);
    server.flush();
    expect((await client.next()).updates).toMatchObject([
      { type: 'book_snapshot', bids: [level('0.2', '1')], verified: true, since: 6_000 },
    ]);
    store.sourceUnreachable(7_000);
    server.flush();
    expect((await client.next()).updates).toEqual(
      [A, C].map((asset_id) => ({
        type: 'book_status',
        asset_id,
        verified: false,
        since: 7_000,
        reason: 'source_unreachable',
      })),
    );
    // Another run of the source: only the book that it has sent is verified.
    store.apply(
      bookRecord(A, 1, { epoch: 'e2', bids: [level('0.3', '1')], received_ms: 9_000, verified_since_ms: 9_000 }),
      9_000,
    );
    server.flush();
    expect((await client.next()).updates).toMatchObject([
      { type: 'book_snapshot', asset_id: A, verified: true, seq: 1 },
    ]);
    client.send({ action: 'resync' });
    expect((await client.nextOf('snapshot_batch')).snapshots).toMatchObject([
      { asset_id: A, verified: true },
      { asset_id: C, verified: false, reason: 'source_unreachable' },
    ]);
  });

  it('sends a status after a snapshot between two changes of it within a batch interval', async () => {
    const { server, store } = await start();
    store.apply(bookRecord(A, 1, { bids: [level('0.4', '10')] }), 1);
    store.apply(bookRecord(B, 1, { bids: [level('0.6', '10')], verified: false, reason: 'silent' }), 1);
    server.flush();
    const clients = [];
    for (const [markets, integrity] of [
      [[A, B], '0'],
      [['*'], '0'],
      [[A, B], '1'],
    ] as const)
      clients.push({ one: await connectBookClient(server, { integrity }), markets });
    // A is unverified and B verified for a moment, in which the snapshots are taken.
    const toggle = (seq: number, a: boolean, nowMs: number) => {
      const over = (verified: boolean) => ({ verified, reason: verified ? null : 'silent', verified_since_ms: nowMs });
      store.apply(change(A, seq, [], over(a)), nowMs);
      store.apply(change(B, seq, [], over(!a)), nowMs);
    };
    toggle(2, false, 5_000);
    for (const { one, markets } of clients) {
      one.send({ action: 'subscribe', markets });
      await one.nextOf('snapshots_done');
      expect([one.books.get(A)?.verified, one.books.get(B)?.verified]).toEqual([false, true]);
    }
    toggle(3, true, 6_000);
    server.flush();
    for (const { one } of clients) {
      expect((await one.nextOf('batch')).updates).toEqual([
        { type: 'book_status', asset_id: A, verified: true, since: 6_000, reason: null },
        { type: 'book_status', asset_id: B, verified: false, since: 6_000, reason: 'silent' },
      ]);
    }
  });

  it('sends what made a book empty, and its status, also after a resync that leaves it out', async () => {
    const { server, store } = await start();
    store.apply(bookRecord(A, 1, { bids: [level('0.4', '10')] }), 1);
    server.flush();
    const client = await connectBookClient(server);
    client.send({ action: 'subscribe', markets: [A] });
    await client.nextOf('snapshots_done');
    store.apply(change(A, 2, [row('BUY', '0.4', '0')], { verified: false, reason: 'silent', verified_since_ms: 2 }), 2);
    client.send({ action: 'resync' });
    expect(await client.nextOf('snapshots_done')).toMatchObject({ total: 0 });
    server.flush();
    expect((await client.nextOf('batch')).updates).toMatchObject([
      { type: 'book_status', asset_id: A, verified: false, reason: 'silent' },
      { type: 'price_change', assets: [{ asset_id: A, price: '0.4', size: '0' }] },
    ]);
  });

  it('sends anchors and steps with checksums to clients that ask for integrity', async () => {
    const { server, store } = await start();
    store.apply(bookRecord(A, 1, { bids: [level('0.50', '10.000')], asks: [level('0.6000', '20')] }), 1);
    store.apply(bookRecord(C, 1), 1);
    server.flush();
    const client = await connectBookClient(server, { integrity: '1' });
    client.send({ action: 'subscribe', markets: [A, C] });
    expect(await client.next()).toMatchObject({ markets: 2, integrity: { enabled: true, protocol: 'pn1' } });
    // The published vectors.
    const published = 'a1ec7486bc53e14c4294f08e9298362fe7b5c6495c474e8c447e27ea976eb93a';
    const empty = 'f9990dc511a3f5eabf06565ee7f52801621e28d7f2d3509d6fbda91e561edecf';
    const anchor = { protocol: 'pn1', anchor: true, seq: 1 };
    expect(await client.next()).toMatchObject({ asset_id: A, integrity: { ...anchor, checksum: published } });
    expect(await client.next()).toMatchObject({ asset_id: C, integrity: { ...anchor, checksum: empty } });
    expect(await client.next()).toEqual({ type: 'snapshots_done', total: 2 });
    store.apply(change(A, 2, [row('BUY', '0.4', '7')]), 2);
    store.apply(change(C, 2, [row('BUY', '0.4', '7'), row('SELL', '0.9', '7')]), 2);
    server.flush();
    const { updates } = await client.next();
    expect(updates).toMatchObject([
      {
        type: 'price_change',
        asset_id: A,
        assets: [{ asset_id: A }],
        integrity: { protocol: 'pn1', prev_seq: 1, seq: 2 },
      },
      { type: 'book_update', asset_id: C, integrity: { prev_seq: 1, seq: 2 } },
    ]);
    store.apply(change(A, 3, [], { verified: false, reason: 'silent', update_type: 'status' }), 3);
    store.apply(bookRecord(A, 4, { bids: [level('0.1', '1')], reason: 'silent' }), 3);
    server.flush();
    expect(await client.next()).toMatchObject({ type: 'book_snapshot', integrity: { anchor: true, seq: 3 } });
    client.verify();
    const book = client.books.get(A);
    if (book === undefined) throw new Error('no book');
    const checksum = clientChecksum(book);
    book.BUY.set('0.2', '1');
    expect(clientChecksum(book)).not.toBe(checksum);
  });
});
