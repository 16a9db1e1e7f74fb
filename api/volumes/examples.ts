import type { TokenVolume } from './reader.js';
import type { BuilderRow } from './volumes.sql.js';

/** Example sums of a token for the OpenAPI document. */
export const exampleVolume: TokenVolume = {
  trades: 40,
  buys: 31,
  sells: 9,
  usdc: 5_120_250_000n,
  buyUsdc: 4_000_125_000n,
  sellUsdc: 1_120_125_000n,
  shares: 10_011_500_000n,
};

export const exampleBuilder: BuilderRow = {
  builder: `0x${'bc'.repeat(32)}`,
  trades: '3',
  usdc: '66275000',
  maker_amount: '120500000',
  taker_amount: '66275000',
  buy_shares: '0',
  sell_shares: '120500000',
  fee: '331000',
  first_at: 1790000000,
  last_at: 1790000200,
};
