import type { Sql } from '../tables/port.js';
import type { Millis, SqlBool } from '../tables/values.js';

export interface TokenFactRow {
  readonly token: string;
  readonly condition_id: string;
  readonly outcome_index: number;
  readonly outcome: string;
  readonly catalogued: SqlBool;
}

/** What catalogue and chain say of tokens: the chain knows no names and may know tokens the catalogue does not. */
export const tokenFactsSql = (tokenIds: readonly string[]): Sql => ({
  text: `SELECT toString(token_id) AS token, argMax(condition_id, named) AS condition_id, argMax(outcome_index, named) AS outcome_index,
        max(outcome) AS outcome, max(named) AS catalogued
      FROM (
        SELECT token_id, condition_id, outcome_index, outcome, true AS named FROM tokens FINAL
        WHERE token_id IN (SELECT toUInt256(arrayJoin({tokens:Array(String)})))
        UNION ALL
        SELECT token_id, condition_id, outcome_index, '', false FROM condition_tokens FINAL
        WHERE token_id IN (SELECT toUInt256(arrayJoin({tokens:Array(String)})))
      )
      GROUP BY token_id
      SETTINGS max_execution_time = 10`,
  params: { tokens: tokenIds },
});

export interface MarketFactRow {
  readonly condition_id: string;
  readonly question: string;
  readonly slug: string;
  readonly image: string | null;
  readonly icon: string | null;
  readonly event_id: string | null;
  readonly event_slug: string | null;
  readonly event_title: string | null;
  readonly outcomes: readonly string[];
  readonly tokens: readonly string[];
  readonly neg_risk: SqlBool;
  readonly closed: SqlBool;
  readonly end_ms: Millis;
  readonly tag_slugs: readonly string[];
}

export const marketFactsSql = (conditionIds: readonly string[]): Sql => ({
  text: `SELECT condition_id, question, slug, image, icon, event_id, event_slug, event_title, outcomes,
        arrayMap(token -> toString(token), token_ids) AS tokens, neg_risk, closed, toUnixTimestamp64Milli(end_at) AS end_ms, tag_slugs
      FROM markets FINAL
      WHERE condition_id IN {conditions:Array(String)}
      SETTINGS max_execution_time = 10`,
  params: { conditions: conditionIds },
});

export interface ResolutionRow {
  readonly condition_id: string;
  readonly payouts: readonly string[];
  readonly resolved_at: number | string;
}

export const resolutionsSql = (conditionIds: readonly string[]): Sql => ({
  text: `SELECT condition_id, arrayMap(payout -> toString(payout), payout_numerators) AS payouts, toUnixTimestamp(timestamp) AS resolved_at
      FROM resolutions FINAL
      WHERE condition_id IN {conditions:Array(String)}
      SETTINGS max_execution_time = 10`,
  params: { conditions: conditionIds },
});
