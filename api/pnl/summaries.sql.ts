import { isComboSql, unrealizedPnlSql } from '../../schemas/primitives/positions.sql.js';
import type { TokenChoice } from '../fills/tokens.sql.js';
import type { Sql, SqlValue } from '../tables/port.js';
import type { SqlBool } from '../tables/values.js';

export interface SummaryRow {
  readonly wallet: string;
  readonly combo: SqlBool;
  /** Base units, as text, before fees; also the fields below. */
  readonly realized: string;
  readonly gross_profit: string;
  readonly gross_loss: string;
  readonly unrealized: string;
  readonly volume: string;
  readonly positions: number | string;
  /** Positions with a realized profit, and with a realized loss. */
  readonly wins: number | string;
  readonly losses: number | string;
  /** Non-empty positions in markets that are not settled. */
  readonly open: number | string;
  /** Positions of which the recorded history lacks changes. */
  readonly incomplete: number | string;
  /** Unix seconds of the last change. */
  readonly last_at: number | string;
}

/** A condition on `token_id` and its parameters. `within`: a SELECT of the tokens to which it is restricted. */
export function chosenTokens(
  tokens: TokenChoice | null,
  within: string,
): { readonly text: string; readonly params: Readonly<Record<string, SqlValue>> } {
  if (tokens === null) return { text: '', params: {} };
  if (tokens.among !== null)
    return { text: ` AND token_id IN (${tokens.among.text(within)})`, params: tokens.among.params };
  return {
    text: ' AND token_id IN (SELECT toUInt256(arrayJoin({tokens:Array(String)})))',
    params: { tokens: tokens.tokenIds },
  };
}

/** Sums over the positions of wallets, separately for combos and other markets. `tokens` null: all positions. */
export function summariesSql(wallets: readonly string[], tokens: TokenChoice | null): Sql {
  const chosen = chosenTokens(tokens, 'SELECT token_id FROM positions WHERE wallet IN {wallets:Array(String)}');
  const params: Record<string, SqlValue> = { wallets, ...chosen.params };
  // A tag is evaluated once: prices of positions outside of it cost less than a second evaluation.
  const listed = tokens?.among === null ? chosen.text : '';
  return {
    text: `SELECT p.wallet AS wallet, ${isComboSql('p.token_id')} AS combo,
        toString(sum(toInt256(p.realized_pnl))) AS realized,
        toString(sumIf(toInt256(p.realized_pnl), p.realized_pnl > 0)) AS gross_profit,
        toString(sumIf(toInt256(p.realized_pnl), p.realized_pnl < 0)) AS gross_loss,
        toString(sum(${unrealizedPnlSql('p', 'q')})) AS unrealized,
        toString(sum(toUInt256(p.bought_usdc) + toUInt256(p.sold_usdc))) AS volume,
        count() AS positions, countIf(p.realized_pnl > 0) AS wins, countIf(p.realized_pnl < 0) AS losses,
        countIf(p.size > 0 AND NOT q.resolved) AS open, countIf(p.unpriced > 0) AS incomplete, toUnixTimestamp(max(p.last_at)) AS last_at
      FROM (
        SELECT wallet, token_id, size, received, avg_price, realized_pnl, bought_usdc, sold_usdc, unpriced, last_at
        FROM positions FINAL WHERE wallet IN {wallets:Array(String)}${chosen.text}
      ) AS p
      LEFT JOIN (
        SELECT token_id, price, source, resolved FROM token_prices
        WHERE token_id IN (SELECT token_id FROM positions WHERE wallet IN {wallets:Array(String)} AND size > 0${listed})
      ) AS q ON q.token_id = p.token_id
      GROUP BY wallet, combo`,
    params,
  };
}

export interface WalletFeesRow {
  /** Base units, as text. */
  readonly fees: string;
  readonly fee_fills: number | string;
  readonly fills: number | string;
  readonly first_block: string;
  readonly last_block: string;
  /** Newest block of the tables. */
  readonly through_block: string;
}

/** Fees of a wallet's own orders. */
export const walletFeesSql = (wallet: string): Sql => ({
  text: `SELECT toString(sum(toUInt128(fee))) AS fees, countIf(fee > 0) AS fee_fills, count() AS fills,
        toString(minIf(block_number, fee > 0)) AS first_block, toString(maxIf(block_number, fee > 0)) AS last_block,
        (SELECT toString(max(block_number)) FROM blocks) AS through_block
      FROM fills_by_wallet FINAL
      WHERE wallet = {wallet:String} AND role = 'maker'`,
  params: { wallet },
});
