/** Time after a subscription within which the first book must come. */
const FIRST_BOOK_MS = 10_000;
/** A trade on chain whose book did not change for so long before it ... */
const QUIET_BEFORE_MS = 30_000;
/** ... nor until so long after it was seen, proves that the feed of the token is dead. */
const QUIET_AFTER_MS = 5_000;
/** Silent tokens of the last minute after which the whole connection is opened again. */
const RECONNECT_AFTER = 3;
const WINDOW_MS = 60_000;
/** A token that is silent again within this time was not helped by a subscription: its connection is opened again. */
const AGAIN_MS = 5 * 60_000;

export interface SilentToken {
  readonly tokenId: string;
  readonly why: 'no_first_book' | 'trade_without_change';
  /** Several tokens were silent lately, or this one again: reconnect instead of subscribing the token again. */
  readonly reconnect: boolean;
}

export interface SilenceDetector {
  subscribed(tokenIds: readonly string[], nowMs: number): void;
  /** A trade of the token was seen on chain. */
  traded(tokenId: string, nowMs: number): void;
  forget(tokenIds: readonly string[]): void;
  /** Tokens found silent since the last call. */
  check(nowMs: number): readonly SilentToken[];
}

/**
 * Finds tokens that nothing is sent about although the venue responds to pings. `receivedMs`: when the newest message of a token arrived, null before the first;
 * `needsFirstBook`: false for tokens that have none at the venue.
 */
export function createSilenceDetector(deps: {
  receivedMs: (tokenId: string) => number | null;
  needsFirstBook: (tokenId: string) => boolean;
}): SilenceDetector {
  const firstBookDue = new Map<string, number>();
  const trades = new Map<string, number>();
  let recent: number[] = [];
  const silentBefore = new Map<string, number>();
  return {
    subscribed(tokenIds, nowMs) {
      for (const tokenId of tokenIds) firstBookDue.set(tokenId, nowMs);
    },
    traded(tokenId, nowMs) {
      if (!trades.has(tokenId)) trades.set(tokenId, nowMs);
    },
    forget(tokenIds) {
      for (const tokenId of tokenIds) {
        firstBookDue.delete(tokenId);
        trades.delete(tokenId);
        silentBefore.delete(tokenId);
      }
    },
    check(nowMs) {
      const found = new Map<string, SilentToken['why']>();
      for (const [tokenId, sinceMs] of firstBookDue) {
        const receivedMs = deps.receivedMs(tokenId);
        if (receivedMs !== null && receivedMs >= sinceMs) firstBookDue.delete(tokenId);
        else if (nowMs - sinceMs >= FIRST_BOOK_MS) {
          firstBookDue.delete(tokenId);
          if (deps.needsFirstBook(tokenId)) found.set(tokenId, 'no_first_book');
        }
      }
      for (const [tokenId, tradeMs] of trades) {
        if (nowMs - tradeMs < QUIET_AFTER_MS) continue;
        trades.delete(tokenId);
        const receivedMs = deps.receivedMs(tokenId);
        if (receivedMs !== null && receivedMs < tradeMs - QUIET_BEFORE_MS) found.set(tokenId, 'trade_without_change');
      }
      recent = recent.filter((atMs) => nowMs - atMs < WINDOW_MS);
      const silent: SilentToken[] = [];
      for (const [tokenId, why] of found) {
        recent.push(nowMs);
        const isAgain = nowMs - (silentBefore.get(tokenId) ?? Number.NEGATIVE_INFINITY) < AGAIN_MS;
        silentBefore.set(tokenId, nowMs);
        const reconnect = isAgain || recent.length >= RECONNECT_AFTER;
        if (reconnect) recent = [];
        silent.push({ tokenId, why, reconnect });
      }
      return silent;
    },
  };
}
