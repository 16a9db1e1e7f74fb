import type { Migration, TableSpec } from '../../infra/clickhouse/ddl.js';

export const walletEvents: TableSpec = {
  name: 'wallet_events',
  columns: `
      wallet String,
      kind Enum8('split' = 0, 'merge' = 1, 'conversion' = 2, 'redemption' = 3),
      block_number UInt64,
      log_index UInt32,
      timestamp DateTime('UTC'),
      tx_hash String,
      subject_id String,
      amount UInt64,
      index_sets Array(String),
      source Nullable(String),
      _offset UInt64`,
  engine: 'ReplacingMergeTree',
  engineArgs: ['_offset'],
  orderBy: '(wallet, kind, block_number, log_index)',
  placement: { shardBy: 'intHash64(block_number)' },
};

export const collateralFlows: TableSpec = {
  name: 'collateral_flows',
  columns: `
      wallet String,
      block_number UInt64,
      log_index UInt32,
      timestamp DateTime('UTC'),
      tx_hash String,
      direction Enum8('deposit' = 0, 'withdrawal' = 1),
      counterparty String,
      asset String,
      amount UInt64,
      _offset UInt64`,
  engine: 'ReplacingMergeTree',
  engineArgs: ['_offset'],
  orderBy: '(wallet, block_number, log_index)',
  placement: { shardBy: 'intHash64(block_number)' },
};

/**
 * `wallet_events`: splits, merges, neg-risk conversions and redemptions of a wallet, each kind in chain order. subject_id is the condition,
 * for conversions the neg-risk market. amount is USDC base units (redemption: the payout). index_sets: decimal bit masks; for a
 * conversion the questions whose NO was converted.
 * `collateral_flows`: collateral that was wrapped for (deposit) or unwrapped to (withdrawal) a wallet; counterparty is the ramp.
 */
export const walletEventTables: Migration = {
  id: '0008_wallet_events',
  statements: (ddl) => [...ddl.table(walletEvents), ...ddl.table(collateralFlows)],
};
