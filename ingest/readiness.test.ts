import { describe, expect, it } from 'vitest';
import { readinessOf } from './readiness.js';
import type { SourceState } from './shared/source-status.js';

const sourceState = (change: Partial<SourceState>): SourceState => ({
  connected: true,
  detail: 'node',
  head: 1,
  finalized: 1,
  last_event_ms: 100_000,
  shift_days: null,
  recorded_from_ms: null,
  pending: null,
  metadata: null,
  order_books: null,
  read_until_ms: null,
  rereading: null,
  reread: null,
  gap: null,
  phase: 'live',
  progress: 1,
  ...change,
});

describe('readinessOf', () => {
  it('a recording is ready when its history is in the log', () => {
    const of = (change: Partial<SourceState>) =>
      readinessOf([{ source: 'chain', mode: 'recorded', facts: sourceState(change) }], 0).checks.chain;
    expect(of({ phase: 'history', progress: 0.428 })).toEqual({ ok: false, loading: true, detail: 'history, 42 %' });
    expect(of({ phase: 'live', connected: false })).toEqual({ ok: true });
    expect(of({ phase: 'stopped' })?.ok).toBe(false);
  });

  it('a live source is ready while connected and not silent, also during the history', () => {
    const at = (nowMs: number, change: Partial<SourceState>, source = 'chain') =>
      readinessOf([{ source, mode: 'live', facts: sourceState(change) }], nowMs);
    expect(at(130_000, { phase: 'history' }).ready).toBe(true);
    expect(at(131_001, {}).checks.chain).toEqual({ ok: false, detail: 'last event 31 s ago' });
    expect(at(131_001, {}, 'oracle').ready).toBe(true);
    expect(at(1_000_000, {}, 'catalog').ready).toBe(true);
    expect(at(100_000, { connected: false, detail: 'refused' }).checks.chain?.detail).toBe('not connected: refused');
    expect(at(100_000, { last_event_ms: null }).ready).toBe(false);
  });

  it('one source that is not ready makes the process not ready', () => {
    const result = readinessOf(
      [
        { source: 'chain', mode: 'recorded', facts: sourceState({}) },
        { source: 'oracle', mode: 'recorded', facts: sourceState({ phase: 'history' }) },
      ],
      0,
    );
    expect(result.ready).toBe(false);
  });
});
