import type { Sql } from '../tables/port.js';
import { allOf, given, whereClause } from '../tables/where.js';

export const largestPositionStatuses = ['open', 'redeemable', 'closed'] as const;
export type LargestPositionStatus = (typeof largestPositionStatuses)[number];

/** Positions that a snapshot contains per status, and over all statuses. */
export const MAX_LARGEST = 10_000;

/** Amounts as base units, all wide numbers as text. */
export interface LargestPositionRow {
  readonly rank: number;
  readonly status: LargestPositionStatus;
  readonly wallet: string;
  readonly token: string;
  readonly size: string;
  /** Decimal text, 18 decimals. */
  readonly avg_price: string;
  readonly bought_usdc: string;
  readonly realized_pnl: string;
}

/** Time of the newest snapshot, Unix milliseconds. */
export const newestLargestSnapshotSql = (): Sql => ({
  text: 'SELECT toUnixTimestamp64Milli(taken_at) AS at FROM largest_positions ORDER BY taken_at DESC LIMIT 1',
  params: {},
});

/** Returns a row if the snapshot is still retained. */
export const largestSnapshotExistsSql = (takenAtMs: number): Sql => ({
  text: `SELECT rank FROM largest_positions
      WHERE taken_at = fromUnixTimestamp64Milli(toInt64({at:UInt64}), 'UTC') AND rank = 1`,
  params: { at: takenAtMs },
});

/** Selects a page of one snapshot. */
export interface LargestPositionsQuery {
  readonly takenAtMs: number;
  /** null: any status. */
  readonly status: LargestPositionStatus | null;
  /** Base units; null: any size. */
  readonly minSize: bigint | null;
  /** Only positions after this rank in the order of the page; null: no bound. */
  readonly afterRank: number | null;
  /** desc: the largest first. */
  readonly order: 'asc' | 'desc';
  readonly offset: number;
  readonly limit: number;
}

/** One page of a snapshot and one row more. */
export function largestPositionsSql(page: LargestPositionsQuery): Sql {
  const { status, order } = page;
  const where = allOf(
    given(page.takenAtMs, 'at', `taken_at = fromUnixTimestamp64Milli(toInt64({at:UInt64}), 'UTC')`),
    given(page.afterRank, 'beyond', `l.rank ${order === 'desc' ? '>' : '<'} {beyond:UInt32}`),
    status === null ? `l.rank <= ${MAX_LARGEST}` : given(status, 'status', 'l.status = {status:String}'),
    given(page.minSize, 'min_size', 'l.size >= {min_size:UInt64}'),
  );
  return {
    text: `SELECT l.rank AS rank, l.status AS status, l.wallet AS wallet, toString(l.token_id) AS token, toString(l.size) AS size,
        toString(l.avg_price) AS avg_price, toString(l.bought_usdc) AS bought_usdc, toString(l.realized_pnl) AS realized_pnl
      FROM largest_positions AS l
      ${whereClause(where)}
      ORDER BY l.rank ${order === 'desc' ? 'ASC' : 'DESC'}
      LIMIT {rows:UInt32} OFFSET {offset:UInt32}`,
    params: { ...where.params, rows: page.limit + 1, offset: page.offset },
  };
}
