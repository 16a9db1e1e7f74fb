import type { Page } from '../fills/filter.js';
import type { LogPosition } from '../fills/log-position.js';
import type { Sql, SqlValue } from '../tables/port.js';

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

/** Time and position bounds as conditions on the alias `e`; every value is a bound parameter. */
function boundsOf(filter: Bounds, order: Page['order']): { parts: string[]; params: Record<string, SqlValue> } {
  const parts: string[] = [];
  const params: Record<string, SqlValue> = {};
  if (filter.afterS !== null) {
    parts.push(`e.timestamp >= toDateTime({after:UInt32}, 'UTC')`);
    params.after = filter.afterS;
  }
  if (filter.beforeS !== null) {
    parts.push(`e.timestamp <= toDateTime({before:UInt32}, 'UTC')`);
    params.before = filter.beforeS;
  }
  if (filter.beyond !== null) {
    parts.push(
      `(e.block_number, e.log_index) ${order === 'desc' ? '<' : '>'} ({beyond_block:UInt64}, {beyond_log:UInt32})`,
    );
    params.beyond_block = filter.beyond.blockNumber;
    params.beyond_log = filter.beyond.logIndex;
  }
  return { parts, params };
}

/** One page of a wallet's events and one row more. Each kind is read in its own order, and the pages are merged. */
export function walletEventsSql(filter: WalletEventFilter, page: Page): Sql {
  const by = page.order === 'asc' ? 'ASC' : 'DESC';
  const { parts, params } = boundsOf(filter, page.order);
  const rows = page.limit + 1;
  const named: Record<string, SqlValue> = {};
  const branches = filter.kinds.map((kind, index) => {
    named[`kind_${index}`] = kind;
    const where = ['e.wallet = {wallet:String}', `e.kind = {kind_${index}:String}`, ...parts].join(' AND ');
    return `(SELECT toString(e.kind) AS kind, toUInt64(e.block_number) AS block_number, e.log_index AS log_index,
        toUnixTimestamp(e.timestamp) AS timestamp, e.tx_hash AS tx_hash, e.subject_id AS subject_id, toString(e.amount) AS amount,
        e.index_sets AS index_sets, e.source AS source
      FROM wallet_events AS e WHERE ${where}
      ORDER BY e.block_number ${by}, e.log_index ${by} LIMIT {reach:UInt32})`;
  });
  return {
    text: `SELECT * FROM (${branches.join(' UNION ALL ')})
      ORDER BY block_number ${by}, log_index ${by}
      LIMIT {rows:UInt32} OFFSET {offset:UInt32}`,
    params: { ...params, ...named, wallet: filter.wallet, rows, offset: page.offset, reach: rows + page.offset },
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

function flowsWhere(filter: FlowFilter, order: Page['order']) {
  const { parts, params } = boundsOf(filter, order);
  const all = ['e.wallet = {wallet:String}', ...parts];
  if (filter.direction !== null) all.push('e.direction = {direction:String}');
  return {
    text: all.join(' AND '),
    params: {
      ...params,
      wallet: filter.wallet,
      ...(filter.direction === null ? {} : { direction: filter.direction }),
    },
  };
}

/** One page of deposits and withdrawals of a wallet, and one row more. */
export function flowsSql(filter: FlowFilter, page: Page): Sql {
  const by = page.order === 'asc' ? 'ASC' : 'DESC';
  const where = flowsWhere(filter, page.order);
  return {
    text: `SELECT toUInt64(e.block_number) AS block_number, e.log_index AS log_index, toUnixTimestamp(e.timestamp) AS timestamp,
        e.tx_hash AS tx_hash, toString(e.direction) AS direction, e.counterparty AS counterparty, e.asset AS asset, toString(e.amount) AS amount
      FROM collateral_flows AS e
      WHERE ${where.text}
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
      WHERE ${where.text}`,
    params: where.params,
  };
}
