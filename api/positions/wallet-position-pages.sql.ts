import { isComboSql } from '../../schemas/primitives/positions.sql.js';
import { listSize } from '../tables/list-sizes.js';
import { SINGLE_CHUNK_MAX_ROWS, type Sql } from '../tables/port.js';
import { type PositionRow, positionColumns } from './positions.sql.js';

/** What a wallet's positions are ordered by. */
export const walletSorts = ['realized_pnl', 'size', 'total_bought', 'avg_price', 'last_at'] as const;
export type WalletSort = (typeof walletSorts)[number];

/** Columns of the rows that come with an order, as `positionColumns` has them. */
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

/** Positions in order: three lists of the same length, and what the first of them are. */
export interface WalletOrderRow {
  readonly tokens: readonly string[];
  /** Base units, as text. */
  readonly sizes: readonly string[];
  /** Of the last redemption, Unix seconds; 0: none. */
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
  /** How many of the first come with their rows at least, where that is no more than 1,000. */
  readonly shown: number;
}

const filterAndOrder = (by: Pick<WalletOrder, 'sort' | 'order' | 'combos'>): string => {
  // Where there are none, they need no place in the order.
  const [without, last] = by.combos
    ? ['', `${isComboSql('p.token_id')}, `]
    : [` AND NOT ${isComboSql('p.token_id')}`, ''];
  return `WHERE p.wallet = {wallet:String}${without}
        ORDER BY ${last}p.${by.sort} ${by.order === 'asc' ? 'ASC' : 'DESC'}, p.token_id`;
};

/**
 * The positions of a wallet by a measure, ties by token; combos, where they are asked for, come after the others. The lists keep the order of the rows they
 * are made of because one thread makes them.
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

/** The same order by name alone. */
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

/** The first rows of the same order: all there is of most wallets. The older analyzer takes less, see the fills. */
export const walletFirstRowsSql = (wallet: string, by: Omit<WalletOrder, 'shown'>): Sql => ({
  text: `SELECT ${positionColumns}
      FROM positions AS p FINAL
      ${filterAndOrder(by)}
      LIMIT {rows:UInt32}
      SETTINGS max_execution_time = 10, enable_analyzer = 0, prefer_column_name_to_alias = 1`,
  params: { wallet, rows: by.rows },
  singleChunk: by.rows <= SINGLE_CHUNK_MAX_ROWS,
});

/** Some positions of a wallet. */
export const walletTokensSql = (wallet: string, tokenIds: readonly string[]): Sql => ({
  text: `SELECT ${positionColumns}
      FROM positions AS p FINAL
      WHERE p.wallet = {wallet:String} AND p.token_id IN (SELECT toUInt256(arrayJoin({tokens:Array(String)})))
      SETTINGS max_execution_time = 10`,
  params: { wallet, tokens: tokenIds },
});
