import type { Sql } from '../../tables/port.js';
import type { Millis, SqlBool } from '../../tables/values.js';

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

const eventColumns = `id, slug, title, active, closed, volume, volume_24h, liquidity, open_interest,
        toUnixTimestamp64Milli(coalesce(start_at, created_at)) AS start_ms, toUnixTimestamp64Milli(end_at) AS end_ms,
        series_slug, market_condition_ids`;

/**
 * Open events of the coins' daily, weekly and monthly series, busiest first. An event outside of any series counts by its own slug,
 * unless that names a short window (`btc-updown-5m-...`, `...-3pm-et`).
 */
export function periodicEventsSql(coinPattern: string, limit: number): Sql {
  return {
    text: `SELECT ${eventColumns}
      FROM events FINAL
      WHERE active AND NOT closed AND NOT archived
        AND match(if(series_slug IS NULL, slug, ifNull(series_slug, '')), {coins:String})
        AND if(series_slug IS NULL,
          NOT match(slug, '-updown-|[0-9](am|pm)-et$'),
          match(ifNull(series_slug, ''), '(^|-)(daily|weekly|monthly)(-|$)')
            OR series_slug IN (SELECT slug FROM series FINAL WHERE recurrence IN ('daily', 'weekly', 'monthly')))
      ORDER BY volume_24h DESC, id
      LIMIT {limit:UInt32}`,
    params: { coins: coinPattern, limit },
  };
}

export function eventsBySlugSql(slugs: readonly string[]): Sql {
  return {
    text: `SELECT ${eventColumns} FROM events FINAL WHERE slug IN {slugs:Array(String)} ORDER BY id`,
    params: { slugs },
  };
}

export interface MarketRow {
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

const marketColumns = `id, condition_id, slug, question, event_id, event_title, outcomes,
        arrayMap(token -> toString(token), token_ids) AS tokens, outcome_prices, active, closed, volume, liquidity, group_item_title,
        toUnixTimestamp64Milli(coalesce(start_at, created_at)) AS start_ms, toUnixTimestamp64Milli(end_at) AS end_ms`;

export function marketsOfEventsSql(eventIds: readonly string[]): Sql {
  return {
    text: `SELECT ${marketColumns} FROM markets FINAL WHERE event_id IN {events:Array(String)} ORDER BY condition_id`,
    params: { events: eventIds },
  };
}

export function marketsBySlugSql(slugs: readonly string[]): Sql {
  return {
    text: `SELECT ${marketColumns} FROM markets FINAL WHERE slug IN {slugs:Array(String)} ORDER BY condition_id`,
    params: { slugs },
  };
}

export interface SeriesRow {
  readonly id: string;
  readonly slug: string;
  readonly title: string;
  readonly recurrence: string;
  readonly active: SqlBool;
  readonly event_count: number | null;
}

/** Series of the coins that are not closed, by slug. */
export function coinSeriesSql(coinPattern: string): Sql {
  return {
    text: `SELECT id, slug, title, recurrence, active, event_count
      FROM series FINAL
      WHERE NOT closed AND match(slug, {coins:String})
      ORDER BY slug, id`,
    params: { coins: coinPattern },
  };
}
