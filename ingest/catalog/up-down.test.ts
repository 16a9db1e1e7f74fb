import { describe, expect, it } from 'vitest';
import { parseUpDownSlug, upDownSlugsAround, upDownSlugsAt } from './up-down.js';

describe('parseUpDownSlug', () => {
  it.each([
    ['btc-updown-5m-1784851200', { coin: 'btc', duration: '5m', windowStartS: 1784851200 }],
    ['hype-updown-15m-1784851500', { coin: 'hype', duration: '15m', windowStartS: 1784851500 }],
    ['eth-updown-4h-1772442000', { coin: 'eth', duration: '4h', windowStartS: 1772442000 }],
    ['bitcoin-up-or-down-march-21-2026-2am-et', { coin: 'btc', duration: '1h', windowStartS: null }],
    ['dogecoin-up-or-down-march-21-12pm-et', { coin: 'doge', duration: '1h', windowStartS: null }],
    ['solana-up-or-down-on-july-24-2026', { coin: 'sol', duration: '1d', windowStartS: null }],
  ])('reads %s', (slug, expected) => {
    expect(parseUpDownSlug(slug)).toEqual(expected);
  });
  it.each([
    'btc-updown-1h-1784851200',
    'ada-updown-5m-1784851200',
    'btc-up-or-down-5m',
    'will-bitcoin-hit-100k',
    'gold-up-or-down-on-july-24-2026',
    'bitcoin-up-or-down-july-24-2026',
  ])('is null for %s', (slug) => {
    expect(parseUpDownSlug(slug)).toBeNull();
  });
});

describe('upDownSlugsAt', () => {
  it('uses daylight saving time of New York', () => {
    const slugs = upDownSlugsAt(Date.UTC(2026, 6, 24, 3, 59, 59));
    expect(slugs.filter((slug) => /^(btc|bitcoin)-/.test(slug))).toEqual([
      'btc-updown-5m-1784865300',
      'btc-updown-15m-1784864700',
      'btc-updown-4h-1784851200',
      'bitcoin-up-or-down-july-23-2026-11pm-et',
      'bitcoin-up-or-down-on-july-24-2026',
    ]);
    expect(slugs).toContain('hyperliquid-up-or-down-on-july-24-2026');
  });
  it('names noon, midnight, and a day by its end', () => {
    expect(upDownSlugsAt(Date.UTC(2026, 6, 24, 4))).toContain('bitcoin-up-or-down-july-24-2026-12am-et');
    const noon = upDownSlugsAt(Date.UTC(2026, 6, 24, 16));
    expect(noon).toContain('bitcoin-up-or-down-july-24-2026-12pm-et');
    expect(noon).toContain('bitcoin-up-or-down-on-july-25-2026');
    expect(upDownSlugsAt(Date.UTC(2026, 6, 24, 15, 59))).toContain('bitcoin-up-or-down-on-july-24-2026');
  });
  // Starts of real winter and summer blocks, see the slugs.
  it.each([
    [1772442000, 'btc-updown-4h-1772442000'],
    [1772442000 + 4 * 3600 - 1, 'btc-updown-4h-1772442000'],
    [1772442000 + 4 * 3600, 'btc-updown-4h-1772456400'],
    [1771923600 + 60, 'btc-updown-4h-1771923600'],
  ])('starts four-hour blocks at midnight in New York (%i)', (atS, slug) => {
    expect(upDownSlugsAt(atS * 1000)).toContain(slug);
  });
});

describe('upDownSlugsAround', () => {
  it('returns the previous, current and next window of every duration', () => {
    const around = upDownSlugsAround(Date.UTC(2026, 6, 24, 3, 59, 59)).filter((slug) => /^(btc|bitcoin)-/.test(slug));
    expect(around.sort()).toEqual(
      [
        ...['1784865000', '1784865300', '1784865600'].map((start) => `btc-updown-5m-${start}`),
        ...['1784863800', '1784864700', '1784865600'].map((start) => `btc-updown-15m-${start}`),
        ...['1784836800', '1784851200', '1784865600'].map((start) => `btc-updown-4h-${start}`),
        ...['23-2026-10pm', '23-2026-11pm', '24-2026-12am'].map((hour) => `bitcoin-up-or-down-july-${hour}-et`),
        ...['23', '24', '25'].map((day) => `bitcoin-up-or-down-on-july-${day}-2026`),
      ].sort(),
    );
  });
});
