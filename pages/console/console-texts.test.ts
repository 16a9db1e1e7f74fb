import { afterEach, describe, expect, it, vi } from 'vitest';
// @ts-expect-error: a browser module without types
import { createPresetLine, presetText } from './browser/preset-now.js';
// @ts-expect-error: a browser module without types
import { silenceText } from './browser/silence.js';

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

describe('text about what a preset delivers', () => {
  it('counts kinds, most first, and says how old and how close together they are', () => {
    const events = [
      { type: 'trade', timestamp: 10_000 },
      { type: 'settlement', timestamp: 12_000 },
      { type: 'trade', timestamp: 15_000 },
    ];
    expect(presetText({ events, isSnapshot: true, nowMs: 16_000 })).toBe(
      'Now: 2 trade, 1 settlement, the newest 1 s ago, all within 5 s.',
    );
    expect(presetText({ events: events.slice(0, 1), isSnapshot: true, nowMs: 190_000 })).toBe(
      'Now: 1 trade, the newest 3 min ago.',
    );
    expect(presetText({ events: [], isSnapshot: true, nowMs: 0 })).toBe(
      'Now: no event of this preset among the newest 50,000 events of the stream.',
    );
  });

  it('says that the search is still running, and nothing of its result, until the snapshot comes', () => {
    vi.useFakeTimers();
    const sockets: { onopen(): void; onmessage(message: object): void }[] = [];
    const Socket = class {
      constructor() {
        sockets.push(this as never);
      }
      send = () => undefined;
      close = () => undefined;
    };
    vi.stubGlobal('WebSocket', Socket);
    const box = { textContent: '' };
    createPresetLine({ box, url: () => 'ws://server/ws' }).show('key', 'deposits');
    vi.advanceTimersByTime(1_000);
    sockets[0]?.onopen();
    vi.advanceTimersByTime(60_000);
    expect(box.textContent).toBe('Now: still searching the newest 50,000 events of the stream for this preset.');
    sockets[0]?.onmessage({ data: '{"type":"snapshot","count":0,"events":[]}' });
    expect(box.textContent).toBe('Now: no event of this preset among the newest 50,000 events of the stream.');
  });

  it('names the feeds of prices', () => {
    const events = [{ type: 'price_feed', feed: 'BTC/USD', timestamp_ms: 1 }];
    expect(presetText({ events, isSnapshot: false, nowMs: 2 })).toBe('Now, in 3 s: 1 BTC/USD.');
    expect(presetText({ events: [], isSnapshot: false, nowMs: 2 })).toBe('Now: no price in 3 s.');
  });
});

describe('text about a stream without events', () => {
  const message = { action: 'subscribe', type: 'trades', filters: { min_size: 1000, snapshot_count: 0 } };
  const heartbeat = { type: 'heartbeat', seq: 50, sources: [{ source: 'chain', stale: null }] };

  it('blames the filters while other events pass', () => {
    expect(silenceText({ message, quietMs: 9_400, heartbeat, passed: 1200 })).toBe(
      'No event for 9 s: 1,200 events passed, none matches preset trades with min_size. Remove a filter to see more.',
    );
    expect(silenceText({ message: { type: 'combos' }, quietMs: 9_000, heartbeat, passed: 3 })).toBe(
      'No event for 9 s: 3 events passed, none matches preset combos.',
    );
  });

  it('blames a source that is not current, else says that all stands still', () => {
    const stale = { ...heartbeat, sources: [{ source: 'chain', stale: 'no_report' }] };
    expect(silenceText({ message, quietMs: 9_000, heartbeat: stale, passed: 0 })).toBe(
      'No event for 9 s: chain does not run.',
    );
    expect(silenceText({ message, quietMs: 9_000, heartbeat, passed: 0 })).toBe(
      'No event for 9 s: the whole stream stands still; see Status for its sources.',
    );
    expect(silenceText({ message, quietMs: 9_000, heartbeat: null, passed: null })).toContain('no heartbeat yet');
  });
});
