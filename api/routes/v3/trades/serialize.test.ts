import fc from 'fast-check';
import { expect, it } from 'vitest';
import { untitled } from '../../../fills/titles.js';
import { tradeFrom } from './serialize.js';

const row = {
  block_number: 1,
  log_index: '7',
  timestamp: '1790000200',
  tx_hash: '0xaa',
  exchange_version: 2,
  neg_risk: false,
  order_hash: '0xbb',
  maker: '0x1',
  taker: '0x2',
  role: 'maker' as const,
  side: 'BUY' as const,
  token_id: '5',
  usdc: '0',
  shares: '0',
  fee: '0',
  fee_shares: '0',
  builder: '',
};
const uint64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });

it('tradeFrom returns amounts as the nearest double, and swaps the legs with the side', () => {
  fc.assert(
    fc.property(uint64, uint64, (usdc, shares) => {
      const amounts = { usdc: usdc.toString(), shares: shares.toString() };
      const buy = tradeFrom({ ...row, ...amounts }, untitled);
      const sell = tradeFrom({ ...row, ...amounts, side: 'SELL' }, untitled);
      const decimal = (units: bigint) =>
        Number(`${units / 1_000_000n}.${(units % 1_000_000n).toString().padStart(6, '0')}`);
      expect(buy).toMatchObject({
        maker_amount: decimal(usdc),
        taker_amount: decimal(shares),
        maker_asset_id: '0',
        taker_asset_id: '5',
        side: 0,
      });
      expect(sell).toMatchObject({
        maker_amount: decimal(shares),
        taker_amount: decimal(usdc),
        maker_asset_id: '5',
        taker_asset_id: '0',
        side: 1,
      });
      expect(buy.amount_usd).toBe(sell.amount_usd);
    }),
  );
});

it('tradeFrom has price 0 for a fill without shares and side null for V1', () => {
  expect(tradeFrom({ ...row, usdc: '5' }, untitled).price).toBe(0);
  expect(tradeFrom({ ...row, exchange_version: 1 }, untitled).side).toBeNull();
});

it('tradeFrom rounds the price half up to 4 decimals', () => {
  expect(tradeFrom({ ...row, usdc: '12345', shares: '100000000' }, untitled).price).toBe(0.0001);
  expect(tradeFrom({ ...row, usdc: '61250', shares: '1000000' }, untitled).price).toBe(0.0613);
  expect(tradeFrom({ ...row, usdc: '61249', shares: '1000000' }, untitled).price).toBe(0.0612);
});
