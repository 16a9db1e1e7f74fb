import type { Migration, TableSpec } from '../../infra/clickhouse/ddl.js';

const scores: TableSpec = {
  name: 'copy_scores',
  columns: `
      wallet String CODEC(ZSTD(1)),
      period LowCardinality(String),
      actual Int64,
      slippage Int64,
      trade_count UInt32,
      partial Bool,
      computed_at DateTime64(3, 'UTC')`,
  engine: 'ReplacingMergeTree',
  engineArgs: ['computed_at'],
  orderBy: '(wallet, period)',
  ttl: 'toDateTime(computed_at) + INTERVAL 30 DAY',
  settings: ['index_granularity = 1024'],
  placement: 'everywhere',
};

const scoreErrors: TableSpec = {
  name: 'copy_score_errors',
  columns: `
      wallet String CODEC(ZSTD(1)),
      error LowCardinality(String),
      at DateTime64(3, 'UTC')`,
  engine: 'ReplacingMergeTree',
  engineArgs: ['at'],
  orderBy: 'wallet',
  ttl: 'toDateTime(at) + INTERVAL 30 DAY',
  settings: ['index_granularity = 1024'],
  placement: 'everywhere',
};

const cycles: TableSpec = {
  name: 'copy_cycles',
  columns: `
      started_at DateTime64(3, 'UTC'),
      completed_at DateTime64(3, 'UTC')`,
  engine: 'ReplacingMergeTree',
  engineArgs: ['completed_at'],
  orderBy: 'started_at',
  ttl: 'toDateTime(started_at) + INTERVAL 1 YEAR',
  placement: 'everywhere',
};

/**
 * Scores of the wallets in copy-PnL pools, computed by the copy-pnl task, not by a sink: a rebuild does not cover them.
 *
 * `copy_scores`: per wallet and period the cash flow `actual` in base units of USDC and `slippage` in hundredths of base units; all periods of a
 * wallet are written in one insert. A wallet that left every pool keeps its scores until the TTL.
 * `copy_score_errors`: the last failure of a wallet; it is current while it is newer than the wallet's scores.
 * `copy_cycles`: refresh cycles over all pools; `completed_at` is 1970-01-01 while a cycle runs.
 */
export const copyScoreTables: Migration = {
  id: '0057_copy_scores',
  statements: (ddl) => [...ddl.table(scores), ...ddl.table(scoreErrors), ...ddl.table(cycles)],
};
