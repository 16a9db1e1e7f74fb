import { isComboSql } from '../../schemas/primitives/positions.sql.js';
import { oldAnalyzer } from '../fills/fills.sql.js';
import { SINGLE_CHUNK_MAX_ROWS, type Sql, type SqlValue } from '../tables/port.js';
import { positionColumns, sqlDirection } from './positions.sql.js';

/** Sort keys of a wallet's positions. */
export const walletSorts = ['realized_pnl', 'size', 'total_bought', 'avg_price', 'last_at'] as const;
export type WalletSort = (typeof walletSorts)[number];

/** The sort keys as whole numbers; an average price in 10^-18 USD. */
const values: Readonly<Record<WalletSort, string>> = {
  realized_pnl: 'toInt256(p.realized_pnl)',
  size: 'toInt256(p.size)',
  total_bought: 'toInt256(p.total_bought)',
  avg_price: `toInt256(reinterpret(p.avg_price, 'Int128'))`,
  last_at: 'toInt256(toUnixTimestamp(p.last_at))',
};

export interface WalletOrder {
  readonly sort: WalletSort;
  readonly order: 'asc' | 'desc';
  readonly combos: boolean;
}

const isCombo = isComboSql('p.token_id');
// Without combos the order needs no sort key for them.
const AMONG = ' AND p.token_id IN (SELECT toUInt256(arrayJoin({tokens:Array(String)})))';
const filterOf = ({ combos }: WalletOrder) => `p.wallet = {wallet:String}${combos ? '' : ` AND NOT ${isCombo}`}`;
const orderOf = ({ combos, sort, order }: WalletOrder) =>
  `${combos ? `${isCombo}, ` : ''}p.${sort} ${sqlDirection(order)}, p.token_id`;

/** Place of a position in the order of a wallet's positions. */
export interface WalletPlace {
  readonly isCombo: boolean;
  readonly value: bigint;
  readonly tokenId: string;
}

/**
 * One page of the positions of a wallet by a sort key, ties by token; combos, if requested, after the others. Uses the old analyzer, as the
 * statement of fills does.
 */
export function walletPageSql(
  wallet: string,
  by: WalletOrder,
  page: { readonly rows: number; readonly offset: number; readonly beyond: WalletPlace | null },
): Sql {
  const params: Record<string, SqlValue> = { wallet, rows: page.rows, offset: page.offset };
  let range = '';
  if (page.beyond !== null) {
    const [value, than] = [values[by.sort], by.order === 'asc' ? '>' : '<'];
    const after = `(${value} ${than} {value:Int256} OR (${value} = {value:Int256} AND p.token_id > {token:UInt256}))`;
    const ofCombos = page.beyond.isCombo ? `(${isCombo} AND ${after})` : `(${isCombo} OR ${after})`;
    range = ` AND ${by.combos ? ofCombos : after}`;
    params.value = page.beyond.value;
    params.token = BigInt(page.beyond.tokenId);
  }
  return {
    text: `SELECT ${positionColumns}, ${values[by.sort]} AS value
      FROM positions AS p FINAL
      WHERE ${filterOf(by)}${range}
      ORDER BY ${orderOf(by)}
      LIMIT {rows:UInt32} OFFSET {offset:UInt32}
      ${oldAnalyzer}`,
    params,
    singleChunk: page.rows <= SINGLE_CHUNK_MAX_ROWS,
  };
}

/** Positions selected by what their table knows. `held`: with shares; without: `redeemed` if any ever were, else `closed`. */
export interface PositionSelection {
  /** null: all. */
  readonly tokens: readonly string[] | null;
  /** null: any. */
  readonly shares: 'held' | 'redeemed' | 'closed' | null;
}

const selected: Readonly<Record<NonNullable<PositionSelection['shares']>, string>> = {
  held: ' AND p.size > 0',
  redeemed: ' AND p.size = 0 AND p.last_redeemed_at IS NOT NULL',
  closed: ' AND p.size = 0 AND p.last_redeemed_at IS NULL',
};

/** Positions in order: four lists of the same length. */
export interface WalletOrderRow {
  readonly tokens: readonly string[];
  /** Base units, as text. */
  readonly sizes: readonly string[];
  /** Time of the last redemption, Unix seconds; 0: none. */
  readonly redeemed: readonly (number | string)[];
  /** Sort values, whole numbers as text. */
  readonly values: readonly string[];
}

/** The whole order of the selected positions, up to `rows`. The lists keep the order of the subquery because it runs in one thread. */
export const walletOrderSql = (
  wallet: string,
  by: WalletOrder,
  { tokens, shares }: PositionSelection,
  rows: number,
): Sql => ({
  text: `SELECT groupArray(token_id) AS tokens, groupArray(size) AS sizes, groupArray(ifNull(toUnixTimestamp(redeemed_at), 0)) AS redeemed,
        groupArray(toString(value)) AS values
      FROM (
        SELECT p.token_id AS token_id, p.size AS size, p.last_redeemed_at AS redeemed_at, ${values[by.sort]} AS value
        FROM positions AS p FINAL
        WHERE ${filterOf(by)}${tokens === null ? '' : AMONG}${shares === null ? '' : selected[shares]}
        ORDER BY ${orderOf(by)}
        LIMIT {rows:UInt32}
      )`,
  params: { wallet, rows, ...(tokens === null ? {} : { tokens }) },
  singleChunk: true,
});

/** Positions of a wallet in the given tokens. */
export const walletTokensSql = (wallet: string, tokenIds: readonly string[]): Sql => ({
  text: `SELECT ${positionColumns}
      FROM positions AS p FINAL
      WHERE p.wallet = {wallet:String}${AMONG}`,
  params: { wallet, tokens: tokenIds },
});
