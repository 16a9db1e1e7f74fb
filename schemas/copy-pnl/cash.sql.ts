// Expressions over rows of `wallet_activity` that processors and api must agree on.

/** Backtest slippage of a copied fill unless a request says otherwise, in basis points. */
export const DEFAULT_SLIPPAGE_BPS = 200;

/** Cash of a row: received, or paid (negative), base units; transfers move none. Fees are left out. */
export const cashSql = `multiIf(action IN ('BUY', 'SPLIT'), -toInt128(usdc), action IN ('SELL', 'MERGE', 'REDEEM', 'CONVERT'), toInt128(usdc), 0)`;

/**
 * What slippage costs a copier of a fill, in ten-thousandths of base units, exactly: a BUY pays price x (1 + bps / 10,000) but at most 1.00 per
 * share, a SELL receives price x (1 - bps / 10,000). 0 for everything else, which settles at face value. `usdc`, `shares`: of the fill at the
 * price of the copier; `bps`: an integer expression.
 */
export const slippageSql = (bps: string, usdc = 'usdc', shares = 'shares'): string =>
  `multiIf(action = 'BUY', greatest(least(toInt128(${usdc}) * (10000 + ${bps}), toInt128(${shares}) * 10000) - toInt128(${usdc}) * 10000, 0),
        action = 'SELL', toInt128(${usdc}) * ${bps}, 0)`;
