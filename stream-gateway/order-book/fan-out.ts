import { batchFrames } from './batch-frames.js';
import type { DataFrame } from './book-peer.js';
import type { BookStore } from './book-store.js';
import type { TokenBook } from './token-book.js';
import { type NamesOf, priceChangeText, stepText, type TokenUpdates, updatesOf } from './update-texts.js';

/** A subscriber of books. */
export interface Receiver {
  /** It verifies checksums: it gets steps and anchors instead of shared updates. */
  readonly integrity: boolean;
  /** Versions of the books that were sent to it since the last batch: what led to them is not sent again. A token that returns has another book. */
  readonly fresh: Map<TokenBook, number>;
  /** Adds updates to its next batch. */
  add(update: string): void;
  /** Adds the step of a token to its next batch. */
  addStep(tokenId: string, step: (prevSeq: number) => string): void;
  /** Sends a whole book with which the checksums of the token begin again. */
  sendAnchor(book: TokenBook): void;
  /** Sends the batch. */
  flush(nowMs: number): void;
}

/** Receivers of the updates of all books, which get the same batch. */
export interface FirehoseReceiver {
  /** Sends the frames of a batch. */
  send(frames: readonly DataFrame[]): void;
}

/** Sends what has changed to the subscribers of each token. */
export interface FanOut {
  add(receiver: Receiver, tokenId: string): void;
  remove(receiver: Receiver, tokenId: string): void;
  addFirehose(receiver: FirehoseReceiver): void;
  removeFirehose(receiver: FirehoseReceiver): void;
  /** Sends the changes since the last call. */
  flush(nowMs: number): void;
}

export function createFanOut(deps: {
  store: BookStore;
  namesOf: NamesOf;
  /** A receiver could not be served. */
  onError: (receiver: Receiver, error: unknown) => void;
}): FanOut {
  const { store, namesOf } = deps;
  const index = new Map<string, Set<Receiver>>();
  const firehoses = new Set<FirehoseReceiver>();
  const none: ReadonlySet<Receiver> = new Set();
  const receiversOf = (tokenId: string): ReadonlySet<Receiver> => index.get(tokenId) ?? none;
  const wants = (receiver: Receiver, book: TokenBook): boolean => receiver.fresh.get(book) !== book.version;

  /** A token's updates for receivers that verify checksums. */
  const addVerifiable = (receiver: Receiver, updates: TokenUpdates, step: ((prevSeq: number) => string) | null) => {
    const { book, status, trades } = updates;
    if (book.pending?.depth === 'snapshot') receiver.sendAnchor(book);
    else {
      if (status !== null) receiver.add(status);
      if (step !== null) receiver.addStep(book.tokenId, step);
    }
    for (const trade of trades) receiver.add(trade);
  };

  /** All but the rows of `price_change`, which tokens of a market share. */
  const addOwn = (updates: TokenUpdates, touched: Set<Receiver>) => {
    const { book, status, depth, trades } = updates;
    let step: ((prevSeq: number) => string) | null | undefined;
    for (const receiver of receiversOf(book.tokenId)) {
      if (!wants(receiver, book)) continue;
      touched.add(receiver);
      try {
        if (receiver.integrity) {
          if (step === undefined) step = stepText(book, namesOf(book.tokenId));
          addVerifiable(receiver, updates, step);
          continue;
        }
        if (status !== null) receiver.add(status);
        if (depth !== null) receiver.add(depth);
        for (const trade of trades) receiver.add(trade);
      } catch (error) {
        deps.onError(receiver, error);
      }
    }
  };

  const addRows = (market: readonly TokenUpdates[], all: string[]) => {
    const [first, second, ...more] = market.filter(({ rows }) => rows !== null);
    if (first === undefined) return;
    const textOf = (...of: readonly TokenUpdates[]) =>
      priceChangeText(first.book.conditionId, namesOf(first.book.tokenId), of.map(({ rows }) => rows).join(','));
    const send = (updates: TokenUpdates, text: string, except: ReadonlySet<Receiver>) => {
      for (const receiver of receiversOf(updates.book.tokenId))
        if (!receiver.integrity && !except.has(receiver) && wants(receiver, updates.book)) receiver.add(text);
    };
    if (second === undefined || more.length > 0) {
      for (const updates of [first, ...(second === undefined ? [] : [second]), ...more]) {
        const text = textOf(updates);
        all.push(text);
        send(updates, text, none);
      }
      return;
    }
    const both = textOf(first, second);
    all.push(both);
    const served = new Set<Receiver>();
    const others = receiversOf(second.book.tokenId);
    for (const receiver of receiversOf(first.book.tokenId))
      if (!receiver.integrity && others.has(receiver) && wants(receiver, first.book) && wants(receiver, second.book)) {
        receiver.add(both);
        served.add(receiver);
      }
    send(first, textOf(first), served);
    send(second, textOf(second), served);
  };

  return {
    add(receiver, tokenId) {
      const receivers = index.get(tokenId) ?? new Set();
      index.set(tokenId, receivers.add(receiver));
    },
    remove(receiver, tokenId) {
      const receivers = index.get(tokenId);
      receivers?.delete(receiver);
      if (receivers?.size === 0) index.delete(tokenId);
    },
    addFirehose: (receiver) => firehoses.add(receiver),
    removeFirehose: (receiver) => firehoses.delete(receiver),
    flush(nowMs) {
      const markets = new Map<string, TokenUpdates[]>();
      for (const book of store.dirty()) {
        if (firehoses.size === 0 && !index.has(book.tokenId)) continue;
        const updates = updatesOf(book, namesOf(book.tokenId));
        if (updates === null) continue;
        const key = book.conditionId ?? book.tokenId;
        const market = markets.get(key);
        if (market === undefined) markets.set(key, [updates]);
        else market.push(updates);
      }
      const touched = new Set<Receiver>();
      const all: string[] = [];
      for (const market of markets.values()) {
        for (const updates of market) {
          addOwn(updates, touched);
          const { status, depth, trades } = updates;
          if (status !== null) all.push(status);
          if (depth !== null) all.push(depth);
          all.push(...trades);
        }
        addRows(market, all);
      }
      for (const receiver of touched) {
        try {
          receiver.flush(nowMs);
        } catch (error) {
          deps.onError(receiver, error);
        }
      }
      if (firehoses.size > 0) {
        const frames = batchFrames(all, nowMs);
        for (const receiver of firehoses) receiver.send(frames);
      }
      store.clearDirty();
    },
  };
}
