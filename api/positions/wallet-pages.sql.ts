import { isCombo } from '../../schemas/primitives/positions.sql.js';
import type { Sql } from '../tables/port.js';
import { positionColumns } from './positions.sql.js';

/** What a wallet's positions are ordered by. */
export const walletSorts = ['realized_pnl', 'size', 'total_bought', 'avg_price', 'last_at'] as const;
export type WalletSort = (typeof walletSorts)[number];

/** Positions in order: three lists of the same length. */
export interface WalletOrderRow {
  readonly tokens: readonly string[];
  /** Base units, as text. */
  readonly sizes: readonly string[];
  /** Of the last redemption, Unix seconds; 0: none. */
  readonly redeemed: readonly (number | string)[];
}

/** The positions of a wallet by a measure, ties by token; combos, where they are asked for, come after the others. */
export const walletOrderSql = (
  wallet: string,
  by: { readonly sort: WalletSort; readonly order: 'asc' | 'desc'; readonly combos: boolean; readonly rows: number },
): Sql => ({
  text: `SELECT groupArray(toString(token_id)) AS tokens, groupArray(toString(size)) AS sizes, groupArray(ifNull(toUnixTimestamp(last_redeemed_at), 0)) AS redeemed
      FROM (
        SELECT p.token_id AS token_id, p.size AS size, p.last_redeemed_at AS last_redeemed_at
        FROM positions AS p FINAL
        WHERE p.wallet = {wallet:String}${by.combos ? '' : ` AND NOT ${isCombo('p.token_id')}`}
        ORDER BY ${isCombo('p.token_id')}, p.${by.sort} ${by.order === 'asc' ? 'ASC' : 'DESC'}, p.token_id
        LIMIT {rows:UInt32}
      )
      SETTINGS max_execution_time = 10`,
  params: { wallet, rows: by.rows },
});

/** Some positions of a wallet. */
export const walletTokensSql = (wallet: string, tokenIds: readonly string[]): Sql => ({
  text: `SELECT ${positionColumns}
      FROM positions AS p FINAL
      WHERE p.wallet = {wallet:String} AND p.token_id IN (SELECT toUInt256(arrayJoin({tokens:Array(String)})))
      SETTINGS max_execution_time = 10`,
  params: { wallet, tokens: tokenIds },
});
