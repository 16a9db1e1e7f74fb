import type { LogPosition } from './log-position.js';

/**
 * Where walks by offset began. Newest first, every arriving row moves the offsets of all older ones; so the first page of a walk fixes its
 * newest row, and later pages of the same caller and question count from there. Kept per process: a walk that reaches another process counts
 * from the newest row there; cursors need no memory.
 */
export interface PaginationSessions<Place = LogPosition> {
  /** Offset 0 of a walk was answered with this newest row; null: with nothing. */
  start(sessionKey: string, newest: Place | null): void;
  /** The newest row of the walk, or null where none is known. */
  asOf(sessionKey: string): Place | null;
}

const SESSION_TTL_MS = 15 * 60_000;
const MAX_SESSIONS = 20_000;

/** A walk is forgotten a quarter of an hour after its last page; the one longest unused goes first when there are too many. */
export function createPaginationSessions<Place = LogPosition>(options: {
  nowMs: () => number;
}): PaginationSessions<Place> {
  const sessions = new Map<string, { readonly newest: Place; usedMs: number }>();
  return {
    start(sessionKey, newest) {
      sessions.delete(sessionKey);
      if (newest === null) return;
      sessions.set(sessionKey, { newest, usedMs: options.nowMs() });
      while (sessions.size > MAX_SESSIONS) {
        const oldest = sessions.keys().next();
        if (oldest.done === true) break;
        sessions.delete(oldest.value);
      }
    },
    asOf(sessionKey) {
      const found = sessions.get(sessionKey);
      if (found === undefined) return null;
      sessions.delete(sessionKey);
      if (options.nowMs() - found.usedMs > SESSION_TTL_MS) return null;
      found.usedMs = options.nowMs();
      sessions.set(sessionKey, found);
      return found.newest;
    },
  };
}

/** Names a walk: who asks, what, and by what filters; the place within it is left out. */
export function paginationSessionKey(
  accountId: string | undefined,
  path: string,
  filters: Readonly<Record<string, unknown>>,
): string {
  const text = JSON.stringify(filters, (name, value: unknown) => {
    if (name === 'limit' || name === 'offset' || name === 'cursor') return undefined;
    return typeof value === 'bigint' ? `${value}n` : value;
  });
  return `${accountId ?? ''} ${path} ${text}`;
}
