import type { Metrics } from '../telemetry/metrics.js';
import type { Check } from '../telemetry/readiness.js';

/** Records the attempts of a log engine and derives its health check and metrics. */
export interface LogHealth {
  /** An attempt failed with a transient error. `what` begins with the operation's name: `Append to topic "x", partition 0`. */
  recordFailure(what: string, error: unknown): void;
  recordSuccess(what: string): void;
  /** Also updates the metrics that depend on the current time. */
  check(): Check;
}

interface OngoingFailure {
  readonly sinceMs: number;
  lastMs: number;
  reason: string;
}

/** Leader changes and concurrent transactions cause short failures: a shorter one is no outage. */
const GRACE_PERIOD_MS = 1_000;
/** Engines retry at least this often, so an older failure belongs to a call that is no longer retried. */
const FAILURE_EXPIRY_MS = 20_000;

/** Health of the log as seen by one process. Metrics: `log_up`, `log_unavailable_seconds`, `log_errors_total{operation}`. */
export function createLogHealth(options: { metrics?: Metrics; nowMs?: () => number } = {}): LogHealth {
  const { metrics, nowMs = Date.now } = options;
  const up = metrics?.gauge('log_up', 'Whether the log serves this process: 1, or 0 while its calls fail');
  const seconds = metrics?.gauge(
    'log_unavailable_seconds',
    'How long calls of the log have been failing; 0 while none do',
  );
  const errors = metrics?.counter('log_errors_total', 'Log operations that failed and are retried', ['operation']);
  const failing = new Map<string, OngoingFailure>();
  up?.set(1);

  return {
    recordFailure(what, error) {
      const now = nowMs();
      const reason = error instanceof Error ? error.message : String(error);
      errors?.inc({ operation: /^\w+/.exec(what)?.[0].toLowerCase() ?? 'other' });
      const known = failing.get(what);
      if (known === undefined) failing.set(what, { sinceMs: now, lastMs: now, reason });
      else {
        known.lastMs = now;
        known.reason = reason;
      }
    },
    recordSuccess(what) {
      if (failing.size > 0) failing.delete(what);
    },
    check() {
      const now = nowMs();
      let worst: (OngoingFailure & { readonly what: string }) | null = null;
      for (const [what, entry] of failing) {
        if (now - entry.lastMs > FAILURE_EXPIRY_MS) failing.delete(what);
        else if (worst === null || entry.sinceMs < worst.sinceMs) worst = { what, ...entry };
      }
      const forMs = worst === null ? 0 : now - worst.sinceMs;
      const ok = worst === null || forMs < GRACE_PERIOD_MS;
      up?.set(ok ? 1 : 0);
      seconds?.set(ok ? 0 : forMs / 1000);
      if (worst === null || ok) return { ok: true };
      return { ok: false, detail: `${worst.what} has been failing for ${Math.round(forMs / 1000)} s: ${worst.reason}` };
    },
  };
}
