import type { Sql } from '../tables/port.js';
import type { Millis, SqlBool } from '../tables/values.js';

/** Row of the catalogue's table `events`; volumes and liquidity in USD. */
export interface EventRow {
  readonly id: string;
  readonly slug: string;
  readonly title: string;
  readonly active: SqlBool;
  readonly closed: SqlBool;
  readonly volume: number;
  readonly volume_24h: number;
  readonly liquidity: number;
  readonly open_interest: number;
  readonly start_ms: Millis;
  readonly end_ms: Millis;
  readonly series_slug: string | null;
  readonly market_condition_ids: readonly string[];
}

/** Columns of an EventRow. */
export const eventColumns = `id, slug, title, active, closed, volume, volume_24h, liquidity, open_interest,
        toUnixTimestamp64Milli(coalesce(start_at, created_at)) AS start_ms, toUnixTimestamp64Milli(end_at) AS end_ms,
        series_slug, market_condition_ids`;

/** Row of the catalogue's table `markets`, as the event endpoints read it. */
export interface EventMarketRow {
  readonly id: string;
  readonly condition_id: string;
  readonly slug: string;
  readonly question: string;
  readonly event_id: string | null;
  readonly event_title: string | null;
  readonly outcomes: readonly string[];
  readonly tokens: readonly string[];
  readonly outcome_prices: readonly string[];
  readonly active: SqlBool;
  readonly closed: SqlBool;
  readonly volume: number;
  readonly liquidity: number;
  readonly group_item_title: string | null;
  readonly start_ms: Millis;
  readonly end_ms: Millis;
}

/** Columns of an EventMarketRow. */
export const eventMarketColumns = `id, condition_id, slug, question, event_id, event_title, outcomes,
        arrayMap(token -> toString(token), token_ids) AS tokens, outcome_prices, active, closed, volume, liquidity, group_item_title,
        toUnixTimestamp64Milli(coalesce(start_at, created_at)) AS start_ms, toUnixTimestamp64Milli(end_at) AS end_ms`;

/** Markets of the events, by condition id. */
export function marketsOfEventsSql(eventIds: readonly string[]): Sql {
  return {
    text: `SELECT ${eventMarketColumns} FROM markets FINAL WHERE event_id IN {events:Array(String)} ORDER BY condition_id`,
    params: { events: eventIds },
  };
}
