import type { Migration, TableSpec } from '../../infra/clickhouse/ddl.js';
import { conditionTokens } from './tables.js';

const chainTokens: TableSpec = {
  name: 'chain_tokens',
  columns: `
      token_id UInt256,
      other_token_id UInt256,
      condition_id String,
      outcome_index UInt8,
      neg_risk Bool,
      _offset UInt64,
      INDEX condition_bloom condition_id TYPE bloom_filter(0.01) GRANULARITY 1,
      INDEX chain_tokens_offset _offset TYPE minmax GRANULARITY 1`,
  engine: 'ReplacingMergeTree',
  engineArgs: ['_offset'],
  orderBy: 'token_id',
  settings: ['index_granularity = 256'],
  placement: 'everywhere',
};

/**
 * `chain_tokens`: both outcome tokens of every two-outcome condition named by any log: prepared, resolved, split, merged, redeemed or
 * converted (every question of the market, if the log contains their number). The history may start after a condition was prepared, so
 * `condition_tokens` alone is incomplete. The migration copies the rows of prepared conditions; `npm run rebuild -- chain_tokens` adds the others.
 */
export const chainTokenTables: Migration = {
  id: '0050_chain_tokens',
  statements: (ddl) => [
    ...ddl.table(chainTokens),
    ...ddl.backfill({
      name: 'chain_tokens_of_prepared',
      from: conditionTokens,
      to: chainTokens,
      select: (
        from,
      ) => `SELECT a.token_id AS token_id, b.token_id AS other_token_id, a.condition_id AS condition_id, a.outcome_index AS outcome_index,
        a.neg_risk AS neg_risk, a._offset AS _offset
      FROM ${from} AS a INNER JOIN ${from} AS b ON a.condition_id = b.condition_id
      WHERE a.outcome_index != b.outcome_index`,
    }),
  ],
};
