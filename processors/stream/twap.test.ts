import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PriceTick } from '../../schemas/types.gen.js';
import { createTwapCalculator } from './twap.js';

const T0 = 1_780_000_000;
const tick = (second: number, price: bigint, over: Partial<PriceTick> = {}): PriceTick => ({
  id: `BTC/USD-${second * 1000}-0`,
  feed: 'BTC/USD',
  source: 'recorded',
  timestamp_ms: second * 1000,
  price,
  bid: null,
  ask: null,
  is_twap: false,
  twap_window_s: null,
  received_at_ms: second * 1000 + 900,
  ...over,
});

describe('computed TWAP', () => {
  it('is the mean of the valid price at every second of the window, if none is older than ten seconds', () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ step: fc.integer({ min: 1, max: 12 }), price: fc.bigInt({ min: 1n, max: 10n ** 24n }) }), {
          minLength: 1,
          maxLength: 80,
        }),
        (steps) => {
          const twap = createTwapCalculator();
          const published: { second: number; price: bigint }[] = [];
          let second = T0;
          for (const { step, price } of steps) {
            second += step;
            published.push({ second, price });
            const computed = twap.apply(tick(second, price));
            for (const window of [30, 60]) {
              const inForce = (at: number) => published.filter((one) => one.second <= at).at(-1);
              const gap = published.some(
                (one, index) =>
                  index > 0 && one.second - (published[index - 1]?.second ?? 0) > 10 && one.second > second - window,
              );
              const covered = inForce(second - window) !== undefined && !gap;
              const found = computed.find((one) => one.twap_window_s === window);
              if (!covered) {
                expect(found).toBeUndefined();
                continue;
              }
              let sum = 0n;
              for (let at = second - window; at < second; at++) sum += inForce(at)?.price ?? 0n;
              const width = BigInt(window);
              const [whole, rest] = [sum / width, sum % width];
              expect(found).toMatchObject({
                price: rest * 2n >= width ? whole + 1n : whole,
                id: `BTC/USD@${window}-${second * 1000}-0`,
                is_twap: true,
                bid: null,
                ask: null,
              });
            }
          }
        },
      ),
    );
  });

  it('ignores sources with TWAPs and late ticks, and separates feeds', () => {
    const twap = createTwapCalculator();
    for (let second = 0; second <= 60; second++) {
      expect(twap.apply(tick(T0 + second, 1n, { source: 'rtds' }))).toEqual([]);
      twap.apply(tick(T0 + second, 5n));
      twap.apply(tick(T0 + second, 7n, { feed: 'ETH/USD' }));
    }
    expect(twap.apply(tick(T0 + 10, 9n))).toEqual([]);
    expect(twap.apply(tick(T0 + 60, 9n))).toEqual([]);
    expect(twap.apply(tick(T0 + 61, 9n)).map((one) => one.price)).toEqual([5n, 5n]);
    expect(twap.apply(tick(T0 + 61, 9n, { feed: 'ETH/USD' })).map((one) => [one.feed, one.price])).toEqual([
      ['ETH/USD', 7n],
      ['ETH/USD', 7n],
    ]);
  });
});
