import type { SourceFreshness } from '../../infra/sources/freshness.js';
import type { SourceStatusView } from '../../infra/sources/source-status-view.js';
import type { SourceBlockRange } from '../../schemas/types.gen.js';

export type SourcesView = Pick<SourceStatusView, 'freshness' | 'all'>;

/** Notices about the sources of ingest. */
export interface SourceNotices {
  /** Frames about the changes since the last call. */
  changes(nowMs: number): object[];
  /**
   * Frames for a new connection: the sources that are stale now, and the newest gap and re-read range of each source, `ts` being the time at which it was
   * found. A client that resumes across one would not learn of it otherwise.
   */
  current(nowMs: number): object[];
}

const staleNotice = ({ source, stale, stale_since_ms, last_event_ms }: SourceFreshness, nowMs: number) => ({
  type: 'notice',
  code: 'source_stale',
  ts: nowMs,
  source,
  reason: stale,
  since_ms: stale_since_ms,
  last_event_ms,
});

const rangeNotice = (source: string, code: 'history_reread' | 'gap', range: SourceBlockRange, ts: number) => ({
  type: 'notice',
  code,
  ts,
  source,
  from_block: range.from_block,
  to_block: range.to_block,
});

/** Compares the state of the sources with that of the call before. The first state is not reported. */
export function createSourceNotices(sources: SourcesView): SourceNotices {
  const before = new Map<string, SourceFreshness>();
  /** Unix ms of the newest reported range, by source and code. */
  const ranges = new Map<string, number | null>();

  const freshnessChanges = (nowMs: number) =>
    sources.freshness(nowMs).flatMap((now) => {
      const was = before.get(now.source);
      before.set(now.source, now);
      if (now.stale !== null) return was?.stale === now.stale ? [] : [staleNotice(now, nowMs)];
      if (was === undefined || was.stale === null) return [];
      const { source, last_event_ms } = now;
      const since_ms = was.stale_since_ms;
      return [{ type: 'notice', code: 'source_recovered', ts: nowMs, source, since_ms, last_event_ms }];
    });
  const rangeChange = (
    source: string,
    code: 'history_reread' | 'gap',
    range: SourceBlockRange | null,
    nowMs: number,
  ) => {
    const key = `${source} ${code}`;
    const was = ranges.get(key);
    const atMs = range?.at_ms ?? null;
    ranges.set(key, atMs);
    if (range === null || was === undefined || was === atMs) return [];
    return [rangeNotice(source, code, range, nowMs)];
  };
  const rangeChanges = (nowMs: number) =>
    sources
      .all()
      .flatMap(({ source, reread, gap }) => [
        ...rangeChange(source, 'history_reread', reread, nowMs),
        ...rangeChange(source, 'gap', gap, nowMs),
      ]);

  return {
    changes: (nowMs) => [...freshnessChanges(nowMs), ...rangeChanges(nowMs)],
    current: (nowMs) => [
      ...sources.freshness(nowMs).flatMap((now) => (now.stale === null ? [] : [staleNotice(now, nowMs)])),
      ...sources
        .all()
        .flatMap(({ source, reread, gap }) => [
          ...(reread === null ? [] : [rangeNotice(source, 'history_reread', reread, reread.at_ms)]),
          ...(gap === null ? [] : [rangeNotice(source, 'gap', gap, gap.at_ms)]),
        ]),
    ],
  };
}
