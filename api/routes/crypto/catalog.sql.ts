import { eventColumns, eventMarketColumns } from '../../catalog/events.sql.js';
import type { Sql } from '../../tables/port.js';
import type { SqlBool } from '../../tables/values.js';

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

export function marketsBySlugSql(slugs: readonly string[]): Sql {
  return {
    text: `SELECT ${eventMarketColumns} FROM markets FINAL WHERE slug IN {slugs:Array(String)} ORDER BY condition_id`,
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
