import { describe, expect, it } from 'vitest';
import { decodeVenueFrame } from './messages.js';

const NOW_MS = Date.UTC(2026, 7, 22);
const book = (timestampMs: number) =>
  JSON.stringify({
    event_type: 'book',
    market: `0x${'a'.repeat(64)}`,
    asset_id: '101',
    timestamp: String(timestampMs),
    bids: [{ price: '0.4', size: '10' }],
    asks: [],
  });

describe('decodeVenueFrame', () => {
  it.each([0, 59_999, -86_000_000, -90 * 86_400_000])(
    'takes a book whose time is %i ms after the present',
    (differenceMs) => {
      const { messages, errors } = decodeVenueFrame(book(NOW_MS + differenceMs), NOW_MS);
      expect([messages.length, errors]).toEqual([1, []]);
    },
  );

  // The last is a time in seconds.
  it.each([60_001, 86_000_000, -NOW_MS + NOW_MS / 1000])(
    'rejects a book whose time is %i ms after the present',
    (differenceMs) => {
      const { messages, errors } = decodeVenueFrame(book(NOW_MS + differenceMs), NOW_MS);
      expect([messages.length, errors]).toEqual([0, ['timestamp is far from the present']]);
    },
  );
});
