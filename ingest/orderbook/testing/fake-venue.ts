import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import type { BookSide } from '../../../schemas/order-book/book.js';
import type { BookMessage, ChangeMessage } from '../token-book.js';
import { createVenueBook, type VenueBook } from './venue-book.js';

interface Client {
  readonly socket: WebSocket;
  readonly tokens: Set<string>;
}

/** Market channel and `GET /book` of a venue on 127.0.0.1, which can lose, falsify and withhold messages. Prices are in thousandths. */
export interface FakeVenue {
  readonly wsUrl: string;
  readonly restUrl: string;
  readonly clients: readonly Client[];
  /** Books requested by `GET /book`, by token. */
  readonly restRequests: ReadonlyMap<string, number>;
  /** Adds a token with an empty book, or without any book. */
  add(market: string, assetId: string, options?: { hasBook?: boolean }): VenueBook;
  book(assetId: string): VenueBook;
  /** An order; `lost`: the book changes and no message is sent; `wrongHash`: the message has the hash of another book. */
  order(assetId: string, side: BookSide, ticks: number, size: string, how?: 'sent' | 'lost' | 'wrongHash'): void;
  /** A match: its changes at once, the price of its trade later. */
  match(assetId: string, side: BookSide, tradeLateMs?: number): void;
  /** The token is dead: nothing is sent about it until it is subscribed again, or, with `forever`, at all. */
  silence(assetId: string, forever?: boolean): void;
  /** Answers of `GET /book` with this status; null: books. */
  failRest(status: number | null): void;
  /** Sends text to all clients. */
  raw(text: string): void;
  /** Ends all connections. */
  cut(): void;
  stop(): Promise<void>;
}

export async function startFakeVenue(): Promise<FakeVenue> {
  const books = new Map<string, { market: string; book: VenueBook; hasBook: boolean }>();
  const silent = new Map<string, boolean>();
  const clients: Client[] = [];
  const restRequests = new Map<string, number>();
  let restStatus: number | null = null;
  let lastMs = 0;
  /** The venue's time, which never repeats, so that groups can be distinguished. */
  const now = () => {
    lastMs = Math.max(Date.now(), lastMs + 1);
    return lastMs;
  };

  const bookJson = (assetId: string, message: BookMessage) => ({
    event_type: 'book',
    market: books.get(assetId)?.market,
    asset_id: assetId,
    timestamp: message.timestamp,
    hash: message.hash,
    bids: message.bids,
    asks: message.asks,
    tick_size: '0.001',
    last_trade_price: books.get(assetId)?.book.lastTradePrice() ?? '',
  });
  const changeJson = (assetId: string, changes: readonly ChangeMessage[]) => ({
    event_type: 'price_change',
    market: books.get(assetId)?.market,
    timestamp: changes[0]?.timestamp,
    price_changes: changes.map(({ side, price, size, hash, bestBid, bestAsk }) => ({
      asset_id: assetId,
      price,
      size,
      side,
      hash,
      best_bid: bestBid,
      best_ask: bestAsk,
    })),
  });
  const send = (assetId: string, message: unknown) => {
    if (silent.has(assetId)) return;
    for (const { socket, tokens } of clients) if (tokens.has(assetId)) socket.send(JSON.stringify(message));
  };

  const http = createServer((request, response) => {
    const tokenId = new URL(request.url ?? '', 'http://x').searchParams.get('token_id') ?? '';
    restRequests.set(tokenId, (restRequests.get(tokenId) ?? 0) + 1);
    const found = books.get(tokenId);
    if (restStatus !== null) response.writeHead(restStatus).end('no');
    else if (found === undefined || !found.hasBook) response.writeHead(404).end('{"error":"No orderbook exists"}');
    else
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ ...bookJson(tokenId, found.book.book(now())), min_order_size: '5', neg_risk: false }));
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await new Promise<void>((resolve) => server.once('listening', resolve));

  server.on('connection', (socket) => {
    const client: Client = { socket, tokens: new Set() };
    clients.push(client);
    socket.on('close', () => clients.splice(clients.indexOf(client), 1));
    socket.on('message', (data) => {
      const text = String(data);
      if (text === 'PING') {
        socket.send('PONG');
        return;
      }
      const { operation, assets_ids: assetIds } = JSON.parse(text) as { operation?: string; assets_ids: string[] };
      const dump: unknown[] = [];
      for (const assetId of assetIds) {
        if (operation === 'unsubscribe') {
          client.tokens.delete(assetId);
          continue;
        }
        if (silent.get(assetId) === false) silent.delete(assetId);
        client.tokens.add(assetId);
        const found = books.get(assetId);
        if (found?.hasBook === true && !silent.has(assetId)) dump.push(bookJson(assetId, found.book.book(now())));
      }
      if (dump.length > 0) socket.send(JSON.stringify(dump));
    });
  });

  const bookOf = (assetId: string): VenueBook => {
    const found = books.get(assetId);
    if (found === undefined) throw new Error(`The venue has no token ${assetId}`);
    return found.book;
  };
  return {
    wsUrl: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`,
    restUrl: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    clients,
    restRequests,
    add(market, assetId, { hasBook = true } = {}) {
      const book = createVenueBook({ market, assetId });
      books.set(assetId, { market, book, hasBook });
      return book;
    },
    book: bookOf,
    order(assetId, side, ticks, size, how = 'sent') {
      const change = bookOf(assetId).change(now(), side, ticks, size);
      if (how === 'sent') send(assetId, changeJson(assetId, [change]));
      if (how === 'wrongHash') send(assetId, changeJson(assetId, [{ ...change, hash: 'f'.repeat(40) }]));
    },
    match(assetId, side, tradeLateMs = 0) {
      const timestamp = now();
      const match = bookOf(assetId).match(timestamp, side);
      if (match === null) return;
      for (const change of match.messages) send(assetId, changeJson(assetId, [change]));
      setTimeout(
        () =>
          send(assetId, {
            event_type: 'last_trade_price',
            market: books.get(assetId)?.market,
            asset_id: assetId,
            price: match.price,
            size: '7',
            side,
            fee_rate_bps: '0',
            timestamp: String(timestamp),
          }),
        tradeLateMs,
      );
    },
    silence: (assetId, forever = false) => silent.set(assetId, forever),
    failRest(status) {
      restStatus = status;
    },
    raw(text) {
      for (const { socket } of clients) socket.send(text);
    },
    cut() {
      for (const { socket } of clients) socket.terminate();
    },
    async stop() {
      for (const socket of server.clients) socket.terminate();
      await new Promise<void>((resolve) => server.close(() => resolve()));
      http.closeAllConnections();
      await new Promise<void>((resolve) => http.close(() => resolve()));
    },
  };
}
