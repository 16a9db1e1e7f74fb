import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { liveEvent } from '../testing.js';
import { createRecentEvents } from './recent-events.js';

describe('recent events', () => {
  it('contain the newest events within both bounds, and floorSeq names the last evicted seq', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 8 }),
        fc.array(fc.integer({ min: 1, max: 3 }), { maxLength: 30 }),
        fc.integer({ min: 1, max: 9 }),
        (maxEvents, steps, bytesFor) => {
          const maxBytes = bytesFor * liveEvent(1).memoryBytes + 40;
          const recent = createRecentEvents({ maxEvents, maxBytes });
          let seq = 9;
          const list = steps.map((step) => {
            seq += step;
            return liveEvent(seq);
          });
          for (const event of list) recent.push(event);
          const kept = list.slice(-Math.min(maxEvents, bytesFor));
          expect(Array.from({ length: recent.size }, (_, position) => recent.at(position))).toEqual(kept);
          const lost = list[list.length - kept.length - 1];
          expect(recent.floorSeq).toBe(list.length === 0 ? -1 : (lost?.seq ?? (list[0]?.seq ?? 0) - 1));
          for (let after = 0; after <= seq + 1; after++) {
            const position = kept.findIndex((event) => event.seq > after);
            expect(recent.positionAfter(after)).toBe(position === -1 ? kept.length : position);
          }
        },
      ),
    );
  });

  it('keep one event that alone exceeds the byte bound', () => {
    const recent = createRecentEvents({ maxEvents: 5, maxBytes: 10 });
    for (const seq of [1, 2, 3]) recent.push(liveEvent(seq));
    expect([recent.size, recent.at(0).seq, recent.floorSeq]).toEqual([1, 3, 2]);
  });
});
