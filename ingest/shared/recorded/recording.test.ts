import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { FatalError } from '../../../infra/errors.js';
import { createClock, createSteppingClock } from './clock.js';
import { openColumns } from './columns.js';
import { gammaEvents, gammaMarket } from './gamma.js';
import { openRecording } from './recording.js';

const SET = path.join(import.meta.dirname, '../../../tests/recorded/set');

describe('openColumns', () => {
  const pack = (head: unknown, body: number[]) => {
    const text = Buffer.from(JSON.stringify(head));
    const length = Buffer.alloc(4);
    length.writeUInt32LE(text.length);
    return Buffer.concat([length, text, Buffer.from(body)]);
  };

  it('reads varints, differences and big numbers', () => {
    const columns = openColumns(
      pack(
        [
          { name: 'plain', count: 3, bytes: 4, delta: false },
          { name: 'delta', count: 3, bytes: 3, delta: true },
        ],
        // 1, 300, 0; then zigzag +5, -2, +1.
        [0x01, 0xac, 0x02, 0x00, 0x0a, 0x03, 0x02],
      ),
    );
    expect([...columns.numbers('plain')]).toEqual([1, 300, 0]);
    expect(columns.bigints('plain')).toEqual([1n, 300n, 0n]);
    expect([...columns.numbers('delta')]).toEqual([5, 3, 4]);
    expect(() => columns.numbers('other')).toThrow(FatalError);
  });
});

describe('openRecording', () => {
  let copy: string | null = null;
  afterEach(() => {
    if (copy !== null) rmSync(copy, { recursive: true });
    copy = null;
  });

  it('rejects a damaged or missing set', () => {
    copy = mkdtempSync(path.join(tmpdir(), 'recorded-'));
    expect(() => openRecording(copy!)).toThrow(FatalError);
    cpSync(SET, copy, { recursive: true });
    const file = path.join(copy, 'catalog.0.bin');
    const bytes = readFileSync(file);
    bytes[1000]! ^= 1;
    writeFileSync(file, bytes);
    expect(() => openRecording(copy!)).toThrow(/catalog\.0\.bin is damaged/);
  });
});

describe('catalogue objects', () => {
  const recording = openRecording(SET);
  const market = recording.markets.find(({ slug }) => slug === 'btc-updown-5m-1784851200')!;

  it('returns the recorded object after the end of the market, and an open one before', () => {
    const after = gammaMarket(market, Date.UTC(2026, 6, 24, 1));
    expect(after).toEqual(market.raw);
    const during = gammaMarket(market, Date.UTC(2026, 6, 24, 0, 2));
    expect(during).toMatchObject({ closed: false, acceptingOrders: true, outcomePrices: '["0.5","0.5"]', volume: '0' });
    expect(during).not.toHaveProperty('closedTime');
    expect(during).not.toHaveProperty('lastTradePrice');
  });

  it('groups markets under their events with series and tags', () => {
    const [event] = gammaEvents(recording, [market], Date.UTC(2026, 6, 24, 1));
    expect(event).toMatchObject({
      slug: market.slug,
      closed: true,
      seriesSlug: 'btc-up-or-down-5m',
      series: [{ id: '10684', slug: 'btc-up-or-down-5m' }],
      tags: [{ id: '21', slug: 'crypto' }],
    });
    const negRisk = recording.markets.filter(({ eventId }) => eventId === '30829');
    const [nominee] = gammaEvents(recording, negRisk, Date.UTC(2026, 6, 24));
    expect(nominee).toMatchObject({ id: '30829', negRisk: true, title: 'Democratic Presidential Nominee 2028' });
    expect((nominee!.markets as unknown[]).length).toBe(2);
  });
});

describe('clocks', () => {
  it('runs at the given speed', () => {
    let real = 1000;
    const clock = createClock({ startMs: 50_000, speed: 60, now: () => real });
    expect(clock.nowMs()).toBe(50_000);
    real += 1000;
    expect(clock.nowMs()).toBe(110_000);
    expect(() => createClock({ speed: 0 })).toThrow(RangeError);
  });

  it('jumps to the awaited time, but not after an abort', async () => {
    const clock = createSteppingClock(5);
    await clock.waitUntil(100, new AbortController().signal);
    await clock.waitUntil(50, new AbortController().signal);
    expect(clock.nowMs()).toBe(100);
    await clock.waitUntil(200, AbortSignal.abort());
    expect(clock.nowMs()).toBe(100);
  });
});
