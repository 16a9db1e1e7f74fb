import type { Migration, TableSpec } from '../../infra/clickhouse/ddl.js';
import { tokenAmountsTable } from '../sink/token-amounts.js';

const conditionEvents: TableSpec = {
  name: 'condition_events',
  columns: `
      condition_id String,
      block_number UInt64,
      log_index UInt32,
      timestamp DateTime('UTC'),
      tx_hash String,
      kind Enum8('split' = 0, 'merge' = 1, 'conversion' = 2, 'redemption' = 3),
      wallet String,
      token_id UInt256,
      amount UInt64,
      amounts Array(UInt64),
      collateral Int64,
      _offset UInt64,
      INDEX condition_events_offset _offset TYPE minmax GRANULARITY 1`,
  engine: 'ReplacingMergeTree',
  engineArgs: ['_offset'],
  orderBy: '(condition_id, block_number, log_index)',
  placement: { shardBy: 'cityHash64(condition_id)' },
};

const collateral = tokenAmountsTable('collateral_by_token');

export const conditionTokens: TableSpec = {
  name: 'condition_tokens',
  columns: `
      token_id UInt256,
      condition_id String,
      outcome_index UInt8,
      question_id String,
      neg_risk Bool,
      timestamp DateTime('UTC'),
      _offset UInt64,
      INDEX condition_bloom condition_id TYPE bloom_filter(0.01) GRANULARITY 1`,
  engine: 'ReplacingMergeTree',
  engineArgs: ['_offset'],
  orderBy: 'token_id',
  settings: ['index_granularity = 256'],
  placement: 'everywhere',
};

export const tokenSettlements: TableSpec = {
  name: 'token_settlements',
  columns: `
      token_id UInt256,
      condition_id String,
      outcome_index UInt8,
      numerator UInt256,
      denominator UInt256,
      timestamp DateTime('UTC'),
      _offset UInt64`,
  engine: 'ReplacingMergeTree',
  engineArgs: ['_offset'],
  orderBy: 'token_id',
  settings: ['index_granularity = 256'],
  placement: 'everywhere',
};

/**
 * `condition_events`: splits, merges, redemptions and neg-risk conversions by condition, a conversion once per condition whose NO was converted.
 * amount: full sets, or the payout of a redemption, or NO shares; amounts: shares redeemed per index set if the log contains them, else empty;
 * collateral: added to (negative: removed from) the condition. token_id: token of the first outcome, for a conversion the NO token. Base units.
 * `collateral_by_token`: sum of collateral per token; open interest is its sum with `minted_by_token`.
 * `condition_tokens`, `token_settlements`: tokens of prepared conditions, and payouts of resolved ones, by token.
 */
export const activityTables: Migration = {
  id: '0020_conditions',
  statements: (ddl) => [
    ...ddl.table(conditionEvents),
    ...ddl.table(collateral),
    ...ddl.materializedView({
      name: 'collateral_by_token_mv',
      from: conditionEvents,
      to: collateral,
      select: (from) =>
        `SELECT token_id, sum(e.collateral) AS amount FROM ${from} AS e WHERE e.collateral != 0 GROUP BY token_id`,
    }),
    ...ddl.table(conditionTokens),
    ...ddl.table(tokenSettlements),
  ],
};
