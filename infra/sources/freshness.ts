import type { SourceStatus } from '../../schemas/types.gen.js';

/** Why a source is stale: ingest lost it, ingest no longer reports on it, or it is connected and sends nothing. */
export type StaleReason = 'disconnected' | 'no_report' | 'no_events';

/** Whether the events of a source are current. Times in Unix ms. */
export interface SourceFreshness {
  readonly source: string;
  /** Time of its newest event; null: none yet. */
  readonly last_event_ms: number | null;
  /** Why it is stale; null: it is not. */
  readonly stale: StaleReason | null;
  /** Since when; null: it is not stale, or the time is unknown. */
  readonly stale_since_ms: number | null;
}

/** Ingest reports on each source every two seconds. */
const REPORT_TIMEOUT_MS = 8_000;
/** Longest silence of a connected live source. Others may be silent: a recording has gaps, and the catalogue changes rarely. */
const maxEventAgeMs: ReadonlyMap<string, number> = new Map([
  ['chain', 10_000],
  ['oracle', 10_000],
]);

/** `seenAtMs`: when the status was read, by the reader's clock; the clocks of machines may differ. */
export function freshnessOf(status: SourceStatus, nowMs: number, seenAtMs = status.updated_at_ms): SourceFreshness {
  const { source, last_event_ms } = status;
  const stale = (reason: StaleReason, sinceMs: number | null) => ({
    source,
    last_event_ms,
    stale: reason,
    stale_since_ms: sinceMs,
  });
  const reportedMs = Math.max(status.updated_at_ms, seenAtMs);
  if (status.phase === 'stopped' || nowMs - reportedMs > REPORT_TIMEOUT_MS) {
    return stale('no_report', status.updated_at_ms);
  }
  if (!status.connected) return stale('disconnected', status.connected_changed_ms);
  const limitMs = maxEventAgeMs.get(source);
  if (limitMs !== undefined && status.mode === 'live' && last_event_ms !== null && nowMs - last_event_ms > limitMs) {
    return stale('no_events', last_event_ms);
  }
  return { source, last_event_ms, stale: null, stale_since_ms: null };
}
