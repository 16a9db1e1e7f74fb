import path from 'node:path';
import { concat, encodePacked, keccak256, numberToHex } from 'viem';
import { describe, expect, it } from 'vitest';
import { openRecording } from './recording.js';
import { createLiveMarkets, DAY_S, shiftDaysFor, shiftHash, shiftMarket, windowTitle } from './shift.js';

const recording = openRecording(path.join(import.meta.dirname, '../../../tests/recorded/set'));
const [, midnight] = recording.markets;

describe('shifted ids', () => {
  it('derives a hash from the recorded one and the days as four bytes', () => {
    const hash = `0x${'ab'.repeat(32)}` as const;
    expect(shiftHash(hash, 120)).toBe(keccak256(concat([hash, numberToHex(120, { size: 4 })])));
    expect(shiftHash(hash, 120)).not.toBe(shiftHash(hash, 121));
    expect(() => shiftHash(hash, -1)).toThrow(RangeError);
  });

  it('shifts a window by whole days and renames it', () => {
    const moved = shiftMarket(midnight!, 120);
    expect(midnight!.slug).toBe('btc-updown-5m-1784851200');
    expect(moved).toMatchObject({
      slug: `btc-updown-5m-${1784851200 + 120 * DAY_S}`,
      // 2026-11-21T00:00Z: standard time, so the window has moved by an hour on the wall clock of New York.
      title: 'Bitcoin Up or Down - November 20, 7:00PM-7:05PM ET',
      startS: 1784851200 + 120 * DAY_S,
      outcome: midnight!.outcome,
      shiftDays: 120,
    });
    const question = keccak256(concat([midnight!.questionId!, numberToHex(120, { size: 4 })]));
    expect(moved.questionId).toBe(question);
    const oracle = '0x58E1745bedda7312c4cddb72618923DA1B90EFDE'.toLowerCase() as `0x${string}`;
    expect(moved.conditionId).toBe(keccak256(encodePacked(['address', 'bytes32', 'uint256'], [oracle, question, 2n])));
    expect(moved.tokenIds).not.toEqual(midnight!.tokenIds);
    expect(moved.raw).toMatchObject({
      slug: moved.slug,
      question: moved.title,
      conditionId: moved.conditionId,
      questionID: question,
      clobTokenIds: JSON.stringify(moved.tokenIds),
      eventStartTime: '2026-11-21T00:00:00Z',
      endDate: '2026-11-21T00:05:00Z',
      closedTime: '2026-11-21 00:05:18+00',
      endDateIso: '2026-11-21',
      volume: midnight!.raw!.volume,
    });
  });

  it('formats titles like the venue', () => {
    const windows = recording.markets.filter(({ duration }) => duration === '5m' || duration === '15m');
    expect(windows.length).toBeGreaterThan(1400);
    for (const { coin, startS, endS, title } of windows) expect(windowTitle(coin!, startS!, endS!)).toBe(title);
  });

  it('counts whole days', () => {
    expect(shiftDaysFor(1000 + 3 * DAY_S, 1000)).toBe(3);
    expect(shiftDaysFor(999 + 3 * DAY_S, 1000)).toBe(2);
  });
});

describe('live markets', () => {
  const todayS = Date.UTC(2026, 10, 21) / 1000;
  const live = createLiveMarkets(recording);

  it('has every BTC window of a day, and always the same market per window', () => {
    const windows = live.between(todayS, todayS + DAY_S);
    const btc = windows.filter((market) => market.coin === 'btc');
    expect(btc.map((market) => market.startS)).toEqual(Array.from({ length: 288 }, (_, i) => todayS + i * 300));
    expect(new Set(windows.map((market) => market.conditionId)).size).toBe(windows.length);
    const again = createLiveMarkets(recording);
    for (const market of windows) expect(again.find(market.coin!, '5m', market.startS!)).toEqual(market);
  });

  it('has the outcomes of the recorded day for BTC windows', () => {
    for (const market of live.between(todayS, todayS + DAY_S).filter(({ coin }) => coin === 'btc')) {
      const recorded = recording.markets.find(({ slug }) => slug === `btc-updown-5m-${market.startS! - 120 * DAY_S}`);
      expect(market.outcome).toBe(recorded!.outcome);
    }
  });

  it('returns null where there is no window', () => {
    expect(live.find('btc', '1h', todayS)).toBeNull();
    expect(live.find('btc', '5m', todayS + 1)).toBeNull();
  });
});
