import type { Sql } from '../tables/port.js';
import type { Millis, SqlBool } from '../tables/values.js';
import { MAX_RANKED } from './markets.sql.js';

export interface RankedEvent {
  readonly id: string;
  readonly questions: number | string;
}

/** Ids of neg-risk events with a title, most questions first. A market id that several events carry is listed once. */
export const negRiskIdsSql = (): Sql => ({
  text: `SELECT assumeNotNull(neg_risk_market_id) AS id, max(length(market_condition_ids)) AS questions
      FROM events FINAL
      WHERE neg_risk_market_id IS NOT NULL AND neg_risk_market_id != '' AND title != ''
      GROUP BY id
      ORDER BY questions DESC, id
      LIMIT {rows:UInt32}`,
  params: { rows: MAX_RANKED },
});

export interface NegRiskEventRow {
  readonly id: string;
  readonly title: string;
  readonly slug: string;
  readonly image: string | null;
  readonly end_ms: Millis;
  readonly questions: number | string;
}

export const negRiskEventsSql = (ids: readonly string[]): Sql => ({
  text: `SELECT assumeNotNull(neg_risk_market_id) AS id, title, slug, image, toUnixTimestamp64Milli(end_at) AS end_ms,
        length(market_condition_ids) AS questions
      FROM events FINAL
      WHERE neg_risk_market_id IN {ids:Array(String)}
      ORDER BY questions DESC, slug
      LIMIT 1 BY id`,
  params: { ids },
});

export interface ChildRow {
  readonly parent: string;
  readonly condition_id: string;
  readonly outcome_title: string | null;
  readonly question: string;
  readonly slug: string;
  readonly event_slug: string | null;
  readonly event_title: string | null;
  readonly active: SqlBool;
  readonly closed: SqlBool;
  readonly end_ms: Millis;
  readonly volume: number;
  readonly image: string | null;
}

/** Markets of neg-risk events, largest volume first. */
export const childrenSql = (parents: readonly string[], rows: number): Sql => ({
  text: `SELECT assumeNotNull(neg_risk_market_id) AS parent, condition_id, group_item_title AS outcome_title, question, slug, event_slug, event_title,
        active, closed OR condition_id IN (
          SELECT condition_id FROM resolutions WHERE condition_id IN (SELECT condition_id FROM markets WHERE neg_risk_market_id IN {parents:Array(String)})
        ) AS closed, toUnixTimestamp64Milli(end_at) AS end_ms, volume, image
      FROM markets FINAL
      WHERE neg_risk_market_id IN {parents:Array(String)}
      ORDER BY volume DESC, condition_id
      LIMIT {rows:UInt32}`,
  params: { parents, rows },
});

/** Number of questions of neg-risk markets, from the events with their market id. */
export function questionCountsSql(marketIds: readonly string[]): Sql {
  return {
    text: `SELECT assumeNotNull(neg_risk_market_id) AS market, max(length(market_condition_ids)) AS questions
      FROM events FINAL
      WHERE neg_risk_market_id IN {markets:Array(String)}
      GROUP BY market`,
    params: { markets: marketIds },
  };
}
