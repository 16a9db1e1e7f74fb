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

/** What lists of a token's holders show of a position. */
export type HolderRow = Pick<
  PositionRow,
  'wallet' | 'token' | 'size' | 'received' | 'avg_price' | 'realized_pnl' | 'total_bought' | 'fills' | 'first_at'
>;

type SqlText = string;
/** The columns of a HolderRow, the token left out, in this order. */
export type HolderTuple = readonly [
  SqlText,
  SqlText,
  SqlText,
  SqlText,
  SqlText,
  SqlText,
  number | SqlText,
  number | SqlText,
];

const tupleExpression = (row: string): string =>
  `(${row}wallet, ${row}size, ${row}received, ${row}avg_price, ${row}realized_pnl, ${row}total_bought, ${row}fills, toUnixTimestamp(${row}first_at))`;

/** The row of what a tuple holds. */
export function holderRowOf(token: string, tuple: HolderTuple): HolderRow {
  const [wallet, size, received, avg_price, realized_pnl, total_bought, fills, first_at] = tuple;
  return { wallet, token, size, received, avg_price, realized_pnl, total_bought, fills, first_at };
}

export interface TopHoldersRow {
  readonly token: string;
  /** In the order asked for, one after the other in one text: a list of ten thousand takes ten times as long to read. */
  readonly wallets: string;
  /** Of the first of them. */
  readonly first: readonly HolderTuple[];
  /** Its rows among those that were put in order: all its holders, unless those of all tokens are `atMost`. */
  readonly found: number | string;
}

/**
 * The holders of each token, at most `rows`, and what the first of them hold: `shown` or more, and no more than 1,000. Only the first `atMost` of all tokens
 * together are put in order: the engine finds those in one go, and would sort hundreds of thousands of holders for a limit by token. The lists keep the
 * order of the rows they are made of because one thread makes them.
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
        SELECT token_id, wallet, size, received, avg_price, realized_pnl, total_bought, fills, first_at
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

/** What wallets hold of tokens. Pairs stand at the same place of both lists. */
export const holderRowsSql = (wallets: readonly string[], tokenIds: readonly string[]): Sql => ({
  text: `SELECT p.token_id AS token, ${tupleExpression('p.')} AS held
      FROM positions_by_token AS p FINAL
      WHERE (p.token_id, p.wallet) IN (
        SELECT toUInt256(pair.1), pair.2 FROM (SELECT arrayJoin(arrayZip({tokens:Array(String)}, {wallets:Array(String)})) AS pair))
      SETTINGS max_execution_time = 10`,
  params: { tokens: tokenIds, wallets },
});
