import type { OrderBookUpdate } from '../../schemas/types.gen.js';
import { createTokenBook, type TokenBook } from './token-book.js';

/** A token without a record for so long is no longer followed: ingest repeats each book within five minutes. */
const RETIRE_AFTER_MS = 10 * 60_000;

/** The books of all tokens, in memory, from the records of orderbook.updates. */
export interface BookStore {
  apply(record: OrderBookUpdate, nowMs: number): void;
  /** What was written before the start is read: from now on books of earlier runs of the source count as unverified. */
  markLoaded(nowMs: number): void;
  /**
   * The source reports this run: until it sends a book again, the book counts as unverified. Without effect for a run that was reported before, and for the
   * first one if it has written records. A run after which another one was reported counts again once it `isAlone`: the other one had ended and was late.
   * Call once the store is loaded.
   */
  sourceStarted(epoch: string, nowMs: number, isAlone?: boolean): void;
  /** The source has stopped writing: all books count as unverified until it writes again. */
  sourceUnreachable(nowMs: number): void;
  /** Retires tokens that the source no longer follows, and forgets those retired before. */
  expire(nowMs: number): void;
  get(tokenId: string): TokenBook | undefined;
  tokenIds(): IterableIterator<string>;
  tokensOfCondition(conditionId: string): readonly string[];
  /** Books with pending changes. */
  dirty(): ReadonlySet<TokenBook>;
  /** Call once the pending changes are sent. */
  clearDirty(): void;
  readonly size: number;
  counts(): { readonly verified: number; readonly unverified: number };
}

export function createBookStore(): BookStore {
  const books = new Map<string, TokenBook>();
  const byCondition = new Map<string, Set<string>>();
  const lastRecordMs = new Map<string, number>();
  const dirty = new Set<TokenBook>();
  const retired = new Set<string>();
  let loaded = false;
  let unreachable = false;
  /** The newest run of the source, and when its newest record was written. */
  let epoch = '';
  let newestMs = 0;
  /** Runs that have written, those that reported, and those after which another one reported: their late records do not bring trust back. */
  const written = new Set<string>();
  const reported = new Set<string>();
  const ended = new Set<string>();

  const distrust = (book: TokenBook, nowMs: number) => {
    book.sourceUnreachable(nowMs);
    if (book.pending !== null) dirty.add(book);
  };
  /** Books of the run `of` are as it left them; what other runs have missed is unknown until they are sent again. */
  const sourceActive = (of: string, nowMs: number) => {
    unreachable = false;
    for (const book of books.values())
      if (book.epoch !== of) distrust(book, nowMs);
      else if (book.sourceReachable(nowMs)) dirty.add(book);
  };
  const forget = (tokenId: string) => {
    const conditionId = books.get(tokenId)?.conditionId ?? '';
    byCondition.get(conditionId)?.delete(tokenId);
    if (byCondition.get(conditionId)?.size === 0) byCondition.delete(conditionId);
    books.delete(tokenId);
    lastRecordMs.delete(tokenId);
    retired.delete(tokenId);
  };

  return {
    apply(record, nowMs) {
      const { token_id: tokenId, condition_id: conditionId } = record;
      const writtenMs = record.received_ms ?? nowMs;
      written.add(record.epoch);
      if (writtenMs >= newestMs && !ended.has(record.epoch)) {
        newestMs = writtenMs;
        const began = record.epoch !== epoch;
        epoch = record.epoch;
        if (loaded && began) sourceActive(epoch, nowMs);
      }
      // Whatever its clock says: it may have been set back.
      if (loaded && unreachable && record.epoch === epoch && !ended.has(epoch)) sourceActive(epoch, nowMs);
      const book = books.get(tokenId) ?? createTokenBook(tokenId);
      books.set(tokenId, book);
      if (conditionId !== null) {
        const tokens = byCondition.get(conditionId) ?? new Set();
        byCondition.set(conditionId, tokens.add(tokenId));
      }
      lastRecordMs.set(tokenId, nowMs);
      retired.delete(tokenId);
      if (book.apply(record, nowMs)) dirty.add(book);
      if (loaded && ended.has(record.epoch)) distrust(book, nowMs);
    },
    markLoaded(nowMs) {
      loaded = true;
      sourceActive(epoch, nowMs);
    },
    sourceStarted(started, nowMs, isAlone = false) {
      if (reported.has(started) && !(isAlone && ended.has(started))) return;
      const isFirst = reported.size === 0;
      reported.add(started);
      if (started === epoch || (isFirst && written.has(started))) return;
      ended.delete(started);
      ended.add(epoch);
      epoch = started;
      // Its clock may be behind that of the run before.
      newestMs = 0;
      sourceActive(epoch, nowMs);
    },
    sourceUnreachable(nowMs) {
      if (unreachable) return;
      unreachable = true;
      for (const book of books.values()) distrust(book, nowMs);
    },
    expire(nowMs) {
      for (const tokenId of [...retired]) forget(tokenId);
      for (const [tokenId, atMs] of lastRecordMs) {
        const book = books.get(tokenId);
        if (book === undefined || nowMs - atMs < RETIRE_AFTER_MS) continue;
        book.retire(nowMs);
        if (book.pending !== null) dirty.add(book);
        retired.add(tokenId);
      }
    },
    get: (tokenId) => books.get(tokenId),
    tokenIds: () => books.keys(),
    tokensOfCondition: (conditionId) => [...(byCondition.get(conditionId) ?? [])],
    dirty: () => dirty,
    clearDirty() {
      for (const book of dirty) book.clearPending();
      dirty.clear();
    },
    get size() {
      return books.size;
    },
    counts() {
      let verified = 0;
      for (const book of books.values()) if (book.status.verified) verified++;
      return { verified, unverified: books.size - verified };
    },
  };
}
