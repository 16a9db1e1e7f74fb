import { describe, expect, it } from 'vitest';
import type { SourceStatus } from '../../schemas/types.gen.js';
import { freshnessOf } from './freshness.js';

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

  it('measures the age of a report by the clock of the reader if the writer is behind', () => {
    expect(stale({ updated_at_ms: NOW - 60_000 }, NOW - 7_000)).toEqual([null, null]);
    expect(stale({ updated_at_ms: NOW - 60_000 }, NOW - 9_000)).toEqual(['no_report', NOW - 60_000]);
  });
});
