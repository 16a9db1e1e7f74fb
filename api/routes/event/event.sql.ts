import type { Sql } from '../../tables/port.js';
import type { Millis, SqlBool } from '../../tables/values.js';

export interface EventDetailRow {
  readonly id: string;
  readonly slug: string;
  readonly title: string;
  readonly description: string;
  readonly image: string | null;
  readonly icon: string | null;
  readonly active: SqlBool;
  readonly closed: SqlBool;
  readonly volume: number;
  readonly volume_24h: number;
  readonly liquidity: number;
  readonly open_interest: number;
  readonly start_ms: Millis;
  readonly end_ms: Millis;
  readonly series_id: string | null;
  readonly series_slug: string | null;
  readonly market_condition_ids: readonly string[];
}

/** Selects the event with a slug; if events share the slug, the active one. */
export function eventSql(slug: string): Sql {
  return {
    text: `SELECT id, slug, title, description, image, icon, active, closed, volume, volume_24h, liquidity, open_interest,
        toUnixTimestamp64Milli(coalesce(start_at, created_at)) AS start_ms, toUnixTimestamp64Milli(end_at) AS end_ms,
        series_id, series_slug, market_condition_ids
      FROM events FINAL
      WHERE slug = {slug:String}
      ORDER BY active DESC, id DESC
      LIMIT 1`,
    params: { slug },
  };
}

export interface EventMarketRow {
  readonly condition_id: string;
  readonly question: string;
  readonly outcomes: readonly string[];
  readonly tokens: readonly string[];
  readonly outcome_prices: readonly string[];
  readonly volume: number;
  readonly liquidity: number;
  readonly active: SqlBool;
  readonly closed: SqlBool;
  readonly group_item_title: string | null;
}

export function eventMarketsSql(eventId: string): Sql {
  return {
    text: `SELECT condition_id, question, outcomes, arrayMap(token -> toString(token), token_ids) AS tokens, outcome_prices,
        volume, liquidity, active, closed, group_item_title
      FROM markets FINAL
      WHERE event_id = {event:String}
      ORDER BY condition_id`,
    params: { event: eventId },
  };
}

export interface EventSeriesRow {
  readonly id: string;
  readonly slug: string;
  readonly title: string;
  readonly recurrence: string;
}

export function eventSeriesSql(series: { id: string | null; slug: string | null }): Sql {
  return {
    text: `SELECT id, slug, title, recurrence
      FROM series FINAL
      WHERE (id != '' AND id = {id:String}) OR (slug != '' AND slug = {slug:String})
      ORDER BY id = {id:String} DESC, id
      LIMIT 1`,
    params: { id: series.id ?? '', slug: series.slug ?? '' },
  };
}
