import { z } from 'zod';
import type { SourceStatus } from '../../../schemas/types.gen.js';
import { healthOf } from '../../sources/source-status-view.js';
import { isoFrom } from '../../tables/values.js';

const count = z.int().nullable();

export const sourceSchema = z.object({
  source: z.string(),
  mode: z.enum(['live', 'recorded']),
  phase: z.enum(['history', 'live', 'stopped']),
  progress: z.number().nullable().meta({ description: 'Loaded part of the history, 0 to 1.' }),
  connected: z.boolean(),
  health: z.enum(['connected', 'disconnected', 'silent']).meta({ description: 'silent: no report for too long.' }),
  detail: z.string(),
  head: count.meta({ description: 'Newest block seen (chain).' }),
  finalized: count.meta({ description: 'Newest block that can no longer change (chain).' }),
  lag: count.meta({ description: 'Blocks between head and finalized.' }),
  last_event_age_seconds: z.number().nullable(),
  shift_days: count.meta({ description: 'Whole days added to the recorded times of the live tail.' }),
  recorded_from: z
    .string()
    .nullable()
    .meta({ description: 'Start of the recorded day that is replayed as live tail.' }),
});

/** Serializes the status of a source. */
export function sourceEntry(status: SourceStatus, nowMs: number): z.input<typeof sourceSchema> {
  const health = healthOf(status, nowMs);
  const age = status.last_event_ms === null ? null : Math.max(0, Math.round((nowMs - status.last_event_ms) / 100) / 10);
  return {
    source: status.source,
    mode: status.mode,
    phase: status.phase,
    progress: status.progress,
    connected: health === 'connected',
    health,
    detail: status.detail,
    head: status.head,
    finalized: status.finalized,
    lag: status.head === null || status.finalized === null ? null : status.head - status.finalized,
    last_event_age_seconds: age,
    shift_days: status.shift_days,
    recorded_from: isoFrom(status.recorded_from_ms),
  };
}

/** Sentence that states whether the data is live or recorded, and by how many days recorded data is shifted. */
export function noticeOf(sources: readonly SourceStatus[]): string {
  if (sources.length === 0) return 'No source has reported yet.';
  const recorded = sources.filter((source) => source.mode === 'recorded');
  if (recorded.length === 0) return 'Live data.';
  const names = recorded.map((source) => source.source).join(', ');
  const shifts = recorded.flatMap((source) =>
    source.shift_days === null ? [] : [`${source.source} by ${source.shift_days} days`],
  );
  const shifted =
    shifts.length === 0 ? '' : `; the recorded day is replayed as live tail, shifted in time (${shifts.join(', ')})`;
  return `Recorded data, not live (${names}). The history keeps its true times${shifted}.`;
}
