/** Messages that a connection may send per second on average, and at once. */
const MESSAGES_PER_S = 20;
const BURST = 100;

/** Token bucket of one connection's messages. `take` returns 0, or the milliseconds until the next message is allowed. */
export function createMessageRate(nowMs: () => number): { take(): number } {
  let available = BURST;
  let atMs = nowMs();
  return {
    take() {
      const now = nowMs();
      available = Math.min(BURST, available + (Math.max(0, now - atMs) * MESSAGES_PER_S) / 1_000);
      atMs = now;
      if (available < 1) return Math.ceil(((1 - available) * 1_000) / MESSAGES_PER_S);
      available--;
      return 0;
    },
  };
}
