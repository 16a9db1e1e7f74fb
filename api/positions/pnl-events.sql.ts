import { eventTransactionSql } from '../../schemas/primitives/positions.sql.js';
import type { LogPosition } from '../fills/log-position.js';
import { type CursorKind, logPositionCursor } from '../pagination/cursor.js';
import type { Sql } from '../tables/port.js';
import { allOf, given, type Where, withinTimes } from '../tables/where.js';

export type PnlAction = 'BUY' | 'SELL' | 'SPLIT' | 'MERGE' | 'REDEEM' | 'CONVERT' | 'SEND' | 'RECEIVE';

/** Position of an event in a list: one log can cause several events, one per position it changed. */
export interface PnlEventCursor extends LogPosition {
  readonly id: string;
  readonly leg: number;
}

/** Filter of events. Times are Unix seconds, both ends included; null conditions do not filter. */
export interface PnlEventFilter {
  readonly wallet: string | null;
  readonly tokenIds: readonly string[] | null;
  readonly actions: readonly PnlAction[] | null;
  readonly afterS: number | null;
  readonly beforeS: number | null;
  /** Only events of this transaction. */
  readonly txHash?: string | null;
  /** true: only events that left the position empty; false: only those that did not. */
  readonly emptied?: boolean | null;
  /** Only events after this one, in the order of the page. */
  readonly beyond: PnlEventCursor | null;
}

/** Amounts in base units, as text, changes signed; times Unix seconds. The table's schema documents the columns. */
export interface PnlEventRow {
  readonly wallet: string;
  readonly token: string;
  readonly id: string;
  readonly leg: number;
  readonly block_number: number | string;
  readonly log_index: number;
  readonly timestamp: number | string;
  readonly tx_hash: string;
  readonly action: PnlAction;
  readonly shares: string;
  readonly untracked: string;
  readonly cash: string;
  readonly realized_pnl: string;
  readonly fee: string;
  readonly size_after: string;
}

/** Columns of a PnlEventRow, from the alias `e`. */
export const eventColumns = `e.wallet AS wallet, toString(e.token_id) AS token, e.id AS id, e.leg AS leg, toUInt64(e.block_number) AS block_number,
        e.log_index AS log_index, toUnixTimestamp(e.timestamp) AS timestamp, ${eventTransactionSql('e.id')} AS tx_hash, e.action AS action,
        toString(e.shares) AS shares, toString(e.untracked) AS untracked, toString(e.cash) AS cash, toString(e.realized_pnl) AS realized_pnl,
        toString(e.fee) AS fee, toString(e.size_after) AS size_after`;

/** Conditions on the alias `e`, without those on wallet and position. */
export const eventConditions = (filter: Omit<PnlEventFilter, 'wallet' | 'beyond'>): Where =>
  allOf(
    given(filter.tokenIds, 'tokens', 'e.token_id IN (SELECT toUInt256(arrayJoin({tokens:Array(String)})))'),
    given(filter.actions, 'actions', 'e.action IN {actions:Array(String)}'),
    withinTimes('e.timestamp', filter),
    given(filter.txHash, 'tx_hash', `${eventTransactionSql('e.id')} = {tx_hash:String}`),
    filter.emptied === true && 'e.size_after = 0',
    filter.emptied === false && 'e.size_after > 0',
  );

export interface SpanRow {
  readonly wallet: string;
  readonly token: string;
  readonly first: number | string;
  readonly last: number | string;
}

/** First and last fill of wallets' positions, Unix seconds, counting fills from `fromS` on. */
export const tradeSpansSql = (wallets: readonly string[], tokenIds: readonly string[], fromS: number): Sql => ({
  text: `SELECT e.wallet AS wallet, toString(e.token_id) AS token, toUnixTimestamp(min(e.timestamp)) AS first, toUnixTimestamp(max(e.timestamp)) AS last
      FROM pnl_events AS e
      WHERE e.wallet IN {wallets:Array(String)} AND e.timestamp >= toDateTime({from:UInt32}, 'UTC')
        AND e.token_id IN (SELECT toUInt256(arrayJoin({tokens:Array(String)}))) AND e.action IN ('BUY', 'SELL')
      GROUP BY e.wallet, e.token_id`,
  params: { wallets, tokens: tokenIds, from: fromS },
});

export const pnlEventCursorOf = (row: PnlEventRow): PnlEventCursor => ({
  blockNumber: Number(row.block_number),
  logIndex: row.log_index,
  id: row.id,
  leg: row.leg,
});

const ID_PATTERN = /^[\w-]{1,120}$/;
const MAX_LEG = 65_535;

/** After an event of a list. */
export const pnlEventCursor: CursorKind<PnlEventCursor> = {
  values: ({ leg, id, ...position }) => [...logPositionCursor.values(position), String(leg), id],
  parse([block, log, leg = '', id = '', ...rest]) {
    const position = logPositionCursor.parse([block ?? '', log ?? '']);
    const isValid = /^\d{1,5}$/.test(leg) && Number(leg) <= MAX_LEG && ID_PATTERN.test(id) && rest.length === 0;
    return position === null || !isValid ? null : { ...position, leg: Number(leg), id };
  },
};
