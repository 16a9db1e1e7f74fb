import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { OrderBookUpdate } from '../../schemas/types.gen.js';
import { bookRecord, type ClientBook, connectBookClient, startTestOrderBook } from './testing.js';

const TOKENS = ['111111111111', '111111111112', '222222222221', '333333333331'];
type Levels = { BUY: Map<number, string>; SELL: Map<number, string> };
const text = (ticks: number) => (ticks / 100).toFixed(2);
const listOf = (levels: Map<number, string>) => [...levels].map(([ticks, size]) => ({ price: text(ticks), size }));
/** A book as text, whatever the order of its levels. */
const textOf = (levels: Iterable<readonly [string, string]>) =>
  [...levels]
    .map(([price, size]) => `${Number(price)}:${size}`)
    .sort()
    .join(' ');
const sourceText = ({ BUY, SELL }: Levels) =>
  `${textOf([...BUY].map(([ticks, size]) => [text(ticks), size]))} | ${textOf([...SELL].map(([ticks, size]) => [text(ticks), size]))}`;
const clientText = ({ BUY, SELL }: ClientBook) => `${textOf(BUY)} | ${textOf(SELL)}`;

/** The source: its books, the records about them, and what each book was at each record. */
function createSource() {
  const books = new Map<string, Levels>(TOKENS.map((token) => [token, { BUY: new Map(), SELL: new Map() }]));
  const history = new Map<string, string>();
  const sequences = new Map<string, number>();
  let epoch = 1;
  let written = 0;
  const bookOf = (token: string) => books.get(token) as Levels;
  const record = (token: string, over: Partial<OrderBookUpdate>): OrderBookUpdate => {
    const seq = (sequences.get(token) ?? 0) + 1;
    sequences.set(token, seq);
    history.set(`${epoch} ${token} ${seq}`, sourceText(bookOf(token)));
    return bookRecord(token, seq, { epoch: `e${epoch}`, received_ms: ++written, ...over });
  };
  return {
    history,
    bookOf,
    epoch: () => epoch,
    whole(token: string, over: Partial<OrderBookUpdate> = {}) {
      const { BUY, SELL } = bookOf(token);
      return record(token, { bids: listOf(BUY), asks: listOf(SELL), ...over });
    },
    change(token: string, changes: readonly { side: 'BUY' | 'SELL'; ticks: number; size: number }[]) {
      for (const { side, ticks, size } of changes)
        if (size === 0) bookOf(token)[side].delete(ticks);
        else bookOf(token)[side].set(ticks, String(size));
      const of = (side: 'BUY' | 'SELL') =>
        changes
          .filter((one) => one.side === side)
          .map(({ ticks, size }) => ({ price: text(ticks), size: String(size) }));
      return record(token, { update_type: 'price_change', bids: of('BUY'), asks: of('SELL') });
    },
    restart() {
      epoch++;
      sequences.clear();
    },
  };
}

const token = fc.nat(TOKENS.length - 1);
const levelChange = fc.record({
  side: fc.constantFrom<'BUY' | 'SELL'>('BUY', 'SELL'),
  ticks: fc.integer({ min: 1, max: 12 }),
  size: fc.nat(3),
});
const operation = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      op: fc.constant('change' as const),
      token,
      changes: fc.array(levelChange, { minLength: 1, maxLength: 3 }),
    }),
  },
  { weight: 4, arbitrary: fc.record({ op: fc.constant('flush' as const) }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('book' as const), token, repair: fc.boolean() }) },
  {
    weight: 1,
    arbitrary: fc.record({
      op: fc.constant('lost' as const),
      token,
      changes: fc.array(levelChange, { minLength: 1, maxLength: 2 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('restart' as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      op: fc.constant('subscribe' as const),
      tokens: fc.subarray([0, 1, 2, 3], { minLength: 1 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('unsubscribe' as const), token }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('resync' as const) }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('disconnect' as const) }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('pause' as const) }) },
);

it('a client that applies snapshots and updates has the book that the source had at that sequence number', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(operation, { minLength: 5, maxLength: 60 }),
      fc.constantFrom('none', 'integrity', 'firehose'),
      async (operations, kind) => {
        const { server, store } = await startTestOrderBook();
        const source = createSource();
        const connect = () =>
          connectBookClient(server, {
            ...(kind === 'integrity' ? { integrity: '1' } : {}),
            compress: kind === 'firehose',
            onFrame(books) {
              for (const [tokenId, book] of books) {
                if (!book.verified) continue;
                const then = Array.from({ length: source.epoch() }, (_, n) => n + 1).map((epoch) =>
                  source.history.get(`${epoch} ${tokenId} ${book.seq}`),
                );
                if (!then.includes(clientText(book)))
                  throw new Error(`${tokenId} at ${book.seq}: ${clientText(book)}; source ${then}`);
              }
            },
          });
        let client = await connect();
        let subscribed: readonly string[] = [];
        const subscribe = async (tokenIds: readonly string[]) => {
          subscribed = tokenIds;
          // The books of a subscription that ends are of no use.
          client.books.clear();
          client.send({ action: 'subscribe', markets: kind === 'firehose' ? ['*'] : tokenIds });
          await client.nextOf('snapshots_done');
        };
        /** All that was sent before the pong has arrived. */
        const settle = async () => {
          client.socket.resume();
          client.send({ action: 'ping' });
          await client.nextOf('pong');
        };
        try {
          for (const one of TOKENS) store.apply(source.whole(one), 0);
          server.flush();
          await subscribe(TOKENS.slice(0, 2));
          for (const one of operations) {
            if (one.op === 'change') store.apply(source.change(TOKENS[one.token] as string, one.changes), 1);
            if (one.op === 'lost') source.change(TOKENS[one.token] as string, one.changes);
            if (one.op === 'flush') server.flush();
            if (one.op === 'book')
              store.apply(
                source.whole(TOKENS[one.token] as string, { reason: one.repair ? 'hash_mismatch' : null }),
                1,
              );
            if (one.op === 'restart') {
              await settle();
              source.restart();
              for (const tokenId of TOKENS) store.apply(source.whole(tokenId), 1);
            }
            if (one.op === 'pause') client.socket.pause();
            if (one.op === 'subscribe') {
              await settle();
              await subscribe(one.tokens.map((n) => TOKENS[n] as string));
            }
            if (one.op === 'unsubscribe' && kind !== 'firehose') {
              await settle();
              const tokenId = TOKENS[one.token] as string;
              client.send({ action: 'unsubscribe', markets: [tokenId] });
              await client.nextOf('unsubscribed');
              subscribed = subscribed.filter((other) => other !== tokenId);
              client.books.delete(tokenId);
            }
            if (one.op === 'resync' && subscribed.length > 0) {
              await settle();
              client.send({ action: 'resync' });
              await client.nextOf('snapshots_done');
            }
            if (one.op === 'disconnect') {
              client.socket.terminate();
              client = await connect();
              await subscribe(subscribed.length > 0 ? subscribed : TOKENS);
            }
          }
          // A whole book of each token ends every gap; then the client has the newest books.
          for (const tokenId of TOKENS) store.apply(source.whole(tokenId, { reason: 'repeated' }), 2);
          server.flush();
          await settle();
          client.verify();
          for (const tokenId of kind === 'firehose' ? TOKENS : subscribed) {
            const book = client.books.get(tokenId);
            expect(book === undefined ? ' | ' : clientText(book)).toBe(sourceText(source.bookOf(tokenId)));
            if (book !== undefined && kind === 'integrity') expect(book.verified).toBe(true);
          }
        } finally {
          client.socket.terminate();
          await server.close();
        }
      },
    ),
    { numRuns: 40 },
  );
});
