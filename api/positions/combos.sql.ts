import { isComboSql } from '../../schemas/primitives/positions.sql.js';
import type { Sql } from '../tables/port.js';
import { allOf, given, whereClause } from '../tables/where.js';
import { eventColumns, eventConditions, type PnlEventFilter } from './pnl-events.sql.js';

const sortColumns = ['e.block_number', 'e.log_index', 'e.id', 'e.leg'];

/** One page of events of combos and one row more, newest first. The newest version of each event is selected in the order of the table. */
export function comboEventsSql(filter: PnlEventFilter, page: { readonly limit: number; readonly offset: number }): Sql {
  const { wallet, beyond } = filter;
  // pnl_events is sorted by wallet, combo_events is not.
  const table = wallet === null ? 'combo_events' : 'pnl_events';
  const where = allOf(
    given(wallet, 'wallet', 'e.wallet = {wallet:String}'),
    wallet !== null && isComboSql('e.token_id'),
    eventConditions(filter),
    beyond && {
      // ClickHouse derives a key range from the first condition, not from the tuple comparison.
      text: `e.block_number <= {beyond_block:UInt64}
        AND (${sortColumns.join(', ')}) < ({beyond_block:UInt64}, {beyond_log:UInt32}, {beyond_id:String}, {beyond_leg:UInt16})`,
      params: {
        beyond_block: beyond.blockNumber,
        beyond_log: beyond.logIndex,
        beyond_id: beyond.id,
        beyond_leg: beyond.leg,
      },
    },
  );
  return {
    text: `SELECT ${eventColumns}
      FROM ${table} AS e
      ${whereClause(where)}
      ORDER BY ${[...sortColumns, 'e._offset'].map((column) => `${column} DESC`).join(', ')}
      LIMIT 1 BY ${sortColumns.join(', ')}
      LIMIT {rows:UInt32} OFFSET {offset:UInt32}`,
    params: { ...where.params, rows: page.limit + 1, offset: page.offset },
  };
}

/** Payout that the log of a redemption names, base units as text. */
export interface RedemptionPayoutRow {
  readonly wallet: string;
  readonly block_number: number | string;
  readonly log_index: number;
  readonly payout: string;
}

/** Payouts of redemptions of wallets at times (Unix seconds), of logs that redeem one position: that of several positions is not divided in the log. */
export const redemptionPayoutsSql = (wallets: readonly string[], timesS: readonly number[]): Sql => ({
  text: `SELECT wallet, block_number, log_index, payout FROM (
        SELECT e.wallet AS wallet, e.block_number AS block_number, e.log_index AS log_index, toString(e.usdc) AS payout, length(e.tokens) AS positions
        FROM wallet_activity AS e
        WHERE e.wallet IN {wallets:Array(String)} AND e.action = 'REDEEM'
          AND e.timestamp IN (SELECT toDateTime(arrayJoin({times:Array(UInt32)}), 'UTC'))
        ORDER BY e._offset DESC
        LIMIT 1 BY e.wallet, e.block_number, e.log_index
      ) WHERE positions = 1`,
  params: { wallets, times: timesS },
});

export const comboSorts = ['recent', 'volume'] as const;
export type ComboSort = (typeof comboSorts)[number];

export const comboStatuses = ['open', 'closed'] as const;
export type ComboStatus = (typeof comboStatuses)[number];

/** Token-id range of combos: modules 1 to 3. */
const COMBO_TOKEN_RANGE = 'token_id >= bitShiftLeft(toUInt256(1), 248) AND token_id < bitShiftLeft(toUInt256(4), 248)';

const orderQueries: Readonly<Record<ComboSort, string>> = {
  recent: `SELECT condition_id AS id, toString(toUnixTimestamp(max(last_at))) AS value
      FROM combo_markets
      GROUP BY id
      ORDER BY max(last_at) DESC, id`,
  volume: `SELECT condition_id AS id, toString(sum(usdc)) AS value
      FROM (
        SELECT condition_id, toUInt128(0) AS usdc FROM combo_markets
        UNION ALL
        SELECT concat('0x', lower(hex(bitShiftRight(token_id, 8)))), usdc FROM token_volumes WHERE ${COMBO_TOKEN_RANGE}
      )
      WHERE condition_id IN (SELECT condition_id FROM combo_markets)
      GROUP BY id
      ORDER BY sum(usdc) DESC, id`,
};

/** A combo condition and its sort value, a whole number as text. */
export interface RankedCombo {
  readonly id: string;
  readonly value: string;
}

/** Ids of combo conditions with at least one event, in an order. */
export const comboOrderSql = (sort: ComboSort, rows: number): Sql => ({
  text: `${orderQueries[sort]}
      LIMIT {rows:UInt32}`,
  params: { rows },
});

/** Times in Unix seconds. */
export interface ComboMarketRow {
  readonly condition_id: string;
  readonly events: number | string;
  readonly redemptions: number | string;
  readonly first_at: number | string;
  readonly last_at: number | string;
}

export const comboMarketsSql = (conditionIds: readonly string[]): Sql => ({
  text: `SELECT condition_id, toUInt64(sum(m.events)) AS events, toUInt64(sum(m.redemptions)) AS redemptions,
        toUnixTimestamp(min(m.first_at)) AS first_at, toUnixTimestamp(max(m.last_at)) AS last_at
      FROM combo_markets AS m
      WHERE condition_id IN {conditions:Array(String)}
      GROUP BY condition_id`,
  params: { conditions: conditionIds },
});

/** Sums over a token's matches, as text; USDC in base units. */
export interface ComboVolumeRow {
  readonly token: string;
  readonly trades: string;
  readonly usdc: string;
}

export const comboVolumesSql = (tokenIds: readonly string[]): Sql => ({
  text: `SELECT toString(token_id) AS token, toString(sum(v.trades)) AS trades, toString(sum(v.usdc)) AS usdc
      FROM token_volumes AS v
      WHERE token_id IN (SELECT toUInt256(arrayJoin({tokens:Array(String)})))
      GROUP BY token_id`,
  params: { tokens: tokenIds },
});
