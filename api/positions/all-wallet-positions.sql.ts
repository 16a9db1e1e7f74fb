import type { LogPosition } from '../fills/log-position.js';
import { MAX_LARGEST } from '../leaderboards/largest-positions.sql.js';
import type { Sql } from '../tables/port.js';
import { allOf, given, whereClause } from '../tables/where.js';

/** Fills whose positions count as the ones traded last. */
export const MAX_NEWEST_FILLS = 10_000;

/** Orders of the positions of all wallets: by their last fill, by their size. */
export type AllWalletsSort = 'recent' | 'size';
export type AllWalletsStatus = 'open' | 'redeemable' | 'closed' | 'redeemed';

export interface AllWalletsFilter {
  /** null: any. Each position has exactly one. */
  readonly status: AllWalletsStatus | null;
  /** Shares, base units; null: any size. */
  readonly minSize: bigint | null;
}

/** Limit of candidates of an order: fills or ranks. */
export const maxCandidates: Readonly<Record<AllWalletsSort, number>> = { recent: MAX_NEWEST_FILLS, size: MAX_LARGEST };

const settled =
  'p.token_id IN (SELECT token_id FROM token_settlements WHERE token_id IN (SELECT token_id FROM candidates))';
const statusConditions: Readonly<Record<AllWalletsStatus, string>> = {
  open: `p.size > 0 AND NOT ${settled}`,
  redeemable: `p.size > 0 AND ${settled}`,
  closed: 'p.size = 0 AND p.last_redeemed_at IS NULL',
  redeemed: 'p.size = 0 AND p.last_redeemed_at IS NOT NULL',
};

/** Makers of the newest fills with their tokens. The accounting may be a little behind the fills. */
const recentCandidates = `SELECT f.maker AS wallet, f.token_id AS token_id, max((f.block_number, f.log_index)) AS place
        FROM (
          SELECT maker, token_id, block_number, log_index FROM fills
          WHERE block_number <= {last_block:UInt64} AND (block_number, log_index) <= ({last_block:UInt64}, {last_log:UInt32})
          ORDER BY block_number DESC, log_index DESC LIMIT {candidates:UInt32}) AS f
        GROUP BY wallet, token_id`;

/** The snapshot has statuses of its own; those up to MAX_LARGEST are the largest of any, the others belong to one status. */
function largestCandidates({ status }: AllWalletsFilter): string {
  const among = status === null ? `rank <= ${MAX_LARGEST}` : `status = '${status === 'redeemed' ? 'closed' : status}'`;
  return `SELECT wallet, token_id, rank AS place FROM largest_positions
        WHERE taken_at = fromUnixTimestamp64Milli(toInt64({taken_at:UInt64}), 'UTC') AND ${among}
        ORDER BY rank LIMIT {candidates:UInt32}`;
}

/** What an order is taken from: the fills up to one of them, by time; or a periodic snapshot, by size. */
export type AllWalletsSnapshot = { readonly atMost: LogPosition } | { readonly takenAtMs: number };

/** Positions that pass the filter, in order, among the first `candidates` of the order. */
export function allWalletPositionsSql(filter: AllWalletsFilter, snapshot: AllWalletsSnapshot, candidates: number): Sql {
  const isRecent = 'atMost' in snapshot;
  const of: Sql['params'] = isRecent
    ? { last_block: snapshot.atMost.blockNumber, last_log: snapshot.atMost.logIndex }
    : { taken_at: snapshot.takenAtMs };
  const filtered = allOf(
    filter.status && statusConditions[filter.status],
    given(filter.minSize, 'min_size', 'p.size >= {min_size:UInt64}'),
  );
  const where = allOf('(p.token_id, p.wallet) IN (SELECT token_id, wallet FROM candidates)', filtered);
  // Only a filter looks at columns that later versions of a row change.
  const final = filtered.text === '' ? '' : ' FINAL';
  return {
    text: `WITH candidates AS (${isRecent ? recentCandidates : largestCandidates(filter)})
      SELECT c.wallet AS wallet, toString(c.token_id) AS token
      FROM candidates AS c
      WHERE (c.token_id, c.wallet) IN (SELECT p.token_id, p.wallet FROM positions_by_token AS p${final} ${whereClause(where)})
      ORDER BY c.place ${isRecent ? 'DESC' : 'ASC'}, c.wallet, c.token_id
      LIMIT {candidates:UInt32}`,
    params: { ...where.params, ...of, candidates },
  };
}
