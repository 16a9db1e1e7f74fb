import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { inflateRawSync } from 'node:zlib';
import WebSocket from 'ws';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { createMetrics } from '../../infra/telemetry/metrics.js';
import type { BookLevel, BookSide } from '../../schemas/order-book/book.js';
import { plans } from '../../schemas/plans.js';
import type { OrderBookUpdate, SourceStatus } from '../../schemas/types.gen.js';
import { createLocalAdmission } from '../admission/local-admission.js';
import { createBookStore } from './book-store.js';
import type { OrderBookLimits } from './limits.js';
import { resolveMarkets } from './resolve-markets.js';
import { startOrderBookServer } from './server.js';

/** A record of orderbook.updates for tests: a whole book by default. */
export function bookRecord(tokenId: string, seq: number, over: Partial<OrderBookUpdate> = {}): OrderBookUpdate {
  return {
    id: `e1-${tokenId}-${seq}`,
    update_type: 'book',
    token_id: tokenId,
    condition_id: `0x${tokenId.slice(0, -1)}`,
    timestamp_ms: 1_790_000_000_000 + seq,
    hash: null,
    bids: [],
    asks: [],
    best_bid: null,
    best_ask: null,
    price: null,
    size: null,
    side: null,
    tick_size: null,
    transaction_hash: null,
    epoch: 'e1',
    seq,
    received_ms: seq,
    verified: true,
    verified_since_ms: 1_790_000_000_000,
    reason: null,
    fee_rate_bps: null,
    synthetic: false,
    ...over,
  };
}

/** A status of the order-book source for tests: connected and live by default. */
export function sourceStatus(over: Partial<SourceStatus>): SourceStatus {
  return {
    source: 'orderbook',
    mode: 'live',
    connected: true,
    detail: '',
    head: null,
    finalized: null,
    last_event_ms: null,
    updated_at_ms: 1,
    shift_days: null,
    recorded_from_ms: null,
    phase: 'live',
    progress: null,
    pending: null,
    metadata: null,
    order_books: null,
    read_until_ms: null,
    rereading: null,
    reread: null,
    gap: null,
    connected_changed_ms: null,
    ...over,
  };
}

/** A real server on a free port over a store that the test fills. Batches are sent by `server.flush` unless `limits.batchMs` is set. */
export async function startTestOrderBook(
  over: Omit<Partial<Parameters<typeof startOrderBookServer>[0]>, 'limits'> & {
    limits?: Partial<OrderBookLimits>;
  } = {},
) {
  const store = over.store ?? createBookStore();
  store.markLoaded(0);
  const metrics = createMetrics({ process: 'test', defaults: false });
  const server = await startOrderBookServer({
    host: '127.0.0.1',
    port: 0,
    allowedHosts: ['books.example'],
    verifyKey(key) {
      if (key === '') return { status: 'malformed' };
      if (key === 'revoked') return { status: 'inactive' };
      const terms = plans[key.startsWith('free') ? 'free' : 'enterprise'];
      return { status: 'ok', accountId: key, keyHash: key, terms };
    },
    admission: createLocalAdmission(),
    meter: { add: () => undefined },
    namesOf: () => undefined,
    resolve: (entries) =>
      resolveMarkets(entries, {
        store,
        lookup: { bySlugs: async () => [], byConditions: async () => [] },
        tokens: { knownTokens: async () => new Set() },
      }),
    ready: () => true,
    metrics,
    logger: silentLogger(),
    ...over,
    limits: { batchMs: 0, ...over.limits },
    store,
  });
  return { server, store, metrics };
}

type Json = Record<string, unknown>;
/** Long enough on a busy machine; only a failing test waits this long. */
const WAIT_MS = 10_000;

const sha256 = (text: string | Buffer): Buffer => createHash('sha256').update(text).digest();
/** The shortest text of a decimal, by arithmetic on its digits. */
const shortest = (text: string): string => {
  const [whole = '', fraction = ''] = text.split('.');
  return `${BigInt(whole === '' ? '0' : whole)}.${fraction}`.replace(/\.?0*$/, '') || '0';
};

/** What a client has of one token. */
export interface ClientBook {
  readonly BUY: Map<string, string>;
  readonly SELL: Map<string, string>;
  seq: number;
  verified: boolean;
  /** Newest step, with integrity. */
  step: number;
}

/** Checksum of a client's book under pn1, from the definition of the protocol. */
export function clientChecksum(book: ClientBook): string {
  const sum = Buffer.alloc(32);
  for (const [letter, side] of [
    ['B', book.BUY],
    ['A', book.SELL],
  ] as const)
    for (const [price, size] of side)
      sha256(`pn1:level\0${letter}\0${price}\0${shortest(size)}`).forEach((byte, i) => {
        sum[i] = (sum[i] ?? 0) ^ byte;
      });
  return sha256(Buffer.concat([Buffer.from(`pn1:book\0${book.BUY.size}\0${book.SELL.size}\0`), sum])).toString('hex');
}

/**
 * A client that keeps books by the documented rules and nothing else: a snapshot replaces, a change sets the size of a level, 0 removes it. With integrity it
 * throws if a step is missing or a checksum differs.
 */
function createBookKeeper() {
  const books = new Map<string, ClientBook>();
  const bookOf = (tokenId: string): ClientBook => {
    const found = books.get(tokenId) ?? { BUY: new Map(), SELL: new Map(), seq: 0, verified: false, step: 0 };
    books.set(tokenId, found);
    return found;
  };
  const set = (book: ClientBook, side: BookSide, { price, size }: BookLevel) => {
    if (shortest(size) === '0') book[side].delete(shortest(price));
    else book[side].set(shortest(price), size);
  };
  const check = (book: ClientBook, integrity: Json | undefined) => {
    if (integrity === undefined) return;
    if (integrity.anchor !== true && integrity.prev_seq !== book.step)
      throw new Error(`step ${integrity.prev_seq} after ${book.step}`);
    book.step = integrity.seq as number;
    if (clientChecksum(book) !== integrity.checksum) throw new Error(`checksum differs at step ${book.step}`);
  };
  const apply = (update: Json) => {
    if (update.type === 'book_snapshot') {
      const book = bookOf(update.asset_id as string);
      book.BUY.clear();
      book.SELL.clear();
      for (const level of update.bids as BookLevel[]) set(book, 'BUY', level);
      for (const level of update.asks as BookLevel[]) set(book, 'SELL', level);
      Object.assign(book, { seq: update.seq, verified: update.verified });
      check(book, update.integrity as Json | undefined);
    } else if (update.type === 'book_update') {
      const book = bookOf(update.asset_id as string);
      for (const level of update.bids as BookLevel[]) set(book, 'BUY', level);
      for (const level of update.asks as BookLevel[]) set(book, 'SELL', level);
      Object.assign(book, { seq: update.seq, verified: update.verified });
      check(book, update.integrity as Json | undefined);
    } else if (update.type === 'price_change') {
      for (const row of update.assets as (BookLevel & {
        asset_id: string;
        side: BookSide;
        seq: number;
        verified: boolean;
      })[]) {
        const book = bookOf(row.asset_id);
        set(book, row.side, row);
        Object.assign(book, { seq: row.seq, verified: row.verified });
      }
      if (update.asset_id !== undefined) check(bookOf(update.asset_id as string), update.integrity as Json | undefined);
    } else if (update.type === 'book_status') bookOf(update.asset_id as string).verified = update.verified as boolean;
  };
  return {
    books,
    receive(frame: Json) {
      if (frame.type === 'snapshot_batch') for (const one of frame.snapshots as Json[]) apply(one);
      else if (frame.type === 'batch') for (const one of frame.updates as Json[]) apply(one);
      else if (frame.type === 'book_snapshot') apply(frame);
    },
  };
}

/** A client of the order-book socket that records its frames and keeps books. */
export async function connectBookClient(
  server: { readonly port: number },
  options: {
    key?: string;
    integrity?: string;
    compress?: boolean;
    deflateExtension?: boolean;
    autoPong?: boolean;
    /** Called after each frame; what it throws is thrown by `verify`. */
    onFrame?: (books: ReadonlyMap<string, ClientBook>, frame: Json) => void;
  } = {},
) {
  const query = new URLSearchParams({ key: options.key ?? 'big' });
  if (options.integrity !== undefined) query.set('integrity', options.integrity);
  if (options.compress === true) query.set('compress', 'zlib');
  const socket = new WebSocket(`ws://127.0.0.1:${server.port}/ws?${query}`, {
    perMessageDeflate: options.deflateExtension ?? false,
    maxPayload: 0,
    autoPong: options.autoPong ?? true,
  });
  const frames: Json[] = [];
  const raw: { readonly bytes: number; readonly isBinary: boolean }[] = [];
  const keeper = createBookKeeper();
  let failure: unknown = null;
  let wake: () => void = () => undefined;
  socket.on('message', (data: Buffer, isBinary) => {
    const frame = JSON.parse((isBinary ? inflateRawSync(data) : data).toString()) as Json;
    raw.push({ bytes: data.length, isBinary });
    frames.push(frame);
    try {
      keeper.receive(frame);
      options.onFrame?.(keeper.books, frame);
    } catch (error) {
      failure ??= error;
    }
    wake();
  });
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.on('close', (code, reason) => resolve({ code, reason: reason.toString() }));
  });
  socket.on('error', () => undefined);
  await once(socket, 'open');
  let read = 0;
  const next = async (): Promise<Json> => {
    const deadline = Date.now() + WAIT_MS;
    while (frames.length <= read) {
      const left = deadline - Date.now();
      if (left <= 0) throw new Error(`no frame; last ${JSON.stringify(frames.at(-1))}`);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, left);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    return frames[read++] as Json;
  };
  return {
    socket,
    frames,
    raw,
    closed,
    books: keeper.books,
    /** Throws if a step was missing or a checksum differed. */
    verify() {
      if (failure !== null) throw failure;
    },
    next,
    /** The next frame of the type that `next` has not returned yet; those before it are skipped. */
    async nextOf(type: string): Promise<Json> {
      for (;;) {
        const frame = await next();
        if (frame.type === type || (type === 'error' && 'error' in frame)) return frame;
      }
    },
    send: (message: unknown) => socket.send(typeof message === 'string' ? message : JSON.stringify(message)),
  };
}
