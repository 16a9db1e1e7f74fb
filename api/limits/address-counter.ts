/** Shared key of clients that arrive while the table is full. It cannot equal an address. */
const OVERFLOW = 'overflow';

/**
 * Counts requests per client in windows of `windowMs` that start with a client's first request. Memory per client is constant;
 * the table has at most `maxClients` entries: further clients share one count until entries expire.
 */
export function createAddressCounter(options: { windowMs: number; limit: number; maxClients: number }) {
  const { windowMs, limit, maxClients } = options;
  // In order of window start: an expired window is removed before its client starts another.
  const windows = new Map<string, { readonly startMs: number; count: number }>();

  const removeExpired = (nowMs: number) => {
    for (const [client, { startMs }] of windows) {
      // A start in the future precedes a backward step of the clock.
      if (nowMs >= startMs && nowMs - startMs < windowMs) return;
      windows.delete(client);
    }
  };

  return {
    /** Clients in the table. */
    get size(): number {
      return windows.size;
    },
    /** Counts one request of `client`; a rejected one is not counted. `resetMs`: UTC milliseconds at which the count of this client returns to 0. */
    take(client: string, nowMs: number) {
      removeExpired(nowMs);
      const key = windows.has(client) || windows.size < maxClients ? client : OVERFLOW;
      const window = windows.get(key) ?? { startMs: nowMs, count: 0 };
      windows.set(key, window);
      const allowed = window.count < limit;
      if (allowed) window.count += 1;
      return { allowed, resetMs: window.startMs + windowMs };
    },
  };
}
