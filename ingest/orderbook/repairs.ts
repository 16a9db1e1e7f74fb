import pLimit from 'p-limit';
import { pause } from '../shared/pause.js';
import type { VenueMessage } from './messages.js';

const CONCURRENCY = 8;
const FIRST_DELAY_MS = 250;
const MAX_DELAY_MS = 5 * 60_000;
/** A book that was right for so long, or for so many times the next delay, is repaired without delay: books are rarely unverified because of delays. */
const QUIET_MS = 10 * 60_000;
const QUIET_DELAYS = 20;

export interface Repairs {
  /** Fetches a fresh book of the token; several requests for one are one. Repeated repairs of a token are delayed more and more. */
  request(tokenId: string, reason: string): void;
  forget(tokenIds: readonly string[]): void;
  /** False for tokens that the venue said to have no book, or an empty one: it may send nothing about them. */
  mayHaveBook(tokenId: string): boolean;
  /** Resolves when no repair is running. */
  idle(): Promise<void>;
}

/** Replaces books that are not the venue's by fresh ones. */
export function createRepairs(deps: {
  fetch: (tokenId: string, reason: string, signal: AbortSignal) => Promise<(VenueMessage & { type: 'book' }) | null>;
  /** False once the subscription has brought the book; asked when the turn of the token comes. */
  isNeeded: (tokenId: string) => boolean;
  onBook: (book: VenueMessage & { type: 'book' }) => void;
  /** The venue has no book of the token; the request has ended. */
  onMissing: (tokenId: string) => void;
  onFailed: (tokenId: string, error: unknown) => void;
  signal: AbortSignal;
  nowMs: () => number;
  firstDelayMs?: number;
}): Repairs {
  const { signal, nowMs, firstDelayMs = FIRST_DELAY_MS } = deps;
  const limit = pLimit(CONCURRENCY);
  const running = new Map<string, Promise<void>>();
  /** How often a token was repaired in a row, and the end of the last time. */
  const history = new Map<string, { readonly count: number; readonly endedMs: number }>();
  const without = new Set<string>();

  const delayAfter = (count: number): number =>
    count === 0 ? 0 : Math.min(MAX_DELAY_MS, firstDelayMs * 2 ** Math.min(count, 20));
  const countOf = (tokenId: string): number => {
    const past = history.get(tokenId);
    if (past === undefined) return 0;
    const quietMs = Math.min(QUIET_MS, QUIET_DELAYS * delayAfter(past.count));
    return nowMs() - past.endedMs > quietMs ? 0 : past.count;
  };
  const repair = async (tokenId: string, reason: string): Promise<void> => {
    let count = countOf(tokenId);
    await pause(delayAfter(count), signal);
    while (!signal.aborted && running.has(tokenId)) {
      try {
        const book = await limit(async () => {
          if (deps.isNeeded(tokenId)) return deps.fetch(tokenId, reason, signal);
          running.delete(tokenId);
          return undefined;
        });
        if (book === undefined || signal.aborted || !running.has(tokenId)) return;
        running.delete(tokenId);
        history.set(tokenId, { count: count + 1, endedMs: nowMs() });
        if (book === null) {
          without.add(tokenId);
          deps.onMissing(tokenId);
        } else {
          if (book.book.bids.length + book.book.asks.length === 0) without.add(tokenId);
          else without.delete(tokenId);
          deps.onBook(book);
        }
        return;
      } catch (error) {
        if (signal.aborted) return;
        deps.onFailed(tokenId, error);
        await pause(delayAfter(++count), signal);
      }
    }
  };
  return {
    request(tokenId, reason) {
      if (running.has(tokenId) || signal.aborted) return;
      const run: Promise<void> = repair(tokenId, reason).finally(() => {
        if (running.get(tokenId) === run) running.delete(tokenId);
      });
      running.set(tokenId, run);
    },
    forget(tokenIds) {
      for (const tokenId of tokenIds) {
        running.delete(tokenId);
        history.delete(tokenId);
        without.delete(tokenId);
      }
    },
    mayHaveBook: (tokenId) => !without.has(tokenId),
    async idle() {
      await Promise.all(running.values());
    },
  };
}
