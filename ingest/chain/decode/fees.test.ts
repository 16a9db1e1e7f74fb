import { describe, expect, it } from 'vitest';
import { parseMoney } from '../../../schemas/primitives/money.js';
import { exchangeFeeV1, feeSharesToUsdc, takerFeeV2 } from './fees.js';
import { takerFees } from './taker-fees.fixture.js';

describe('fees', () => {
  it('has the 21 fills', () => {
    expect(takerFees).toHaveLength(21);
  });

  it.each(takerFees)('V2 %s of %s for %s: fee %s at %s, rate %s', (side, made, took, fee, price, rate) => {
    const shares = side === 'BUY' ? took : made;
    expect(takerFeeV2({ shares, price: parseMoney(price), rate: parseMoney(rate) })).toBe(fee);
  });

  it('V1 charges buyers in shares and sellers in USDC', () => {
    // 100 shares at 0.40, 2 %: BUY 0.02 x 0.40 x 100 / 0.40 = 2 shares; SELL 0.02 x 0.40 x 100 = 0.80 USDC.
    const at40 = { feeRateBps: 200n, shares: 100_000_000n };
    expect(exchangeFeeV1({ ...at40, side: 'BUY', makerAmount: 40_000_000n, takerAmount: 100_000_000n })).toBe(
      2_000_000n,
    );
    expect(exchangeFeeV1({ ...at40, side: 'SELL', makerAmount: 100_000_000n, takerAmount: 40_000_000n })).toBe(
      800_000n,
    );
    // At 0.80 the smaller side counts: BUY 0.02 x 0.20 x 100 / 0.80 = 0.5 shares.
    expect(exchangeFeeV1({ ...at40, side: 'BUY', makerAmount: 80_000_000n, takerAmount: 100_000_000n })).toBe(500_000n);
    expect(exchangeFeeV1({ ...at40, side: 'BUY', makerAmount: 1n, takerAmount: 0n })).toBe(0n);
    expect(exchangeFeeV1({ ...at40, side: 'BUY', makerAmount: 2n, takerAmount: 1n })).toBe(0n);
  });

  it('agrees with a real V1 fill: 17.7 shares for 7.434 USDC at 1000 bps cost 1.77 shares, 0.7434 USDC', () => {
    const fill = { side: 'BUY', shares: 17_700_000n, makerAmount: 7_434_000n, takerAmount: 17_700_000n } as const;
    expect(exchangeFeeV1({ ...fill, feeRateBps: 1000n })).toBe(1_770_000n);
    expect(feeSharesToUsdc(1_770_000n, 7_434_000n, 17_700_000n)).toBe(743_400n);
    expect(feeSharesToUsdc(5n, 7n, 0n)).toBe(0n);
  });
});
