import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createTokenBucket } from './token-bucket.js';

describe('createTokenBucket', () => {
  it('permits exactly burst plus rate', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 300 }), { minLength: 20, maxLength: 60 }), async (pauses) => {
        let clock = 0;
        const bucket = createTokenBucket({
          perSecond: 10,
          burst: 5,
          nowMs: () => clock,
          wait: async (ms) => {
            clock += ms;
          },
        });
        const passed: number[] = [];
        for (const idleMs of pauses) {
          clock += idleMs;
          const requestedMs = clock;
          await bucket.take(new AbortController().signal);
          passed.push(clock);
          // A call with fewer than 5 permitted calls in the last half second does not wait.
          if (passed.filter((at) => at > requestedMs - 500).length <= 5)
            expect(clock - requestedMs).toBeLessThanOrEqual(100);
        }
        for (const from of passed) {
          for (const seconds of [0.1, 1, 3]) {
            const inside = passed.filter((at) => at >= from && at < from + seconds * 1000).length;
            expect(inside).toBeLessThanOrEqual(5 + 10 * seconds);
          }
        }
      }),
    );
  });
});
