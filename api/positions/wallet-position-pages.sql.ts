import { isComboSql } from '../../schemas/primitives/positions.sql.js';
import { listSize } from '../tables/list-sizes.js';
import { SINGLE_CHUNK_MAX_ROWS, type Sql } from '../tables/port.js';
import { type PositionRow, positionColumns } from './positions.sql.js';

/** Sort keys of a wallet's positions. */
export const walletSorts = ['realized_pnl', 'size', 'total_bought', 'avg_price', 'last_at'] as const;
export type WalletSort = (typeof walletSorts)[number];

/** Columns of the rows that accompany an order, with the names of `positionColumns`. */
const firstRowColumns = [
  'size',
  'received',
  'avg_price',
  'cost',
  'realized_pnl',
  'total_bought',
  'bought_usdc',
  'sold_usdc',
  'fees',
  'fee_shares',
  'fee_cost',
  'sent_cost',
  'fills',
  'unpriced',
  'first_at',
  'last_at',
  'last_trade_at',
  'last_redeemed_at',
] as const satisfies readonly (keyof PositionRow)[];
const firstRowExpression = (column: (typeof firstRowColumns)[number]): string =>
  column.endsWith('_at') ? `toUnixTimestamp(${column})` : column;

/** Positions in order: three lists of the same length, and the rows of the first positions. */
export interface WalletOrderRow {
  readonly tokens: readonly string[];
  /** Base units, as text. */
  readonly sizes: readonly string[];
  /** Time of the last redemption, Unix seconds; 0: none. */
  readonly redeemed: readonly (number | string)[];
  /** Tuples: see `firstRowsOf`. */
  readonly first: readonly (readonly unknown[])[];
}

/** The rows of the first positions of an order. */
export const firstRowsOf = (wallet: string, order: WalletOrderRow): readonly PositionRow[] =>
  order.first.map(
    (tuple, n) =>
      ({
        wallet,
        token: order.tokens[n],
        ...Object.fromEntries(firstRowColumns.map((column, at) => [column, tuple[at]])),
      }) as PositionRow,
  );

export interface WalletOrder {
  readonly sort: WalletSort;
  readonly order: 'asc' | 'desc';
  readonly combos: boolean;
  readonly rows: number;
  /** Minimum number of first positions that are returned with their rows, up to 1,000. */
  readonly shown: number;
}

const filterAndOrder = (by: Pick<WalletOrder, 'sort' | 'order' | 'combos'>): string => {
  // Without combos the order needs no sort key for them.
  const [without, last] = by.combos
    ? ['', `${isComboSql('p.token_id')}, `]
    : [` AND NOT ${isComboSql('p.token_id')}`, ''];
  return `WHERE p.wallet = {wallet:String}${without}
        ORDER BY ${last}p.${by.sort} ${by.order === 'asc' ? 'ASC' : 'DESC'}, p.token_id`;
};

/**
 * The positions of a wallet by a sort key, ties by token; combos, if requested, after the others. The lists keep the order of the subquery
 * because it runs in one thread.
 */
export const walletOrderSql = (wallet: string, by: WalletOrder): Sql => ({
  text: `SELECT groupArray(token_id) AS tokens, groupArray(size) AS sizes,
        groupArray(ifNull(toUnixTimestamp(last_redeemed_at), 0)) AS redeemed, groupArray(${listSize(by.shown)})((${firstRowColumns.map(firstRowExpression).join(', ')})) AS first
      FROM (
        SELECT p.token_id AS token_id, ${firstRowColumns.map((column) => `p.${column} AS ${column}`).join(', ')}
        FROM positions AS p FINAL
        ${filterAndOrder(by)}
        LIMIT {rows:UInt32}
      )
      SETTINGS max_execution_time = 10, max_threads = 1`,
  params: { wallet, rows: by.rows },
  singleChunk: true,
});

/** The same order, token ids only. */
export const walletTokenOrderSql = (wallet: string, by: Omit<WalletOrder, 'shown'>): Sql => ({
  text: `SELECT groupArray(token_id) AS tokens
      FROM (
        SELECT p.token_id AS token_id
        FROM positions AS p FINAL
        ${filterAndOrder(by)}
        LIMIT {rows:UInt32}
      )
      SETTINGS max_execution_time = 10, max_threads = 1, enable_analyzer = 0, prefer_column_name_to_alias = 1`,
  params: { wallet, rows: by.rows },
  singleChunk: true,
});

/** The first rows of the same order; for most wallets these are all. Uses the older analyzer, see simpleQuerySettings in fills.sql.ts. */
export const walletFirstRowsSql = (wallet: string, by: Omit<WalletOrder, 'shown'>): Sql => ({
  text: `SELECT ${positionColumns}
      FROM positions AS p FINAL
      ${filterAndOrder(by)}
      LIMIT {rows:UInt32}
      SETTINGS max_execution_time = 10, enable_analyzer = 0, prefer_column_name_to_alias = 1`,
  params: { wallet, rows: by.rows },
  singleChunk: by.rows <= SINGLE_CHUNK_MAX_ROWS,
});

/** Positions of a wallet in the given tokens. */
export const walletTokensSql = (wallet: string, tokenIds: readonly string[]): Sql => ({
  text: `SELECT ${positionColumns}
      FROM positions AS p FINAL
      WHERE p.wallet = {wallet:String} AND p.token_id IN (SELECT toUInt256(arrayJoin({tokens:Array(String)})))
      SETTINGS max_execution_time = 10`,
  params: { wallet, tokens: tokenIds },
});
