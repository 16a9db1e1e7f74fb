import { z } from 'zod';
import type { SourceFreshness } from '../../../infra/sources/freshness.js';
import { healthOf } from '../../../infra/sources/source-status-view.js';
import type { SourceStatus } from '../../../schemas/types.gen.js';
import { isoFrom } from '../../tables/values.js';

const count = z.int().nullable();

const blockRange = z.object({ from_block: z.int(), to_block: z.int(), at: z.string() }).nullable();

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
  last_event_at: z.string().nullable().meta({ description: 'Time of its newest event.' }),
  stale: z.enum(['disconnected', 'no_report', 'no_events']).nullable().meta({
    description:
      'Why its events are not current, as in the notices of the event socket: ingest lost it, ingest no longer reports, or it is connected and sends nothing. null: they are current.',
  }),
  stale_since: z.string().nullable(),
  reread: blockRange.meta({ description: 'Last blocks read after the fact because they were missed live (chain).' }),
  gap: blockRange.meta({
    description: 'Last blocks whose events were never sent on the event socket; tables and REST have them (chain).',
  }),
  shift_days: count.meta({ description: 'Whole days added to the recorded times of the live tail.' }),
  recorded_from: z
    .string()
    .nullable()
    .meta({ description: 'Start of the recorded day that is replayed as live tail.' }),
});

export const streamSchema = z.object({
  last_event_at: sourceSchema.shape.last_event_at,
  stale: sourceSchema.shape.stale.unwrap().extract(['no_report', 'no_events']).nullable().meta({
    description:
      'no_report: the stream processor is not running. no_events: it lacks the newest events of the chain or the oracle, which sends some. null: the events are current.',
  }),
  stale_since: sourceSchema.shape.stale_since,
});

/** Serializes the state of the stream. */
export const streamEntry = (freshness: SourceFreshness | undefined): z.input<typeof streamSchema> | null =>
  freshness === undefined
    ? null
    : {
        last_event_at: isoFrom(freshness.last_event_ms),
        stale: freshness.stale === 'disconnected' ? null : freshness.stale,
        stale_since: isoFrom(freshness.stale_since_ms),
      };

const rangeEntry = (range: SourceStatus['gap']) =>
  range === null
    ? null
    : { from_block: range.from_block, to_block: range.to_block, at: isoFrom(range.at_ms) as string };

/** Serializes the status of a source. */
export function sourceEntry(
  status: SourceStatus,
  freshness: SourceFreshness | undefined,
  nowMs: number,
): z.input<typeof sourceSchema> {
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
    last_event_at: isoFrom(status.last_event_ms),
    stale: freshness?.stale ?? null,
    stale_since: isoFrom(freshness?.stale_since_ms ?? null),
    reread: rangeEntry(status.reread),
    gap: rangeEntry(status.gap),
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
