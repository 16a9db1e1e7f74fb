import { afterEach, describe, expect, it } from 'vitest';
import { bookRecord, connectBookClient, startTestOrderBook } from './testing.js';

let running: Awaited<ReturnType<typeof startTestOrderBook>>;
afterEach(() => running.server.close());

const token = (n: number) => `${900_000_000_000 + n}`;
const tokens = (count: number) => Array.from({ length: count }, (_, n) => token(n));
const level = (price: string, size: string) => ({ price, size });
/** Beyond 100 books are sent 50 at a time, with pauses in which batches go out. */
const TOKENS = 160;
/** Sent in the last part. */
const LAST = token(TOKENS - 1);
const silent = { update_type: 'price_change', verified: false, reason: 'silent', verified_since_ms: 2 } as const;

async function start() {
  running = await startTestOrderBook();
  const { server, store } = running;
  for (const tokenId of tokens(TOKENS)) store.apply(bookRecord(tokenId, 1, { bids: [level('0.5', '1')] }), 1);
  server.flush();
  const client = await connectBookClient(server);
  return {
    client,
    async subscribe(markets: readonly string[]) {
      client.send({ action: 'subscribe', markets });
      await client.nextOf('snapshots_done');
    },
    /** The book of the last token loses its only level, which is sent at once to those who get its updates. */
    empty() {
      store.apply(bookRecord(LAST, 2, { ...silent, bids: [level('0.5', '0')] }), 2);
      server.flush();
    },
    fill() {
      store.apply(bookRecord(LAST, 3, { ...silent, bids: [level('0.3', '4')] }), 3);
      server.flush();
    },
  };
}
const levels = ({ books }: Awaited<ReturnType<typeof connectBookClient>>) => [...(books.get(LAST)?.BUY ?? [])];
const EMPTY = { type: 'book_snapshot', asset_id: LAST, bids: [], asks: [], verified: false, reason: 'silent', seq: 2 };

describe('a book that becomes empty while more than 100 are sent', () => {
  for (const [how, before, message] of [
    ['a resync', tokens(TOKENS), { action: 'resync' }],
    ['a resync of all books', ['*'], { action: 'resync' }],
    ['a subscription that has it too', tokens(TOKENS), { action: 'subscribe', markets: tokens(TOKENS) }],
    ['a subscription of all books', [LAST], { action: 'subscribe', markets: ['*'] }],
    ['a subscription after that of all books', ['*'], { action: 'subscribe', markets: tokens(TOKENS) }],
  ] as const)
    it(`is sent empty before snapshots_done of ${how}, and its updates follow`, async () => {
      const { client, subscribe, empty, fill } = await start();
      await subscribe(before);
      expect(levels(client)).toEqual([['0.5', '1']]);
      client.send(message);
      await client.nextOf('snapshot_batch');
      empty();
      expect(await client.nextOf('batch')).toMatchObject({ count: 1, updates: [EMPTY] });
      expect(await client.nextOf('snapshots_done')).toMatchObject({ total: TOKENS - 1 });
      expect(levels(client)).toEqual([]);
      fill();
      expect(await client.nextOf('batch')).toMatchObject({ count: 1, updates: [{ type: 'price_change' }] });
      expect(levels(client)).toEqual([['0.3', '4']]);
    });

  it('is sent empty by a subscription that replaces one whose books were still being sent', async () => {
    const { client, subscribe, empty } = await start();
    await subscribe(tokens(TOKENS));
    client.send({ action: 'resync' });
    await client.nextOf('snapshot_batch');
    empty();
    await subscribe([LAST]);
    expect(levels(client)).toEqual([]);
    expect(client.frames.at(-2)).toMatchObject({ type: 'batch', updates: [EMPTY] });
  });

  it('is left out for a connection that did not have it', async () => {
    const { client, subscribe, empty } = await start();
    await subscribe([token(0)]);
    client.send({ action: 'subscribe', markets: tokens(TOKENS) });
    await client.nextOf('snapshot_batch');
    empty();
    expect(await client.nextOf('snapshots_done')).toMatchObject({ total: TOKENS - 1 });
    expect(client.frames.map(({ type }) => type)).not.toContain('batch');
  });
});
