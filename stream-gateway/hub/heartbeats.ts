import { yieldToEventLoop } from '../../infra/event-loop.js';

/** Heartbeats are sent in chunks, so that events are delivered between them. */
const HEARTBEATS_PER_YIELD = 500;
/** Longest time between two checks for connections whose heartbeat is due. */
const MAX_CHECK_MS = 500;

/** Sends each member its heartbeat at its interval, measured from when it was added. */
export interface Heartbeats<M> {
  add(member: M, intervalMs: number): void;
  remove(member: M): void;
  close(): void;
}

/** `intervalMs`: the usual interval; shorter ones are allowed. */
export function createHeartbeats<M>(deps: { intervalMs: number; send: (member: M) => void }): Heartbeats<M> {
  const checkMs = Math.min(MAX_CHECK_MS, deps.intervalMs);
  const schedules = new Map<M, { readonly intervalMs: number; dueMs: number }>();
  let running = false;

  const sendDue = async () => {
    if (running) return;
    running = true;
    try {
      let sent = 0;
      // Half a check early, so that the mean interval is the requested one.
      const nowMs = performance.now() + checkMs / 2;
      for (const [member, schedule] of schedules) {
        if (schedule.dueMs > nowMs) continue;
        schedule.dueMs = Math.max(schedule.dueMs, nowMs - schedule.intervalMs) + schedule.intervalMs;
        deps.send(member);
        if (++sent % HEARTBEATS_PER_YIELD === 0) await yieldToEventLoop();
      }
    } finally {
      running = false;
    }
  };
  const timer = setInterval(() => void sendDue(), checkMs);

  return {
    add: (member, intervalMs) => schedules.set(member, { intervalMs, dueMs: performance.now() + intervalMs }),
    remove: (member) => schedules.delete(member),
    close: () => clearInterval(timer),
  };
}
