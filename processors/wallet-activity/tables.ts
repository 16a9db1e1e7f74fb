import type { Migration, TableSpec } from '../../infra/clickhouse/ddl.js';

const walletActivity: TableSpec = {
  name: 'wallet_activity',
  columns: `
      wallet String,
      timestamp DateTime('UTC'),
      block_number UInt64,
      log_index UInt32,
      id String CODEC(ZSTD(1)),
      action Enum8('BUY' = 0, 'SELL' = 1, 'SPLIT' = 2, 'MERGE' = 3, 'REDEEM' = 4, 'CONVERT' = 5, 'SEND' = 6, 'RECEIVE' = 7),
      exchange_version UInt8,
      is_taker Bool,
      subject String CODEC(ZSTD(1)),
      tokens Array(UInt256) CODEC(ZSTD(1)),
      amounts Array(UInt64),
      shares UInt64,
      usdc UInt64,
      fee UInt64,
      fee_shares UInt64,
      payout_numerators Array(UInt64),
      payout_denominator UInt64,
      paid Array(UInt64),
      created Array(UInt256) CODEC(ZSTD(1)),
      is_resolved Bool,
      _partition UInt16,
      _offset UInt64`,
  engine: 'ReplacingMergeTree',
  engineArgs: ['_offset'],
  orderBy: '(wallet, timestamp, block_number, log_index, id)',
  settings: ['index_granularity = 1024'],
  placement: { shardBy: 'cityHash64(wallet)' },
};

/**
 * `wallet_activity`: activity of each wallet, oldest first per wallet: fills of its orders, splits, merges, redemptions, conversions and
 * transfers. Base units. usdc: of a fill without fee; collateral split or merged; payout of a redemption; collateral released by a conversion.
 * tokens and amounts: aligned; amounts are empty where the log does not contain them (all shares of the wallet). shares: the first amount, for
 * a fill before a fee in shares. payout_numerators / payout_denominator: payout per share of each token of a redemption, paid: its payout for
 * the shares in amounts. created: YES tokens created by a conversion. is_resolved: false for a redemption whose payout per token is unknown,
 * and for a conversion in a market whose questions are unknown.
 */
export const walletActivityTables: Migration = {
  id: '0056_wallet_activity',
  statements: (ddl) => ddl.table(walletActivity),
};
