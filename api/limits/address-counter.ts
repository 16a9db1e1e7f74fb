export interface AddressCount {
  readonly allowed: boolean;
  /** UTC milliseconds; when this client's count starts again at 0. */
  readonly resetMs: number;
}

/** Key of the clients that found the table full. No address looks like it. */
const OVERFLOW = 'overflow';

/**
 * Counts requests per client in windows of `windowMs` that start with a client's first request. A client takes the same memory whatever it sends,
 * and the table has `maxClients` of them at most: further ones share one count until others expire, those in the table keep their own.
 */
export function createAddressCounter(options: { windowMs: number; limit: number; maxClients: number }) {
  const { windowMs, limit, maxClients } = options;
  // In the order in which the windows start: an expired one is removed before its client starts another.
  const windows = new Map<string, { readonly startMs: number; count: number }>();

  const removeExpired = (nowMs: number) => {
    for (const [client, { startMs }] of windows) {
      // A start in the future is of before the clock was set back.
      if (nowMs >= startMs && nowMs - startMs < windowMs) return;
      windows.delete(client);
    }
  };

  return {
    /** Clients in the table. */
    get size(): number {
      return windows.size;
    },
    /** Counts one request of `client`; a rejected one is not counted. */
    take(client: string, nowMs: number): AddressCount {
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
