import { isComboSql, unrealizedPnlSql } from '../../schemas/primitives/positions.sql.js';
import { MAX_LISTED_TOKENS, taggedTokens } from '../../schemas/primitives/tags.sql.js';

/**
 * Whether a position is in a token of the venue: ConditionalTokens accepts any ERC-20 token as collateral, so that anyone can send wallets any amount of
 * worthless tokens. Such a token is never traded, and is not in `chain_tokens`, which has the tokens of the venue's collateral only. The set in memory has only
 * tokens that a wallet holds without having traded them: all tokens of the venue would be millions.
 */
const isOfVenue = `(fills > 0 OR ${isComboSql('token_id')}
          OR token_id IN (SELECT token_id FROM (SELECT token_id FROM last_prices UNION ALL SELECT token_id FROM chain_tokens)
            WHERE token_id IN (SELECT token_id FROM positions WHERE fills = 0)))`;

/** Ranked wallets per metric: the deepest page offset that the API serves. */
const MAX_RANKED_WALLETS = 10_000;

/** Sort key of each ranking metric, ascending. */
const rankingMetrics: Readonly<Record<string, string>> = {
  total: '-(w.realized + w.unrealized)',
  realized: '-w.realized',
  unrealized: '-w.unrealized',
  profit: '-w.profit',
  loss: 'w.loss',
  volume: '-toInt64(w.volume)',
  wins: '-toInt64(w.wins)',
  positions: '-toInt64(w.positions)',
};
const entry =
  'w.wallet, w.realized, w.profit, w.loss, w.unrealized, w.volume, w.wins, w.losses, w.positions, w.open, w.incomplete';

/** PnL of wallets over some positions, and the top wallets of each metric. `tokens`: a SELECT of the tokens whose prices are needed. */
const listsOf = (positions: string, tokens: string): string => `SELECT arrayJoin([${Object.entries(rankingMetrics)
  .map(([board, key]) => `('${board}', groupArraySorted(${MAX_RANKED_WALLETS})((${key}, ${entry})))`)
  .join(',\n        ')}]) AS list
      FROM (
        SELECT p.wallet AS wallet, toInt64(sum(p.realized_pnl)) AS realized, toInt64(sumIf(p.realized_pnl, p.realized_pnl > 0)) AS profit,
          toInt64(sumIf(p.realized_pnl, p.realized_pnl < 0)) AS loss, toInt64(sum(${unrealizedPnlSql('p', 'q')})) AS unrealized,
          sum(p.bought_usdc + p.sold_usdc) AS volume, countIf(p.realized_pnl > 0) AS wins, countIf(p.realized_pnl < 0) AS losses,
          count() AS positions, countIf(p.size > 0 AND NOT q.resolved) AS open, countIf(p.unpriced > 0) AS incomplete
        FROM (
          SELECT wallet, token_id, size, received, avg_price, realized_pnl, bought_usdc, sold_usdc, unpriced
          FROM ${positions} AND NOT ${isComboSql('token_id')}
        ) AS p
        LEFT JOIN (
          SELECT token_id, price, source, resolved FROM token_prices
          WHERE token_id IN (${tokens})
        ) AS q ON q.token_id = p.token_id
        GROUP BY wallet
      ) AS w`;

/** Sums of the list element `found`. */
const sums = `found.3 AS realized_pnl, found.4 AS gross_profit, found.5 AS gross_loss, found.6 AS unrealized_pnl, found.7 AS volume,
      toUInt32(found.8) AS wins, toUInt32(found.9) AS losses, toUInt32(found.10) AS positions, toUInt32(found.11) AS open_positions,
      toUInt32(found.12) AS incomplete_positions`;

/** One pass over all positions; only the first wallets of each board are kept while it runs. `{taken_at:UInt64}`: Unix milliseconds. */
export const rankingsSnapshotSql = `INSERT INTO leaderboards
    SELECT list.1 AS board, fromUnixTimestamp64Milli(toInt64({taken_at:UInt64}), 'UTC') AS taken_at, toUInt32(rank) AS rank, found.2 AS wallet,
      ${sums}
    FROM (
      ${listsOf(`positions FINAL WHERE ${isOfVenue}`, 'SELECT token_id FROM positions WHERE size > 0')}
    )
    ARRAY JOIN list.2 AS found, arrayEnumerate(list.2) AS rank`;

/** Tags with more tokens than requests list: first those without a snapshot, then by its age, so that a pass after a restart continues the one before. */
export const wideTags = `SELECT w.tag AS name
    FROM (SELECT tag FROM tag_tokens GROUP BY tag HAVING uniq(token_id) > ${MAX_LISTED_TOKENS}) AS w
    LEFT JOIN (SELECT tag, max(taken_at) AS at FROM tag_leaderboards WHERE rank = 1 GROUP BY tag) AS s ON s.tag = w.tag
    ORDER BY s.at, w.tag`;

/** The first wallets of each board of a tag with their sums, `{tag:String}`: one pass over the positions in its tokens. */
export const tagLeaderboardSnapshotSql = `INSERT INTO tag_leaderboards
    WITH chosen AS (${taggedTokens(['{tags:Array(String)}'])})
    SELECT {tag:String} AS tag, list.1 AS board, toUInt32(rank) AS rank, found.2 AS wallet,
      fromUnixTimestamp64Milli(toInt64({taken_at:UInt64}), 'UTC') AS taken_at, ${sums}
    FROM (
      ${listsOf('positions_by_token FINAL WHERE token_id IN (SELECT token_id FROM chosen)', 'SELECT token_id FROM chosen')}
    )
    ARRAY JOIN list.2 AS found, arrayEnumerate(list.2) AS rank`;

/** Totals of the venue: a match counts once in the volume, an OrderFilled log once in the fills. */
export const totalsSnapshotSql = `INSERT INTO venue_totals
    SELECT fromUnixTimestamp64Milli(toInt64({taken_at:UInt64}), 'UTC') AS taken_at, (SELECT count() FROM fills FINAL) AS fills,
      (SELECT count() FROM wallet_events FINAL WHERE kind = 'redemption') AS redemptions, uniqExact(p.wallet) AS wallets, count() AS positions,
      toInt64(sum(p.realized_pnl)) AS realized_pnl, toInt64(sumIf(p.realized_pnl, p.realized_pnl > 0)) AS gross_profit,
      toInt64(sumIf(p.realized_pnl, p.realized_pnl < 0)) AS gross_loss, (SELECT toUInt64(sum(usdc)) FROM hourly_volumes) AS volume
    FROM (SELECT wallet, realized_pnl FROM positions FINAL WHERE ${isOfVenue}) AS p`;

/** Positions per status in a snapshot of the largest positions. Statuses: open market, settled market, closed position. */
const MAX_LARGEST_POSITIONS = 10_000;

/** The largest positions of each status in one common order, so that those up to rank MAX_LARGEST_POSITIONS are the largest of any status. */
export const largestPositionsSnapshotSql = `INSERT INTO largest_positions
    SELECT fromUnixTimestamp64Milli(toInt64({taken_at:UInt64}), 'UTC') AS taken_at, toUInt32(place) AS rank, found.5 AS status, found.3 AS wallet,
      found.4 AS token_id, bitNot(found.1) AS size, found.6 AS avg_price, bitNot(found.2) AS bought_usdc, found.7 AS realized_pnl
    FROM (
      SELECT arraySort(arrayConcat(
        ${['open', 'redeemable', 'closed']
          .map((status) => `groupArraySortedIf(${MAX_LARGEST_POSITIONS})(entry, status = '${status}')`)
          .join(',\n        ')})) AS list
      FROM (
        SELECT multiIf(p.size = 0, 'closed', p.token_id IN (SELECT token_id FROM token_settlements), 'redeemable', 'open') AS status,
          (bitNot(p.size), bitNot(p.bought_usdc), p.wallet, p.token_id, status, p.avg_price, p.realized_pnl) AS entry
        FROM (SELECT wallet, token_id, size, avg_price, realized_pnl, bought_usdc FROM positions FINAL WHERE ${isOfVenue}) AS p
      )
    )
    ARRAY JOIN list AS found, arrayEnumerate(list) AS place`;

/**
 * Settings that bound memory and give way to concurrent queries: before each small block the refresh waits up to 20 ms for queries of a higher
 * priority (a lower number). The bound ensures that the refresh completes under any query load.
 */
export const snapshotSettings = {
  priority: '10',
  low_priority_query_wait_time_ms: '20',
  max_block_size: '16384',
  max_threads: 1,
  max_insert_threads: '1',
  min_insert_block_size_rows: '1000000',
  min_insert_block_size_bytes: '1000000000',
  max_execution_time: 280,
} as const;
