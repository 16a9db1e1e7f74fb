import type { MaterializedViewSpec, Migration, TableSpec } from '../../infra/clickhouse/ddl.js';

const columns = `
      id String,
      block_number UInt64,
      log_index UInt32,
      timestamp DateTime('UTC'),
      tx_hash String,
      exchange LowCardinality(String),
      exchange_version UInt8,
      neg_risk Bool,
      order_hash String,
      maker String,
      taker String,
      is_taker_order Bool,
      side Enum8('BUY' = 0, 'SELL' = 1),
      token_id UInt256,
      usdc UInt64,
      shares UInt64,
      fee UInt64,
      fee_shares UInt64,
      builder String,
      _offset UInt64`;

const names = `id, block_number, log_index, timestamp, tx_hash, exchange, exchange_version, neg_risk, order_hash, maker, taker,
      is_taker_order, side, token_id, usdc, shares, fee, fee_shares, builder, _offset`;

export const fills: TableSpec = {
  name: 'fills',
  columns,
  engine: 'ReplacingMergeTree',
  engineArgs: ['_offset'],
  partitionBy: 'toYYYYMM(timestamp)',
  orderBy: '(block_number, log_index)',
  placement: { shardBy: 'intHash64(block_number)' },
};

export const fillsByWallet: TableSpec = {
  name: 'fills_by_wallet',
  columns: `
      wallet String,
      role Enum8('maker' = 0, 'taker' = 1),${columns}`,
  engine: 'ReplacingMergeTree',
  engineArgs: ['_offset'],
  orderBy: '(wallet, block_number, log_index, role)',
  placement: 'with its source',
};

const fillsByToken: TableSpec = {
  name: 'fills_by_token',
  columns,
  engine: 'ReplacingMergeTree',
  engineArgs: ['_offset'],
  orderBy: '(token_id, block_number, log_index)',
  placement: 'with its source',
};

export const fillsByBuilder: TableSpec = {
  name: 'fills_by_builder',
  columns,
  engine: 'ReplacingMergeTree',
  engineArgs: ['_offset'],
  orderBy: '(builder, block_number, log_index)',
  placement: 'with its source',
};

const lastPrices: TableSpec = {
  name: 'last_prices',
  columns: `
      token_id UInt256,
      last AggregateFunction(argMax, Tuple(usdc UInt64, shares UInt64, timestamp DateTime('UTC')), Tuple(UInt64, UInt32))`,
  engine: 'AggregatingMergeTree',
  orderBy: 'token_id',
  placement: 'with its source',
};

export const byWallet: MaterializedViewSpec = {
  name: 'fills_by_wallet_mv',
  from: fills,
  to: fillsByWallet,
  select: (from) => `SELECT party.1 AS wallet, party.2 AS role, ${names}
    FROM ${from}
    ARRAY JOIN if(is_taker_order, [(maker, 'maker')], [(maker, 'maker'), (taker, 'taker')]) AS party`,
};

export const byToken: MaterializedViewSpec = {
  name: 'fills_by_token_mv',
  from: fills,
  to: fillsByToken,
  select: (from) => `SELECT ${names} FROM ${from}`,
};

export const byBuilder: MaterializedViewSpec = {
  name: 'fills_by_builder_mv',
  from: fills,
  to: fillsByBuilder,
  select: (from) => `SELECT ${names} FROM ${from} WHERE builder != ''`,
};

/**
 * `fills`: one row per OrderFilled log, in chain order. usdc, shares, fee and fee_shares are base units (6 decimals); builder '' = none.
 * A condition is read through its two tokens. Copies with the sorting keys of other queries:
 * `fills_by_wallet` (a row per wallet and role; the exchange is no wallet), `fills_by_token`, `fills_by_builder`.
 * `last_prices`: newest maker fill per token.
 */
export const fillsTables: Migration = {
  id: '0002_fills',
  statements: (ddl) => [
    ...ddl.table(fills),
    ...ddl.table(fillsByWallet),
    ...ddl.materializedView(byWallet),
    ...ddl.table(fillsByToken),
    ...ddl.materializedView(byToken),
    ...ddl.table(fillsByBuilder),
    ...ddl.materializedView(byBuilder),
    ...ddl.table(lastPrices),
    ...ddl.materializedView({
      name: 'last_prices_mv',
      from: fills,
      to: lastPrices,
      select: (from) => `SELECT token_id,
      argMaxState(CAST((usdc, shares, timestamp), 'Tuple(usdc UInt64, shares UInt64, timestamp DateTime(\\'UTC\\'))'), (block_number, log_index)) AS last
    FROM ${from} WHERE NOT is_taker_order AND shares > 0 GROUP BY token_id`,
    }),
  ],
};
