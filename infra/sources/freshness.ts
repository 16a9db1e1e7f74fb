import type { SourceStatus, StreamStatus } from '../../schemas/types.gen.js';

/** Why a source is stale: ingest lost it, its process no longer reports on it, or it is connected and sends nothing. */
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

/** Ingest reports on each source every two seconds, the stream processor on the stream. */
const REPORT_TIMEOUT_MS = 8_000;
/** Blocks that the stream may lag behind the chain while its newest event of the chain is old: a node announces blocks together sometimes. */
const MAX_BLOCKS_BEHIND = 5;
/** Longest silence of a connected live source. Others may be silent: a recording has gaps, and the catalogue changes rarely. */
const MAX_EVENT_AGE_MS = 10_000;
const steadySources: ReadonlySet<string> = new Set(['chain', 'oracle']);
/** Name of the stream among the sources. */
export const STREAM_SOURCE = 'stream';

/** What sources and the stream report. */
interface Report {
  readonly last_event_ms: number | null;
  readonly updated_at_ms: number;
}

/**
 * Ages of a report and of its newest event in ms. The clocks of machines may differ: if it is known when the report was read, its age is measured by the
 * reader's clock, and that of the event by the writer's.
 */
function agesOf({ last_event_ms, updated_at_ms }: Report, nowMs: number, seenAtMs: number | undefined) {
  const reportMs = nowMs - (seenAtMs ?? updated_at_ms);
  return { reportMs, eventMs: last_event_ms === null ? null : updated_at_ms + reportMs - last_event_ms };
}

/** `seenAtMs`: when the status was read, by the reader's clock; undefined: unknown. */
export function freshnessOf(status: SourceStatus, nowMs: number, seenAtMs?: number): SourceFreshness {
  const { source, last_event_ms } = status;
  const result = (stale: StaleReason | null, stale_since_ms: number | null) => ({
    source,
    last_event_ms,
    stale,
    stale_since_ms,
  });
  const { reportMs, eventMs } = agesOf(status, nowMs, seenAtMs);
  if (status.phase === 'stopped' || reportMs > REPORT_TIMEOUT_MS) return result('no_report', status.updated_at_ms);
  if (!status.connected) return result('disconnected', status.connected_changed_ms);
  const steady = status.mode === 'live' && steadySources.has(source);
  if (steady && eventMs !== null && eventMs > MAX_EVENT_AGE_MS) return result('no_events', last_event_ms);
  return result(null, null);
}

/** True if the source sends events all the time, and does so now: then the stream must have new events too. */
export const feedsStream = ({ source, mode, last_event_ms }: SourceStatus, { stale }: SourceFreshness): boolean =>
  mode === 'live' && steadySources.has(source) && last_event_ms !== null && stale === null;

/**
 * Whether the stream processor runs, adds the events of each source that sends some (`feeding`) to the stream, and the reader has them. `seenAtMs`: as
 * for a source. `readMs`: time of the newest event of the stream that the reader has; undefined: it reads no events.
 */
export function streamFreshnessOf(
  status: StreamStatus,
  feeding: readonly Pick<SourceStatus, 'source' | 'head'>[],
  nowMs: number,
  seenAtMs?: number,
  readMs?: number | null,
): SourceFreshness {
  const { last_event_ms, updated_at_ms } = status;
  const result = (stale: StaleReason | null, stale_since_ms: number | null) => ({
    source: STREAM_SOURCE,
    last_event_ms,
    stale,
    stale_since_ms,
  });
  const { reportMs } = agesOf(status, nowMs, seenAtMs);
  if (reportMs > REPORT_TIMEOUT_MS) return result('no_report', updated_at_ms);
  /** Reports of older versions have the newest event of all sources only. */
  const newestOf = (source: string) =>
    (source === 'chain' ? status.last_chain_event_ms : status.last_tick_ms) ?? last_event_ms;
  const isBehind = ({ source, head }: Pick<SourceStatus, 'source' | 'head'>) => {
    const { eventMs } = agesOf({ last_event_ms: newestOf(source), updated_at_ms }, nowMs, seenAtMs);
    if (eventMs === null || eventMs <= MAX_EVENT_AGE_MS) return false;
    // The times of blocks are those of a node that may be slow itself.
    if (source !== 'chain' || head === null || status.last_block === null) return true;
    return head - status.last_block > MAX_BLOCKS_BEHIND;
  };
  const behind = feeding.find(isBehind);
  if (behind !== undefined) return result('no_events', newestOf(behind.source));
  if (typeof readMs === 'number' && last_event_ms !== null) {
    // A wrong time of one event may be in the future.
    const newestMs = Math.min(last_event_ms, updated_at_ms);
    if (newestMs - readMs > MAX_EVENT_AGE_MS) return result('no_events', readMs);
  }
  return result(null, null);
}
