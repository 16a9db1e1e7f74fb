import type { PriceTick, Trade } from '../../schemas/types.gen.js';

/** 32-byte hex of a small number, 0x-prefixed. */
export const hash = (n: number): string => `0x${n.toString(16).padStart(64, '0')}`;
/** 20-byte hex of a small number, 0x-prefixed. */
export const address = (n: number): string => `0x${n.toString(16).padStart(40, '0')}`;

/** A synthetic V2 fill, the `index`-th of its block; by default 40 shares at 0.5. */
export function createTestTrade(block: number, index: number, over: Partial<Trade> = {}): Trade {
  const txHash = hash(block * 1000 + index);
  const usdc = over.usdc ?? 20_000_000n;
  const shares = over.shares ?? 40_000_000n;
  return {
    id: `${txHash}-${index}`,
    block_number: block,
    block_hash: hash(block),
    timestamp_ms: 1_790_000_000_000 + block * 2000,
    tx_hash: txHash,
    log_index: index,
    exchange: '0xe111180000d2663c0091e4f400237545b87b996b',
    exchange_version: 2,
    neg_risk: false,
    order_hash: hash(index + 7),
    maker: address(1 + (index % 5)),
    taker: address(100 + (index % 3)),
    is_taker_order: false,
    side: 'BUY',
    token_id: String(9000 + (index % 4)),
    maker_asset_id: '0',
    taker_asset_id: String(9000 + (index % 4)),
    maker_amount: usdc,
    taker_amount: shares,
    fee: 0n,
    fee_shares: 0n,
    builder: null,
    ...over,
    usdc,
    shares,
  };
}

/** A synthetic spot tick at an integer second. */
export function createTestTick(feed: string, second: number, price: bigint, over: Partial<PriceTick> = {}): PriceTick {
  return {
    id: `${feed}-${second * 1000}-0`,
    feed,
    source: 'test',
    timestamp_ms: second * 1000,
    price: price * 10n ** 18n,
    bid: null,
    ask: null,
    is_twap: false,
    twap_window_s: null,
    received_at_ms: second * 1000 + 400,
    ...over,
  };
}
