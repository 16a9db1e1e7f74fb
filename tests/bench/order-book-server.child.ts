import { once } from 'node:events';
import { type WebSocket, WebSocketServer } from 'ws';
import { createCodec } from '../../schemas/codec.js';
import { bookRecord, startTestOrderBook } from '../../stream-gateway/order-book/testing.js';

/** Server of the order-book benchmark: `socket`, or `loop`: a library's loop that sends each change to each subscriber as JSON of its own. */
export interface BookServerCommand {
  /** Changes per second, for so long. */
  readonly perS: number;
  readonly ms: number;
}
export interface BookServerResult {
  /** After the start. */
  readonly port?: number;
  readonly changes?: number;
  /** CPU time of the process, ms. */
  readonly cpuMs?: number;
}

const BOOKS = 2_000;
const bookToken = (n: number): string => `${800_000_000_000 + n}`;
const LEVELS = 20;
const TICK_MS = 10;

const codec = createCodec();
const sequences = new Uint32Array(BOOKS);
const price = (n: number) => `0.${String(n).padStart(2, '0')}`;
let state = 1;
/** Numerical Recipes' generator: the same changes in every run. 0 <= x < 1. */
const random = () => {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return state / 2 ** 32;
};
/** Some books are far busier than others, and most changes are near the best price. */
const busyBook = () => Math.floor(BOOKS * random() ** 3);
const nearBest = () => Math.floor(LEVELS * random() ** 2);
const encodeBook = (n: number): Buffer => {
  const levels = (from: number, step: number) =>
    Array.from({ length: LEVELS }, (_, i) => ({ price: price(from + i * step), size: '100' }));
  sequences[n] = (sequences[n] ?? 0) + 1;
  return codec.encode(
    'order_book_update',
    bookRecord(bookToken(n), sequences[n] as number, { bids: levels(49, -1), asks: levels(51, 1) }),
  );
};
/** The size of the level is the time of the change, so that subscribers know its age. */
const encodeChange = (n: number, nowMs: number): Buffer => {
  sequences[n] = (sequences[n] ?? 0) + 1;
  const bid = random() < 0.5;
  const level = [{ price: price(bid ? 49 - nearBest() : 51 + nearBest()), size: String(nowMs) }];
  const over = {
    update_type: 'price_change',
    received_ms: nowMs,
    ...(bid ? { bids: level } : { asks: level }),
  } as const;
  return codec.encode('order_book_update', bookRecord(bookToken(n), sequences[n] as number, over));
};
const decode = (value: Buffer) => {
  const event = codec.decode(value);
  if (event.kind !== 'order_book_update') throw new Error('not an order book record');
  return event.value;
};

async function startSocket() {
  const { server, store } = await startTestOrderBook({ limits: { batchMs: 250 } });
  return { port: server.port, apply: (value: Buffer) => store.apply(decode(value), Date.now()) };
}

async function startLoop() {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false });
  await once(server, 'listening');
  const subscribers = new Map<string, WebSocket[]>();
  server.on('connection', (socket) =>
    socket.on('message', (data) => {
      const { markets } = JSON.parse(String(data)) as { markets: string[] };
      for (const token of markets) subscribers.set(token, [...(subscribers.get(token) ?? []), socket]);
      socket.send(JSON.stringify({ type: 'snapshots_done', total: 0 }));
    }),
  );
  const apply = (value: Buffer) => {
    const { token_id, condition_id: market, update_type, bids, asks, verified, seq } = decode(value);
    if (update_type !== 'price_change') return;
    for (const socket of subscribers.get(token_id) ?? []) {
      const assets = [
        ...bids.map((one) => ({ ...one, side: 'BUY' })),
        ...asks.map((one) => ({ ...one, side: 'SELL' })),
      ].map((one) => ({ asset_id: token_id, ...one, best_bid: '0.49', best_ask: '0.51', verified, seq }));
      const update = { type: 'price_change', market, assets };
      socket.send(JSON.stringify({ type: 'batch', ts: Date.now(), count: 1, updates: [update] }));
    }
  };
  return { port: (server.address() as { port: number }).port, apply };
}

const { port, apply } = process.argv[2] === 'loop' ? await startLoop() : await startSocket();
for (let n = 0; n < BOOKS; n++) apply(encodeBook(n));
const send = (result: BookServerResult) => process.send?.(result);

process.on('message', (command: BookServerCommand) => {
  const { perS, ms } = command;
  const before = process.cpuUsage();
  const startMs = performance.now();
  let changes = 0;
  const timer = setInterval(() => {
    const elapsedMs = Math.min(ms, performance.now() - startMs);
    for (const due = Math.floor((perS * elapsedMs) / 1_000); changes < due; changes++)
      apply(encodeChange(busyBook(), Date.now()));
    if (elapsedMs < ms) return;
    clearInterval(timer);
    const { user, system } = process.cpuUsage(before);
    send({ changes, cpuMs: (user + system) / 1_000 });
  }, TICK_MS);
});
send({ port });
