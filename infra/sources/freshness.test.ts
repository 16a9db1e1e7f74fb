import { describe, expect, it } from 'vitest';
import type { SourceStatus, StreamStatus } from '../../schemas/types.gen.js';
import { feedsStream, freshnessOf, streamFreshnessOf } from './freshness.js';

const NOW = 1_800_000_000_000;
const status = (change: Partial<SourceStatus>): SourceStatus => ({
  source: 'chain',
  mode: 'live',
  connected: true,
  detail: '',
  head: 1,
  finalized: 1,
  last_event_ms: NOW - 1_000,
  updated_at_ms: NOW - 500,
  shift_days: null,
  recorded_from_ms: null,
  phase: 'live',
  progress: 1,
  pending: 0,
  metadata: null,
  order_books: null,
  read_until_ms: null,
  rereading: null,
  connected_changed_ms: NOW - 90_000,
  reread: null,
  gap: null,
  ...change,
});
const stale = (change: Partial<SourceStatus>, seenAtMs?: number) => {
  const found = freshnessOf(status(change), NOW, seenAtMs);
  return [found.stale, found.stale_since_ms];
};

describe('freshnessOf', () => {
  it('finds a source stale that ingest lost, no longer reports on, or that sends nothing', () => {
    expect(stale({})).toEqual([null, null]);
    expect(stale({ connected: false })).toEqual(['disconnected', NOW - 90_000]);
    expect(stale({ updated_at_ms: NOW - 8_001 })).toEqual(['no_report', NOW - 8_001]);
    expect(stale({ updated_at_ms: NOW - 8_000 })).toEqual([null, null]);
    expect(stale({ phase: 'stopped', connected: false })).toEqual(['no_report', NOW - 500]);
    expect(stale({ last_event_ms: NOW - 10_001 })).toEqual(['no_events', NOW - 10_001]);
    expect(stale({ last_event_ms: null })).toEqual([null, null]);
  });

  it('lets recordings and the catalogue be silent', () => {
    expect(stale({ mode: 'recorded', last_event_ms: NOW - 300_000 })).toEqual([null, null]);
    expect(stale({ source: 'catalog', last_event_ms: NOW - 300_000 })).toEqual([null, null]);
  });

  it.each([-60_000, 60_000])('measures ages by the right clock if that of the writer is %i ms off', (offMs) => {
    const reported = (reportMs: number, eventMs: number) =>
      stale({ updated_at_ms: NOW - reportMs + offMs, last_event_ms: NOW - eventMs + offMs }, NOW - reportMs);
    expect(reported(7_000, 9_000)).toEqual([null, null]);
    expect(reported(9_000, 9_500)).toEqual(['no_report', NOW - 9_000 + offMs]);
    expect(reported(1_000, 10_001)).toEqual(['no_events', NOW - 10_001 + offMs]);
  });
});

describe('streamFreshnessOf', () => {
  const report = (change: Partial<StreamStatus>): StreamStatus => ({
    ...{ settlement_missing_full: 0, settlement_missing_title: 0, status_missing_full: 0, status_missing_title: 0 },
    ...{ updated_at_ms: NOW - 1_000, epoch: 'e', last_event_ms: NOW - 1_000, last_seq: 9 },
    ...{ last_block: null, last_chain_event_ms: null, last_tick_ms: null },
    ...change,
  });
  const stream = (reportMs: number, eventMs: number | null, fed: boolean, seenAtMs?: number) =>
    streamFreshnessOf(
      report({ updated_at_ms: NOW - reportMs, last_event_ms: eventMs === null ? null : NOW - eventMs }),
      fed ? [status({})] : [],
      NOW,
      seenAtMs,
    );
  it('finds a stream without a processor, and one that lacks the events of its sources', () => {
    const fresh = { source: 'stream', stale: null, stale_since_ms: null };
    expect(stream(1_000, 2_000, true)).toEqual({ ...fresh, last_event_ms: NOW - 2_000 });
    expect(stream(8_001, 9_000, true)).toMatchObject({ stale: 'no_report', stale_since_ms: NOW - 8_001 });
    expect(stream(8_001, 9_000, true, NOW - 2_000)).toMatchObject({ stale: null });
    expect(stream(1_000, 10_001, true)).toMatchObject({ stale: 'no_events', stale_since_ms: NOW - 10_001 });
    expect(stream(1_000, 10_001, false)).toMatchObject({ stale: null });
    expect(stream(1_000, null, true)).toMatchObject({ stale: null, last_event_ms: null });
  });

  it('finds a stream that lacks the events of one source while those of the other arrive', () => {
    const chain = status({ head: 1_000 });
    const oracle = status({ source: 'oracle', head: null });
    const both = (change: Partial<StreamStatus>) => streamFreshnessOf(report(change), [oracle, chain], NOW);
    const current = { last_chain_event_ms: NOW - 3_000, last_block: 1_000, last_tick_ms: NOW - 1_000 };
    expect(both(current)).toMatchObject({ stale: null });
    expect(both({ ...current, last_chain_event_ms: NOW - 60_000, last_block: 971 })).toMatchObject({
      stale: 'no_events',
      stale_since_ms: NOW - 60_000,
      last_event_ms: NOW - 1_000,
    });
    expect(both({ ...current, last_tick_ms: NOW - 10_001 })).toMatchObject({
      stale: 'no_events',
      stale_since_ms: NOW - 10_001,
    });
    // A node that is behind itself: the stream has its newest blocks.
    expect(both({ ...current, last_chain_event_ms: NOW - 60_000, last_block: 995 })).toMatchObject({ stale: null });
    expect(streamFreshnessOf(report({ ...current, last_tick_ms: NOW - 60_000 }), [chain], NOW).stale).toBe(null);
  });

  it('finds a reader that has not read the newest events of the stream', () => {
    const read = (readMs: number | null, eventMs = NOW - 1_000) =>
      streamFreshnessOf(report({ last_event_ms: eventMs }), [], NOW, undefined, readMs);
    expect(read(NOW - 11_000)).toMatchObject({ stale: null });
    expect(read(NOW - 11_001)).toMatchObject({ stale: 'no_events', stale_since_ms: NOW - 11_001 });
    expect(read(null)).toMatchObject({ stale: null });
    // The time of one event is wrong.
    expect(read(NOW - 2_000, NOW + 86_400_000)).toMatchObject({ stale: null });
  });

  it('expects events of the stream only while the chain or the oracle sends some', () => {
    const feeds = (change: Partial<SourceStatus>) => feedsStream(status(change), freshnessOf(status(change), NOW));
    expect(feeds({})).toBe(true);
    for (const change of [
      { connected: false },
      { mode: 'recorded' },
      { source: 'catalog' },
      { last_event_ms: NOW - 10_001 },
      { last_event_ms: null },
    ] as const)
      expect(feeds(change), JSON.stringify(change)).toBe(false);
  });
});
