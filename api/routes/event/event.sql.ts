import { type EventRow, eventColumns } from '../../catalog/events.sql.js';
import type { Sql } from '../../tables/port.js';

export interface EventDetailRow extends EventRow {
  readonly description: string;
  readonly image: string | null;
  readonly icon: string | null;
  readonly series_id: string | null;
}

/** Selects the event with a slug; if events share the slug, the active one. */
export function eventSql(slug: string): Sql {
  return {
    text: `SELECT ${eventColumns}, description, image, icon, series_id
      FROM events FINAL
      WHERE slug = {slug:String}
      ORDER BY active DESC, id DESC
      LIMIT 1`,
    params: { slug },
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
