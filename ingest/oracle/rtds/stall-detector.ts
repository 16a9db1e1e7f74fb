/** Action after a stall: subscribe again, or close the connection. */
export type StallAction =
  | { readonly type: 'ok' }
  | { readonly type: 'resubscribe'; readonly keys: readonly string[] }
  | { readonly type: 'reconnect'; readonly reason: string };

const MAX_DOUBLINGS = 5;
const MAX_FAILED_RESUBSCRIBES = 3;

/**
 * Detects stalls of one connection. The service sometimes stops sending data while the socket stays open and pongs arrive.
 *
 * - A subscription without data for `staleMs` is subscribed again, then after 2, 4, ... 32 times that time.
 * - A connection without data on any subscription for `2 * staleMs` is closed.
 * - A connection is closed as well when a subscription that delivered before stays silent after three new subscriptions.
 *
 * So a subscription that the service never serves is repeated with growing delays and never closes the connection. Times are monotonic
 * milliseconds of any origin.
 */
export interface StallDetector {
  recordData(key: string, nowMs: number): void;
  check(nowMs: number): StallAction;
}

export function createStallDetector(keys: readonly string[], staleMs: number, startedMs: number): StallDetector {
  const states = new Map(keys.map((key) => [key, { delivered: false, resubscribes: 0, dueMs: startedMs + staleMs }]));
  let lastDataMs = startedMs;

  return {
    recordData(key, nowMs) {
      const state = states.get(key);
      if (state === undefined) return;
      state.delivered = true;
      state.resubscribes = 0;
      state.dueMs = nowMs + staleMs;
      lastDataMs = nowMs;
    },
    check(nowMs) {
      if (nowMs - lastDataMs >= 2 * staleMs) return { type: 'reconnect', reason: 'no data on any subscription' };
      const stale: string[] = [];
      for (const [key, state] of states) {
        if (nowMs < state.dueMs) continue;
        if (state.delivered && state.resubscribes >= MAX_FAILED_RESUBSCRIBES) {
          return { type: 'reconnect', reason: `${key} stays silent` };
        }
        state.resubscribes++;
        state.dueMs = nowMs + staleMs * 2 ** Math.min(state.resubscribes, MAX_DOUBLINGS);
        stale.push(key);
      }
      return stale.length === 0 ? { type: 'ok' } : { type: 'resubscribe', keys: stale };
    },
  };
}
