import type { CandlePage } from './reader.js';

/** Example page for the OpenAPI document. */
export const exampleCandles: CandlePage = {
  candles: [
    {
      startS: 1789999200,
      open: 400_000n,
      high: 420_000n,
      low: 400_000n,
      close: 410_000n,
      trades: 2,
      usdc: 82_000_000n,
      buyUsdc: 42_000_000n,
      shares: 200_000_000n,
      first: { atS: 1789999300, block: 91000001, logIndex: 7 },
      last: { atS: 1789999900, block: 91000301, logIndex: 2 },
    },
  ],
  olderEndS: 1789999199,
  newerStartS: null,
  hasMore: true,
};
