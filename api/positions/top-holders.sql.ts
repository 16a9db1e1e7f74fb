import { SINGLE_CHUNK_MAX_ROWS, type Sql, type SqlValue } from '../tables/port.js';
import {
  type HolderFilter,
  type HolderSort,
  holderConditions,
  type PositionRow,
  pricesParam,
  sortExpression,
  sqlDirection,
} from './positions.sql.js';

/** Columns of a position in lists of a token's holders. */
export type HolderRow = Pick<
  PositionRow,
  | 'wallet'
  | 'token'
  | 'size'
  | 'received'
  | 'avg_price'
  | 'realized_pnl'
  | 'total_bought'
  | 'fills'
  | 'first_at'
  | 'unpriced'
  | 'last_at'
  | 'last_redeemed_at'
>;

export interface RankedHolderRow extends HolderRow {
  /** Sort value, a whole number as text. */
  readonly value: string;
}

/** Place of a holder in the order of a token's holders. */
export interface HolderRank {
  readonly value: bigint;
  readonly wallet: string;
}

/** The order and range of a page of one token's holders. */
export interface HolderPageOrder {
  readonly sort: HolderSort;
  readonly order: 'asc' | 'desc';
  /** Price of the token, 1e-6 USD. */
  readonly price: bigint;
  readonly rows: number;
  readonly offset: number;
  /** Only holders after this one. */
  readonly beyond: HolderRank | null;
}

/** Holders of the filter's one token in the given order, ties by wallet. */
export function topHoldersSql(filter: HolderFilter, by: HolderPageOrder): Sql {
  const where = holderConditions(filter);
  const value = `toInt256(${sortExpression(by.sort, 1)})`;
  const params: Record<string, SqlValue> = {
    ...where.params,
    prices: pricesParam({ prices: [by.price] }),
    rows: by.rows,
    offset: by.offset,
  };
  let range = '';
  if (by.beyond !== null) {
    const than = by.order === 'asc' ? '>' : '<';
    range = ` AND (${value} ${than} {beyond_value:Int256} OR (${value} = {beyond_value:Int256} AND p.wallet > {beyond_wallet:String}))`;
    params.beyond_value = by.beyond.value;
    params.beyond_wallet = by.beyond.wallet;
  }
  return {
    text: `SELECT p.wallet AS wallet, toString(p.token_id) AS token, p.size AS size, p.received AS received, p.avg_price AS avg_price,
        p.realized_pnl AS realized_pnl, p.total_bought AS total_bought, p.fills AS fills, toUnixTimestamp(p.first_at) AS first_at,
        p.unpriced AS unpriced, toUnixTimestamp(p.last_at) AS last_at, toUnixTimestamp(p.last_redeemed_at) AS last_redeemed_at, toString(${value}) AS value
      FROM positions_by_token AS p FINAL
      WHERE ${where.text}${range}
      ORDER BY ${value} ${sqlDirection(by.order)}, p.wallet
      LIMIT {rows:UInt32} OFFSET {offset:UInt32}`,
    params,
    singleChunk: by.rows <= SINGLE_CHUNK_MAX_ROWS,
  };
}
