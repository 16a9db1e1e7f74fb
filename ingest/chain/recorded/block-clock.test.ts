import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { blockAt, blockHash, blockOfHash, headAt, timeOfBlock } from './block-clock.js';

const ANCHOR_S = Date.parse('2026-07-23T03:32:21Z') / 1000;

describe('block clock', () => {
  it('maps the real block to its real time', () => {
    expect(blockAt(ANCHOR_S)).toBe(90_715_029);
    expect(timeOfBlock(90_715_029)).toBe(ANCHOR_S);
    expect(timeOfBlock(90_715_039)).toBe(ANCHOR_S + 20);
  });

  it('maps recorded rows to a block of the same second', () => {
    const rowS = Date.parse('2026-03-22T22:38:47Z') / 1000;
    expect(timeOfBlock(blockAt(rowS))).toBe(rowS);
    expect(blockAt(rowS + 1)).toBe(blockAt(rowS) + 1);
  });

  it('keeps rows of a 5-minute window inside it after the anchor', () => {
    const windowS = Date.parse('2026-11-21T07:05:00Z') / 1000;
    for (let timeS = windowS; timeS < windowS + 300; timeS++) {
      const blockS = timeOfBlock(blockAt(timeS));
      expect(blockS).toBeGreaterThanOrEqual(timeS);
      expect(blockS).toBeLessThan(windowS + 300);
    }
  });

  it('is monotonic, and the head is the newest block that is not in the future', () => {
    fc.assert(
      fc.property(fc.integer({ min: -20_000_000, max: 20_000_000 }), (offset) => {
        const timeS = ANCHOR_S + offset;
        const head = headAt(timeS);
        expect(timeOfBlock(head)).toBeLessThanOrEqual(timeS);
        expect(timeOfBlock(head + 1)).toBeGreaterThan(timeS);
        expect(blockAt(timeS + 1)).toBeGreaterThanOrEqual(blockAt(timeS));
      }),
    );
  });

  it('finds a block by its hash and returns null for other hashes', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 200_000_000 }), (number) => {
        const hash = blockHash(number);
        expect(hash).toMatch(/^0x[0-9a-f]{64}$/);
        expect(blockOfHash(hash)).toBe(number);
        expect(blockHash(number + 1)).not.toBe(hash);
      }),
    );
    expect(blockOfHash(`0x${'ab'.repeat(32)}`)).toBeNull();
  });
});
