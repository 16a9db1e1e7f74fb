import type { LogPosition } from './log-position.js';

/**
 * Newest row of the first page of each pagination session by offset. Every new row moves the offsets of all older ones; therefore later pages of the
 * same caller and request count from that row. Kept per process: a session that reaches another process counts from the newest row there. Cursors need
 * no session.
 */
export interface PaginationSessions<Position = LogPosition> {
  /** Records that the first page of a session began with this row; null: the page was empty. */
  start(sessionKey: string, newest: Position | null): void;
  /** The row that the session counts from; null for an unknown session. */
  asOf(sessionKey: string): Position | null;
}

const SESSION_TTL_MS = 15 * 60_000;
const MAX_SESSIONS = 20_000;

/** A session expires 15 minutes after its last page; beyond the limit the least recently used one is evicted. */
export function createPaginationSessions<Position = LogPosition>(options: {
  nowMs: () => number;
}): PaginationSessions<Position> {
  const sessions = new Map<string, { readonly newest: Position; usedMs: number }>();
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

/** Key of a pagination session: caller, path and filters, without the offset and limit. */
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
