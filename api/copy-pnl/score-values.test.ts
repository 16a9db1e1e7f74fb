import { expect, it } from 'vitest';
import { scoreValues } from './score-values.js';

/** Amounts in USD and their results: actual, backtest, slippage, rate, toxic. */
it.each([
  // 21.50 of 80.00 USD: 26.875 %.
  ['80', '21.5', [80, 58.5, 21.5, 26.88, true]],
  ['-80', '21.5', [-80, -101.5, 21.5, 26.88, true]],
  ['0', '0', [0, 0, 0, null, false]],
  // One unit below a dollar there is no rate, however large the slippage.
  ['0.999999', '5', [1, -4, 5, null, false]],
  ['1', '0.15', [1, 0.85, 0.15, 15, false]],
  // 15.000001 % is shown as 15 and is above it.
  ['100', '15.000001', [100, 85, 15, 15, true]],
  ['-1', '0.15', [-1, -1.15, 0.15, 15, false]],
  // Halves go away from zero: 0.005, -0.005, and a slippage that needs hundredths of base units.
  ['0.005', '0', [0.01, 0.01, 0, null, false]],
  ['-0.005', '0', [-0.01, -0.01, 0, null, false]],
  ['0.004999', '0.00499999', [0, 0, 0, null, false]],
  ['0', '0.00500000', [0, -0.01, 0.01, null, false]],
  ['3000000000000', '60000000000', [3_000_000_000_000, 2_940_000_000_000, 60_000_000_000, 2, false]],
] as const)('scoreValues of %s USD and %s USD of slippage', (actual, slippage, expected) => {
  const units = (text: string, decimals: number): bigint => {
    const [, sign = '', whole = '', fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text) ?? [];
    return BigInt(`${sign}${whole}${fraction.padEnd(decimals, '0')}`);
  };
  const values = scoreValues({ actual: units(actual, 6), slippage: units(slippage, 8) });
  expect(Object.values(values)).toEqual(expected);
});
