/** Schedules requests of many connections, so that one with many requests does not delay the others. */
export interface FairScheduler {
  /** Resolves when the caller may handle one request: in the order of the calls. */
  nextTurn(): Promise<void>;
}

/** Time for requests per event-loop iteration; then the loop reads all sockets, responds to pings and sends events. */
const TIME_BUDGET_MS = 5;

/**
 * Handles one request after the other for a few milliseconds per event-loop iteration. Each connection has at most one request in the queue, so the order is
 * round-robin. The plan's message size and the snapshot window bound the time of a single request.
 */
export function createFairScheduler(options: { budgetMs?: number; now?: () => number } = {}): FairScheduler {
  const budgetMs = options.budgetMs ?? TIME_BUDGET_MS;
  const now = options.now ?? performance.now.bind(performance);
  const waiting: (() => void)[] = [];
  let budgetEndsAtMs = 0;
  const step = () => {
    waiting.shift()?.();
    if (waiting.length === 0) return;
    // A tick queued by a microtask runs after all microtasks: by then the caller's synchronous work is done and counts towards the budget.
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
