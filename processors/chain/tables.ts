import type { Migration, TableSpec } from '../../infra/clickhouse/ddl.js';

export const blocks: TableSpec = {
  name: 'blocks',
  columns: `
      block_number UInt64,
      block_hash String,
      parent_hash String,
      timestamp DateTime('UTC'),
      tx_count Nullable(UInt32),
      polymarket_tx_count UInt32,
      settlement_count UInt32,
      trade_volume UInt64,
      _offset UInt64`,
  engine: 'ReplacingMergeTree',
  engineArgs: ['_offset'],
  orderBy: 'block_number',
  placement: 'everywhere',
};

const conditions: TableSpec = {
  name: 'conditions',
  columns: `
      condition_id String,
      oracle String,
      question_id String,
      outcome_slot_count UInt16,
      block_number UInt64,
      log_index UInt32,
      timestamp DateTime('UTC'),
      tx_hash String,
      _offset UInt64`,
  engine: 'ReplacingMergeTree',
  engineArgs: ['_offset'],
  orderBy: 'condition_id',
  placement: 'everywhere',
};

export const resolutions: TableSpec = {
  name: 'resolutions',
  columns: `
      condition_id String,
      oracle String,
      question_id String,
      outcome_slot_count UInt16,
      payout_numerators Array(UInt256),
      block_number UInt64,
      log_index UInt32,
      timestamp DateTime('UTC'),
      tx_hash String,
      _offset UInt64`,
  engine: 'ReplacingMergeTree',
  engineArgs: ['_offset'],
  orderBy: 'condition_id',
  placement: 'everywhere',
};

/** `blocks`, `conditions` (prepared) and `resolutions` of final blocks. trade_volume is USDC base units. */
export const chainTables: Migration = {
  id: '0003_chain',
  statements: (ddl) => [...ddl.table(blocks), ...ddl.table(conditions), ...ddl.table(resolutions)],
};
