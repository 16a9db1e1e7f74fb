import type { Page } from '../fills/filter.js';
import type { LogPosition } from '../fills/log-position.js';
import type { Sql, SqlValue } from '../tables/port.js';
import { allOf, beyondPosition, given, whereClause, withinTimes } from '../tables/where.js';

export type WalletEventKind = 'split' | 'merge' | 'conversion' | 'redemption';

export interface WalletEventFilter {
  readonly wallet: string;
  readonly kinds: readonly WalletEventKind[];
  readonly afterS: number | null;
  readonly beforeS: number | null;
  readonly beyond: LogPosition | null;
}

export interface WalletEventRow {
  readonly kind: WalletEventKind;
  readonly block_number: number | string;
  readonly log_index: number | string;
  readonly timestamp: number | string;
  readonly tx_hash: string;
  /** Condition id; for a conversion the neg-risk market id. */
  readonly subject_id: string;
  /** USDC base units, as text; payout of a redemption. */
  readonly amount: string;
  readonly index_sets: readonly string[];
  readonly source: string | null;
}

interface Bounds {
  readonly afterS: number | null;
  readonly beforeS: number | null;
  readonly beyond: LogPosition | null;
}

/** Time and position bounds as conditions on the alias `e`. */
const within = (bounds: Bounds, order: Page['order']) =>
  allOf(withinTimes('e.timestamp', bounds), beyondPosition('e', bounds.beyond, order));

/** One page of a wallet's events and one row more. Each kind is read in its own order, and the pages are merged. */
export function walletEventsSql(filter: WalletEventFilter, page: Page): Sql {
  const by = page.order === 'asc' ? 'ASC' : 'DESC';
  const bounds = within(filter, page.order);
  const rows = page.limit + 1;
  const named: Record<string, SqlValue> = {};
  const branches = filter.kinds.map((kind, index) => {
    named[`kind_${index}`] = kind;
    const where = allOf('e.wallet = {wallet:String}', `e.kind = {kind_${index}:String}`, bounds);
    return `(SELECT toString(e.kind) AS kind, toUInt64(e.block_number) AS block_number, e.log_index AS log_index,
        toUnixTimestamp(e.timestamp) AS timestamp, e.tx_hash AS tx_hash, e.subject_id AS subject_id, toString(e.amount) AS amount,
        e.index_sets AS index_sets, e.source AS source
      FROM wallet_events AS e ${whereClause(where)}
      ORDER BY e.block_number ${by}, e.log_index ${by} LIMIT {reach:UInt32})`;
  });
  return {
    text: `SELECT * FROM (${branches.join(' UNION ALL ')})
      ORDER BY block_number ${by}, log_index ${by}
      LIMIT {rows:UInt32} OFFSET {offset:UInt32}`,
    params: { ...bounds.params, ...named, wallet: filter.wallet, rows, offset: page.offset, reach: rows + page.offset },
  };
}

export interface ConversionQuestionsRow {
  readonly block_number: number | string;
  readonly log_index: number | string;
  readonly questions: number | string;
}

/** Questions that the markets of a wallet's conversions had when they took place, of the conversions at these times (Unix seconds); none where the chain did not tell. */
export const conversionQuestionsSql = (wallet: string, timesS: readonly number[]): Sql => ({
  text: `SELECT block_number, log_index, max(length(tokens) + length(created)) AS questions
      FROM wallet_activity
      WHERE wallet = {wallet:String} AND timestamp IN (SELECT toDateTime(arrayJoin({times:Array(UInt32)}), 'UTC')) AND action = 'CONVERT' AND is_resolved
      GROUP BY block_number, log_index`,
  params: { wallet, times: timesS },
});

export interface FlowFilter extends Bounds {
  readonly wallet: string;
  readonly direction: 'deposit' | 'withdrawal' | null;
}

export interface FlowRow {
  readonly block_number: number | string;
  readonly log_index: number | string;
  readonly timestamp: number | string;
  readonly tx_hash: string;
  readonly direction: 'deposit' | 'withdrawal';
  readonly counterparty: string;
  readonly asset: string;
  /** USDC base units, as text. */
  readonly amount: string;
}

const flowsWhere = (filter: FlowFilter, order: Page['order']) =>
  allOf(
    given(filter.wallet, 'wallet', 'e.wallet = {wallet:String}'),
    within(filter, order),
    given(filter.direction, 'direction', 'e.direction = {direction:String}'),
  );

/** One page of deposits and withdrawals of a wallet, and one row more. */
export function flowsSql(filter: FlowFilter, page: Page): Sql {
  const by = page.order === 'asc' ? 'ASC' : 'DESC';
  const where = flowsWhere(filter, page.order);
  return {
    text: `SELECT toUInt64(e.block_number) AS block_number, e.log_index AS log_index, toUnixTimestamp(e.timestamp) AS timestamp,
        e.tx_hash AS tx_hash, toString(e.direction) AS direction, e.counterparty AS counterparty, e.asset AS asset, toString(e.amount) AS amount
      FROM collateral_flows AS e
      ${whereClause(where)}
      ORDER BY e.block_number ${by}, e.log_index ${by}
      LIMIT {rows:UInt32} OFFSET {offset:UInt32}`,
    params: { ...where.params, rows: page.limit + 1, offset: page.offset },
  };
}

export interface FlowTotalsRow {
  readonly rows: number | string;
  /** USDC base units, as text. */
  readonly deposited: string;
  readonly withdrawn: string;
}

export function flowTotalsSql(filter: Omit<FlowFilter, 'beyond'>): Sql {
  const where = flowsWhere({ ...filter, beyond: null }, 'desc');
  return {
    text: `SELECT count() AS rows, toString(sumIf(toUInt128(e.amount), e.direction = 'deposit')) AS deposited,
        toString(sumIf(toUInt128(e.amount), e.direction = 'withdrawal')) AS withdrawn
      FROM collateral_flows AS e
      ${whereClause(where)}`,
    params: where.params,
  };
}
