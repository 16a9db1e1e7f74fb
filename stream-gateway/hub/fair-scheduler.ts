/** Takes turns among connections, so that one with much to answer does not hold up the others. */
export interface FairScheduler {
  /** Resolves when it is this caller's turn: after everybody who asked before. */
  nextTurn(): Promise<void>;
}

/** Requests are answered for so long at a time; then the event loop reads all sockets, answers their pings and sends events. */
const TIME_BUDGET_MS = 5;

/**
 * One request after the other, round and round among the connections, for a few milliseconds per turn of the event loop. A single request is
 * bounded by the plan's message size and the snapshot window.
 */
export function createFairScheduler(options: { budgetMs?: number; now?: () => number } = {}): FairScheduler {
  const budgetMs = options.budgetMs ?? TIME_BUDGET_MS;
  const now = options.now ?? performance.now.bind(performance);
  const waiting: (() => void)[] = [];
  let budgetEndsAtMs = 0;
  const step = () => {
    waiting.shift()?.();
    if (waiting.length === 0) return;
    // A tick queued by a microtask comes after all microtasks: what the caller did with his turn is done, and counts.
    queueMicrotask(() => process.nextTick(again));
  };
  const again = () => {
    if (now() < budgetEndsAtMs) step();
    else setImmediate(start);
  };
  const start = () => {
    budgetEndsAtMs = now() + budgetMs;
    step();
  };
  return {
    nextTurn: () =>
      new Promise((resolve) => {
        waiting.push(resolve);
        if (waiting.length === 1) setImmediate(start);
      }),
  };
}
