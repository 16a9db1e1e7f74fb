import type { Check, Readiness } from '../infra/telemetry/readiness.js';
import type { SourceMode } from '../schemas/types.gen.js';
import type { SourceState } from './shared/source-status.js';

/** Oldest last event of a live source that still counts as caught up; null: the source may be silent. */
const maxEventAgeMs: Readonly<Record<string, number | null>> = { chain: 30_000, oracle: 60_000, catalog: null };

/**
 * Checks whether each source is caught up: a recording once its history is in the log; a live source while it is connected and its last
 * event is recent (its history may still be loading, because the head does not wait for it).
 */
export function readinessOf(
  statuses: readonly { readonly source: string; readonly mode: SourceMode; readonly facts: SourceState }[],
  nowMs: number,
): Readiness {
  const checks: Record<string, Check> = {};
  for (const { source, mode, facts } of statuses) {
    checks[source] = mode === 'recorded' ? recordedCheck(facts) : liveCheck(source, facts, nowMs);
  }
  return { ready: Object.values(checks).every(({ ok }) => ok), checks };
}

function recordedCheck({ phase, progress }: SourceState): Check {
  if (phase === 'live') return { ok: true };
  const loading = phase === 'history' ? ({ loading: true } as const) : {};
  return { ok: false, ...loading, detail: `${phase}, ${Math.floor((progress ?? 0) * 100)} %` };
}

function liveCheck(source: string, facts: SourceState, nowMs: number): Check {
  if (!facts.connected) return { ok: false, detail: `not connected: ${facts.detail}` };
  const limitMs = maxEventAgeMs[source] ?? null;
  if (limitMs === null) return facts.detail === '' ? { ok: true } : { ok: true, detail: facts.detail };
  if (facts.last_event_ms === null) return { ok: false, detail: 'no event yet' };
  const ageMs = nowMs - facts.last_event_ms;
  return ageMs <= limitMs ? { ok: true } : { ok: false, detail: `last event ${Math.round(ageMs / 1000)} s ago` };
}
