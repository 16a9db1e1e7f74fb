import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import { orderBookErrorCodes } from '../../schemas/order-book/socket.js';
import { isBookError, parseBookMessage } from '../../stream-gateway/order-book/messages.js';
import { bookRecord, startTestOrderBook } from '../../stream-gateway/order-book/testing.js';

const guide = readFileSync(path.join(import.meta.dirname, '../../docs/ORDER_BOOK.md'), 'utf8');
const TOKEN = '123456789012';

describe('docs/ORDER_BOOK.md', () => {
  it('shows only messages that the socket accepts, and lists every error code', () => {
    const messages = [...guide.matchAll(/\{"action":.*?\}/g)].map(([text]) => text);
    expect(messages.length).toBeGreaterThan(4);
    for (const message of messages) expect(isBookError(parseBookMessage(message)), message).toBe(false);
    for (const code of orderBookErrorCodes) expect(guide).toContain(`\`${code}\``);
  });

  it('has a JavaScript client that has the book after a start of the server, changes, a repair, a lost and a dead connection', async () => {
    let loaded = false;
    const { server, store } = await startTestOrderBook({ ready: () => loaded });
    const book = (seq: number, bid: string, reason: string | null = null) =>
      store.apply(bookRecord(TOKEN, seq, { bids: [{ price: bid, size: '1' }], reason }), 1);
    book(1, '0.4');
    server.flush();
    const sockets: WebSocket[] = [];
    let subscriptions = 0;
    const delaysMs: (number | undefined)[] = [];
    const Socket = class extends WebSocket {
      constructor(url: string) {
        super(url.replace('127.0.0.1:8082', `127.0.0.1:${server.port}`));
        sockets.push(this);
        this.on('message', (data) => {
          if (String(data).includes('snapshots_done')) subscriptions++;
          if (String(data).includes('pong')) pongs++;
        });
      }
    };
    let books = new Map<string, { BUY: Map<number, string>; verified: boolean }>();
    let finished = false;
    let passedMs = 0;
    let pongs = 0;
    const watches: (() => void)[] = [];
    const code = /```js\n(.*?)```/s.exec(guide)?.[1] ?? '';
    new Function('WebSocket', 'KEY', 'MARKETS', 'onBooks', 'setTimeout', 'setInterval', 'clearInterval', 'Date', code)(
      Socket,
      'big',
      [TOKEN],
      (all: typeof books) => {
        books = all;
      },
      (work: () => void, delayMs?: number) => {
        delaysMs.push(delayMs);
        return finished || setTimeout(work, 5);
      },
      (work: () => void) => watches.push(work),
      () => undefined,
      { now: () => Date.now() + passedMs },
    );
    const bids = () => [...(books.get(TOKEN)?.BUY ?? [])];
    const until = async (expected: readonly (readonly [number, string])[]) =>
      expect
        .poll(() => {
          server.flush();
          return bids();
        })
        .toEqual(expected);
    // Two warnings, each 1,000 ms, on one connection.
    await expect.poll(() => delaysMs.slice(0, 2)).toEqual([1_000, 1_000]);
    loaded = true;
    await expect.poll(() => subscriptions).toBe(1);
    expect(sockets).toHaveLength(1);
    const change = { update_type: 'price_change', bids: [{ price: '0.3', size: '2' }] } as const;
    store.apply(bookRecord(TOKEN, 2, change), 1);
    await until([
      [0.4, '1'],
      [0.3, '2'],
    ]);
    book(3, '0.2', 'hash_mismatch');
    await until([[0.2, '1']]);
    expect(books.get(TOKEN)?.verified).toBe(true);
    book(4, '0.1');
    sockets[0]?.terminate();
    await expect.poll(() => subscriptions).toBe(2);
    store.apply(bookRecord(TOKEN, 5, { update_type: 'price_change', bids: [{ price: '0.1', size: '7' }] }), 1);
    await until([[0.1, '7']]);
    watches.at(-1)?.();
    await expect.poll(() => pongs).toBe(1);
    // A connection without its peer: the client leaves it though it stays open.
    passedMs = 31_000;
    watches.at(-1)?.();
    await expect.poll(() => subscriptions).toBe(3);
    book(6, '0.5');
    store.apply(bookRecord(TOKEN, 7, { update_type: 'price_change', bids: [{ price: '0.5', size: '3' }] }), 1);
    await until([[0.5, '3']]);
    finished = true;
    for (const socket of sockets) socket.terminate();
    await server.close();
  });
});
