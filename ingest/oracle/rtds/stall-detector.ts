/** What to do about silence: ask again for some subscriptions, or give the connection up. */
export type StallAction =
  | { readonly type: 'ok' }
  | { readonly type: 'resubscribe'; readonly keys: readonly string[] }
  | { readonly type: 'reconnect'; readonly reason: string };

const MAX_DOUBLINGS = 5;
const MAX_FAILED_RESUBSCRIBES = 3;

/**
 * The stale timer of one connection. The service is known to stop sending while the socket stays open and pings are answered.
 *
 * - A subscription without data for `staleMs` is asked for again, then after 2, 4, ... 32 times that long.
 * - A connection none of whose subscriptions brought data for `2 * staleMs` is given up.
 * - So is one where a subscription that used to deliver stays silent through three askings.
 *
 * A subscription the service never serves is thus asked for ever more rarely and never costs the connection. Times are any monotonic
 * milliseconds.
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
