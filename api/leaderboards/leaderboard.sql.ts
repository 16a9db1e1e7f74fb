import { isComboSql, unrealizedPnlSql } from '../../schemas/primitives/positions.sql.js';
import type { TokenChoice } from '../fills/tokens.sql.js';
import type { Sql, SqlValue } from '../tables/port.js';

/** Metrics by which wallets are ranked. */
export const rankingMetrics = [
  'total',
  'realized',
  'unrealized',
  'profit',
  'loss',
  'volume',
  'wins',
  'positions',
] as const;
export type RankingMetric = (typeof rankingMetrics)[number];

/** Lowest rank of a leaderboard. */
export const MAX_RANK = 10_000;

export interface LeaderboardRow {
  readonly rank: number;
  readonly wallet: string;
  /** Base units, as text. */
  readonly realized: string;
  readonly gross_profit: string;
  readonly gross_loss: string;
  readonly unrealized: string;
  readonly volume: string;
  readonly wins: number | string;
  readonly losses: number | string;
  readonly positions: number | string;
  readonly open: number | string;
  readonly incomplete: number | string;
}

/** Time of the newest snapshot of a metric, Unix milliseconds. */
export const newestSnapshotSql = (metric: RankingMetric): Sql => ({
  text: `SELECT toUnixTimestamp64Milli(taken_at) AS at FROM leaderboards WHERE board = {board:String} ORDER BY taken_at DESC LIMIT 1`,
  params: { board: metric },
  singleChunk: true,
});

const sums = `toString(realized_pnl) AS realized, toString(l.gross_profit) AS gross_profit, toString(l.gross_loss) AS gross_loss,
        toString(unrealized_pnl) AS unrealized, toString(l.volume) AS volume, wins, losses, positions, open_positions AS open,
        incomplete_positions AS incomplete`;

/** Ranks of one snapshot of a metric, from `afterRank` + 1 on, and one row more than `rows`. */
export const leaderboardSql = (metric: RankingMetric, takenAtMs: number, afterRank: number, rows: number): Sql => ({
  text: `SELECT rank, wallet, ${sums}
      FROM leaderboards AS l
      WHERE board = {board:String} AND taken_at = fromUnixTimestamp64Milli(toInt64({at:UInt64}), 'UTC')
        AND rank > {after:UInt32} AND rank <= {last:UInt32}
      ORDER BY rank`,
  params: { board: metric, at: takenAtMs, after: afterRank, last: afterRank + rows + 1 },
  singleChunk: true,
});

const metricExpressions: Readonly<Record<RankingMetric, string>> = {
  total: `sum(toInt256(p.realized_pnl)) + sum(${unrealizedPnlSql('p', 'q')})`,
  realized: 'sum(toInt256(p.realized_pnl))',
  unrealized: `sum(${unrealizedPnlSql('p', 'q')})`,
  profit: 'sumIf(toInt256(p.realized_pnl), p.realized_pnl > 0)',
  loss: '-sumIf(toInt256(p.realized_pnl), p.realized_pnl < 0)',
  volume: 'sum(toUInt256(p.bought_usdc) + toUInt256(p.sold_usdc))',
  wins: 'countIf(p.realized_pnl > 0)',
  positions: 'count()',
};

const positionColumns = 'wallet, token_id, size, received, avg_price, realized_pnl, bought_usdc, sold_usdc';

/** Metrics that value open positions. */
const pricedMetrics: ReadonlySet<RankingMetric> = new Set(['total', 'unrealized']);

/** Wallets ranked by a metric over some tokens, ties by wallet. */
export function rankedByTokensSql(tokens: TokenChoice, metric: RankingMetric): Sql {
  const [chosen, params]: [string, Readonly<Record<string, SqlValue>>] =
    tokens.among === null
      ? ['SELECT toUInt256(arrayJoin({tokens:Array(String)}))', { tokens: tokens.tokenIds }]
      : [tokens.among.text(), tokens.among.params];
  const prices = `LEFT JOIN (
        SELECT token_id, price, source, resolved FROM token_prices
        WHERE token_id IN (SELECT * FROM chosen)
      ) AS q ON q.token_id = p.token_id`;
  return {
    text: `WITH chosen AS (${chosen})
      SELECT p.wallet AS id, toString(toInt256(${metricExpressions[metric]})) AS value
      FROM (
        SELECT ${positionColumns}
        FROM positions_by_token FINAL
        WHERE token_id IN (SELECT * FROM chosen) AND NOT ${isComboSql('token_id')}
      ) AS p
      ${pricedMetrics.has(metric) ? prices : ''}
      GROUP BY id
      ORDER BY ${metricExpressions[metric]} DESC, id
      LIMIT {rows:UInt32}`,
    params: { ...params, rows: MAX_RANK },
  };
}

export interface TagRankRow {
  readonly id: string;
  /** The metric, whole number as text. */
  readonly value: string;
  /** Time of its snapshot, Unix milliseconds. */
  readonly at: number | string;
}

/** The metrics as columns of a snapshot. */
const snapshotMetrics: Readonly<Record<RankingMetric, string>> = {
  total: 'toInt256(realized_pnl) + toInt256(unrealized_pnl)',
  realized: 'toInt256(realized_pnl)',
  unrealized: 'toInt256(unrealized_pnl)',
  profit: 'toInt256(gross_profit)',
  loss: '-toInt256(gross_loss)',
  volume: 'toInt256(volume)',
  wins: 'toInt256(wins)',
  positions: 'toInt256(positions)',
};

/** Ranks of a tag's leaderboard from the newest snapshot of each rank: an older snapshot with more wallets leaves its last ranks. */
export const tagLeaderboardSql = (tag: string, metric: RankingMetric): Sql => ({
  text: `SELECT argMax(wallet, taken_at) AS id, toString(toInt256(argMax(${snapshotMetrics[metric]}, taken_at))) AS value, toUnixTimestamp64Milli(max(taken_at)) AS at
      FROM tag_leaderboards
      WHERE tag = {tag:String} AND board = {board:String}
      GROUP BY rank
      ORDER BY rank`,
  params: { tag, board: metric },
  singleChunk: true,
});

export interface TagCountsRow {
  /** Tokens whose market has any of the tags. */
  readonly total: number | string;
  /** Tokens per tag, in the order of the tags. */
  readonly counts: readonly (number | string)[];
}

/** Tokens of several tags, together and of each. */
export const tagCountsSql = (tags: readonly string[]): Sql => ({
  text: `SELECT count() AS total, sumForEach(arrayMap(tag -> toUInt64(has(tags, tag)), {tags:Array(String)})) AS counts
      FROM token_tags FINAL WHERE hasAny(tags, {tags:Array(String)})`,
  params: { tags },
  singleChunk: true,
});

export interface TagSummaryRow extends LeaderboardRow {
  /** Time of the snapshot, Unix milliseconds. */
  readonly at: number | string;
}

/** Sums of some wallets in the newest snapshot of a tag that ranks them by the metric. */
export const tagSummariesSql = (tag: string, board: RankingMetric, wallets: readonly string[]): Sql => ({
  text: `SELECT rank, wallet, ${sums}, toUnixTimestamp64Milli(taken_at) AS at
      FROM tag_leaderboards AS l
      WHERE tag = {tag:String} AND board = {board:String} AND wallet IN {wallets:Array(String)}
        AND taken_at = (SELECT max(taken_at) FROM tag_leaderboards WHERE tag = {tag:String} AND board = {board:String} AND rank = 1)`,
  params: { tag, board, wallets },
  singleChunk: true,
});

export interface VenueTotalsRow {
  readonly at: string;
  readonly fills: string;
  readonly redemptions: string;
  readonly wallets: string;
  readonly positions: string;
  /** Base units, as text. */
  readonly realized: string;
  readonly gross_profit: string;
  readonly gross_loss: string;
  readonly volume: string;
}

export const venueTotalsSql = (): Sql => ({
  text: `SELECT toString(toUnixTimestamp64Milli(taken_at)) AS at, toString(v.fills) AS fills, toString(v.redemptions) AS redemptions,
        toString(v.wallets) AS wallets, toString(v.positions) AS positions, toString(realized_pnl) AS realized,
        toString(v.gross_profit) AS gross_profit, toString(v.gross_loss) AS gross_loss, toString(v.volume) AS volume
      FROM venue_totals AS v
      ORDER BY taken_at DESC
      LIMIT 1`,
  params: {},
  singleChunk: true,
});
