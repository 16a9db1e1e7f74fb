import { afterEach, describe, expect, it } from 'vitest';
import { bookRecord, connectBookClient, startTestOrderBook } from './testing.js';

let running: Awaited<ReturnType<typeof startTestOrderBook>>;
afterEach(() => running.server.close());

const MINUTE_MS = 60_000;
const tokenAt = (n: number) => String(111_111_111_111 + n);
const level = (price: string, size: string) => ({ price, size });

describe('a token that the store forgets', () => {
  it('is sent as a whole book when it returns, to those who had its book before', async () => {
    running = await startTestOrderBook();
    const { server, store } = running;
    const token = tokenAt(0);
    store.apply(bookRecord(token, 1, { bids: [level('0.1', '1')] }), 0);
    store.apply(bookRecord(token, 2, { update_type: 'status', verified: false, reason: 'not_followed' }), 1);
    server.flush();
    const client = await connectBookClient(server);
    client.send({ action: 'subscribe', markets: [token] });
    await client.nextOf('snapshots_done');
    for (const minutes of [11, 12]) store.expire(minutes * MINUTE_MS);
    expect(store.get(token)).toBeUndefined();
    // Version 3, as the forgotten book had.
    store.apply(bookRecord(token, 3, { bids: [level('0.3', '1')] }), 13 * MINUTE_MS);
    const changed = { update_type: 'price_change', bids: [level('0.2', '4')] } as const;
    store.apply(bookRecord(token, 4, changed), 13 * MINUTE_MS);
    server.flush();
    client.send({ action: 'ping' });
    await client.nextOf('pong');
    expect([...(client.books.get(token)?.BUY ?? [])]).toEqual([
      ['0.3', '1'],
      ['0.2', '4'],
    ]);
  });

  it('is not sent to a former subscriber of all books that left before they were complete', async () => {
    running = await startTestOrderBook();
    const { server, store } = running;
    for (let n = 0; n < 120; n++) store.apply(bookRecord(tokenAt(n), 1, { bids: [level('0.1', '1')] }), 0);
    server.flush();
    const client = await connectBookClient(server);
    client.send({ action: 'subscribe', markets: ['*'] });
    await client.nextOf('snapshot_batch');
    for (let n = 1; n < 120; n++) store.apply(bookRecord(tokenAt(n), 2, { bids: [level('0.1', '1')] }), 10 * MINUTE_MS);
    for (const minutes of [11, 12]) store.expire(minutes * MINUTE_MS);
    expect(store.get(tokenAt(0))).toBeUndefined();
    client.send({ action: 'subscribe', markets: [tokenAt(119)] });
    await client.nextOf('snapshots_done');
    client.books.clear();
    store.apply(bookRecord(tokenAt(0), 3, { bids: [level('0.2', '1')] }), 13 * MINUTE_MS);
    server.flush();
    client.send({ action: 'ping' });
    await client.nextOf('pong');
    expect([...client.books.keys()]).toEqual([]);
  });
});
