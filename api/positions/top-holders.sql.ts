import { listSize } from '../tables/list-sizes.js';
import { SINGLE_CHUNK_MAX_ROWS, type Sql } from '../tables/port.js';
import {
  type HolderFilter,
  type HolderOrder,
  holderConditions,
  orderByExpression,
  type PositionRow,
  pricesParam,
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

type SqlText = string;
/** The columns of a HolderRow without the token, in this order. */
export type HolderTuple = readonly [
  SqlText,
  SqlText,
  SqlText,
  SqlText,
  SqlText,
  SqlText,
  number | SqlText,
  number | SqlText,
  number | SqlText,
  number | SqlText,
  number | SqlText | null,
];

const tupleExpression = (row: string): string =>
  `(${row}wallet, ${row}size, ${row}received, ${row}avg_price, ${row}realized_pnl, ${row}total_bought, ${row}fills, toUnixTimestamp(${row}first_at),
          ${row}unpriced, toUnixTimestamp(${row}last_at), toUnixTimestamp(${row}last_redeemed_at))`;

/** Converts a tuple to a row. */
export function holderRowOf(token: string, tuple: HolderTuple): HolderRow {
  const [wallet, size, received, avg_price, realized_pnl, total_bought, fills, first_at, ...rest] = tuple;
  const [unpriced, last_at, last_redeemed_at] = rest;
  const amounts = { size, received, avg_price, realized_pnl, total_bought };
  return { wallet, token, ...amounts, fills, first_at, unpriced, last_at, last_redeemed_at };
}

export interface TopHoldersRow {
  readonly token: string;
  /** Wallets in order, concatenated into one text: an array of ten thousand takes ten times as long to read. */
  readonly wallets: string;
  /** Rows of the first wallets. */
  readonly first: readonly HolderTuple[];
  /** Number of the token's holders within the sorted limit: all of its holders unless `maxRows` was reached. */
  readonly found: number | string;
}

/**
 * The holders of each token, at most `rows`, with the rows of the first ones: at least `shown`, at most 1,000. Only the first `maxRows` holders over all
 * tokens are sorted: ClickHouse finds those in one pass, but would sort hundreds of thousands of holders for a limit by token. The lists keep the order of
 * the subquery because it runs in one thread.
 */
export function topHoldersSql(
  filter: HolderFilter,
  by: HolderOrder & { readonly shown: number; readonly maxRows: number },
): Sql {
  const where = holderConditions(filter);
  return {
    text: `SELECT token_id AS token, arrayStringConcat(arraySlice(groupArray(wallet), 1, {rows:UInt32})) AS wallets,
        groupArray(${listSize(by.shown)})(${tupleExpression('')}) AS first, count() AS found
      FROM (
        SELECT token_id, wallet, size, received, avg_price, realized_pnl, total_bought, fills, first_at, unpriced, last_at, last_redeemed_at
        FROM positions_by_token AS p FINAL
        WHERE ${where.text}
        ORDER BY ${orderByExpression(by, filter.tokenIds.length)}, p.wallet, p.token_id
        LIMIT {at_most:UInt32}
      )
      GROUP BY token_id
      SETTINGS max_execution_time = 10, max_threads = 1`,
    params: { ...where.params, prices: pricesParam(by), rows: by.rows, at_most: by.maxRows },
    singleChunk: filter.tokenIds.length <= SINGLE_CHUNK_MAX_ROWS,
  };
}

/** Holder rows by wallet and token. The n-th wallet and the n-th token form a pair. */
export const holderRowsSql = (wallets: readonly string[], tokenIds: readonly string[]): Sql => ({
  text: `SELECT p.token_id AS token, ${tupleExpression('p.')} AS holder
      FROM positions_by_token AS p FINAL
      WHERE (p.token_id, p.wallet) IN (
        SELECT toUInt256(pair.1), pair.2 FROM (SELECT arrayJoin(arrayZip({tokens:Array(String)}, {wallets:Array(String)})) AS pair))
      SETTINGS max_execution_time = 10`,
  params: { tokens: tokenIds, wallets },
});
