import type { Migration, TableSpec } from '../../infra/clickhouse/ddl.js';

const sumColumns = `
      realized_pnl Int64,
      gross_profit Int64,
      gross_loss Int64,
      unrealized_pnl Int64,
      volume UInt64,
      wins UInt32,
      losses UInt32,
      positions UInt32,
      open_positions UInt32`;

const leaderboards: TableSpec = {
  name: 'leaderboards',
  columns: `
      board LowCardinality(String),
      taken_at DateTime64(3, 'UTC'),
      rank UInt32,
      wallet String,${sumColumns}`,
  engine: 'MergeTree',
  partitionBy: 'toStartOfHour(taken_at)',
  orderBy: '(board, taken_at, rank)',
  ttl: 'toDateTime(taken_at) + INTERVAL 2 HOUR',
  settings: ['index_granularity = 1024', 'ttl_only_drop_parts = 1'],
  placement: 'everywhere',
};

const venueTotals: TableSpec = {
  name: 'venue_totals',
  columns: `
      taken_at DateTime64(3, 'UTC'),
      fills UInt64,
      redemptions UInt64,
      wallets UInt64,
      positions UInt64,
      realized_pnl Int64,
      gross_profit Int64,
      gross_loss Int64,
      volume UInt64`,
  engine: 'MergeTree',
  orderBy: 'taken_at',
  ttl: 'toDateTime(taken_at) + INTERVAL 1 DAY',
  placement: 'everywhere',
};

/**
 * Periodic snapshots of all wallets, since a ranking reads all positions, too much for one request. `leaderboards`: the first 10,000 wallets
 * per metric (total, realized, unrealized, profit, loss, volume, wins, positions) by rank, without combos; a snapshot becomes visible
 * atomically and is retained for two hours, so that a client can page through it. `venue_totals`: sums over all positions. Amounts in base
 * units, profits before fees, wins and losses count positions.
 */
export const leaderboardTables: Migration = {
  id: '0035_leaderboards',
  statements: (ddl) => [...ddl.table(leaderboards), ...ddl.table(venueTotals)],
};

const largestPositions: TableSpec = {
  name: 'largest_positions',
  columns: `
      taken_at DateTime64(3, 'UTC'),
      rank UInt32,
      status Enum8('open' = 0, 'redeemable' = 1, 'closed' = 2),
      wallet String CODEC(ZSTD(1)),
      token_id UInt256 CODEC(ZSTD(1)),
      size UInt64,
      avg_price Decimal(38, 18),
      bought_usdc UInt64,
      realized_pnl Int64`,
  engine: 'MergeTree',
  partitionBy: 'toStartOfFifteenMinutes(taken_at)',
  orderBy: '(taken_at, rank)',
  ttl: 'toDateTime(taken_at) + INTERVAL 1 HOUR',
  settings: ['index_granularity = 1024', 'ttl_only_drop_parts = 1'],
  placement: 'everywhere',
};

/**
 * Snapshots of the largest positions, taken with those above and retained for an hour: up to 10,000 of each status (shares in an open market,
 * shares in a settled market, closed) in one order: size, cost, wallet, token. Those up to rank 10,000 are the largest of any status.
 * Amounts in base units.
 */
export const largestPositionTables: Migration = {
  id: '0036_largest_positions',
  statements: (ddl) => ddl.table(largestPositions),
};

const tagLeaderboards: TableSpec = {
  name: 'tag_leaderboards',
  columns: `
      tag String,
      board LowCardinality(String),
      rank UInt32,
      wallet String CODEC(ZSTD(1)),
      taken_at DateTime64(3, 'UTC')`,
  engine: 'ReplacingMergeTree',
  engineArgs: ['taken_at'],
  orderBy: '(tag, board, rank)',
  ttl: 'toDateTime(taken_at) + INTERVAL 1 DAY',
  settings: ['index_granularity = 1024'],
  placement: 'everywhere',
};

/** `tag_leaderboards` without sums; recreated with them by `tagLeaderboardSums`. */
export const tagLeaderboardTables: Migration = {
  id: '0054_tag_leaderboards',
  statements: (ddl) => ddl.table(tagLeaderboards),
};

/**
 * `tag_leaderboards`: the same boards over the markets of one tag, for tags with more tokens than a request lists: the wallets by rank with their sums, of
 * the newest snapshot (the greatest `taken_at` of tag and board). A snapshot becomes visible atomically. Snapshots without sums are dropped with the table.
 */
export const tagLeaderboardSums = {
  statements: (ddl) => [
    ...ddl.dropTable(tagLeaderboards.name),
    ...ddl.table({ ...tagLeaderboards, columns: `${tagLeaderboards.columns},${sumColumns}` }),
  ],
} satisfies Pick<Migration, 'statements'>;

/** Positions of the wallet of which the recorded history lacks changes, in both tables. Older snapshots count none; they expire within a day. */
export const leaderboardCompleteness: Migration = {
  id: '0064_leaderboard_completeness',
  statements: (ddl) =>
    [leaderboards, tagLeaderboards].flatMap((table) => ddl.addColumn(table, 'incomplete_positions UInt32')),
};
