import type { Sql } from '../../tables/port.js';
import type { SqlBool } from '../../tables/values.js';

export interface FoundEventRow {
  readonly id: string;
  readonly slug: string;
  readonly title: string;
  readonly image: string | null;
  readonly active: SqlBool;
  readonly market_condition_ids: readonly string[];
}

/** Selects events whose title and slug contain every word, case-insensitively. */
export const searchEventsSql = (words: readonly string[], rows: number): Sql => ({
  text: `SELECT id, slug, title, image, active AND NOT closed AS active, market_condition_ids
      FROM events FINAL
      WHERE arrayAll(word -> positionCaseInsensitiveUTF8(concat(title, '\\n', slug), word) > 0, {words:Array(String)})
      ORDER BY active DESC, volume DESC, id
      LIMIT {rows:UInt32}`,
  params: { words, rows },
});

export interface FoundMarketRow {
  readonly event_id: string;
  readonly condition_id: string;
  readonly question: string;
  readonly group_item_title: string | null;
  readonly tokens: readonly string[];
  readonly outcome_prices: readonly string[];
  readonly active: SqlBool;
}

export const foundMarketsSql = (eventIds: readonly string[]): Sql => ({
  text: `SELECT assumeNotNull(event_id) AS event_id, condition_id, question, group_item_title, arrayMap(token -> toString(token), token_ids) AS tokens,
        outcome_prices, active AND NOT closed AS active
      FROM markets FINAL
      WHERE markets.event_id IN {events:Array(String)}
      ORDER BY condition_id`,
  params: { events: eventIds },
});
