import { divide } from '../../../schemas/primitives/money.js';

const SCALE = 1_000_000n;
const TICK = 10n;
const BPS = 10_000n;
const E18 = 10n ** 18n;

const min = (a: bigint, b: bigint): bigint => (a < b ? a : b);

/**
 * Taker fee of exchange V2 in collateral base units: shares x rate x p x (1 - p), rounded down to 1e-5. `price` and `rate` in millionths
 * (0.66 is 660000n). Agrees with 21 fills read from the chain.
 */
export function takerFeeV2(of: { shares: bigint; price: bigint; rate: bigint }): bigint {
  const fee = (of.shares * of.rate * of.price * (SCALE - of.price)) / SCALE ** 3n;
  return fee - (fee % TICK);
}

/**
 * Fee the V1 exchange itself takes: BUY in shares, rate x min(p, 1-p) x shares / p; SELL in USDC, rate x min(p, 1-p) x shares. The price is
 * that of `makerAmount` against `takerAmount`; zero outside (0, 1].
 */
export function exchangeFeeV1(of: {
  feeRateBps: bigint;
  side: 'BUY' | 'SELL';
  shares: bigint;
  makerAmount: bigint;
  takerAmount: bigint;
}): bigint {
  const [usdc, shares] = of.side === 'BUY' ? [of.makerAmount, of.takerAmount] : [of.takerAmount, of.makerAmount];
  if (shares === 0n) return 0n;
  const price = (usdc * E18) / shares;
  if (price === 0n || price > E18) return 0n;
  const base = of.feeRateBps * min(price, E18 - price) * of.shares;
  return of.side === 'BUY' ? base / (price * BPS) : base / (BPS * E18);
}

/** A fee in shares as USDC at the fill's own price, rounded down. Zero when the fill has no shares. */
export function feeSharesToUsdc(feeShares: bigint, usdc: bigint, shares: bigint): bigint {
  return shares === 0n ? 0n : divide(feeShares * usdc, shares);
}
