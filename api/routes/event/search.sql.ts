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
