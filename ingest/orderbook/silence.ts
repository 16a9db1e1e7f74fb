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
/** A token that neither helped is subscribed again this often, and its connection left to the tokens that it serves, until it was not silent for an hour. */
const HOPELESS_RETRY_MS = 5 * 60_000;
const HOPELESS_MS = 60 * 60_000;

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
  /** How often a token was silent in a row, and when it was found. */
  const history = new Map<string, { readonly count: number; readonly atMs: number }>();
  /** Numbers the finding: 1 is new, 2 is after a new subscription, more are after a new connection. */
  const countFinding = (tokenId: string, nowMs: number): number => {
    const before = history.get(tokenId) ?? { count: 0, atMs: 0 };
    const inRow = nowMs - before.atMs < (before.count > 1 ? HOPELESS_MS : AGAIN_MS);
    const count = inRow ? before.count + 1 : 1;
    history.set(tokenId, { count, atMs: nowMs });
    return count;
  };
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
        history.delete(tokenId);
      }
    },
    check(nowMs) {
      const found = new Map<string, SilentToken['why']>();
      for (const [tokenId, sinceMs] of firstBookDue) {
        const receivedMs = deps.receivedMs(tokenId);
        if (receivedMs !== null && receivedMs >= sinceMs) firstBookDue.delete(tokenId);
        else if (nowMs - sinceMs >= ((history.get(tokenId)?.count ?? 0) > 2 ? HOPELESS_RETRY_MS : FIRST_BOOK_MS)) {
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
        const count = countFinding(tokenId, nowMs);
        if (count <= 2) recent.push(nowMs);
        const reconnect = count === 2 || (count === 1 && recent.length >= RECONNECT_AFTER);
        if (reconnect) recent = [];
        silent.push({ tokenId, why, reconnect });
      }
      return silent;
    },
  };
}
