import type { Sql } from '../tables/port.js';
import type { SqlBool } from '../tables/values.js';

export interface ConditionRow {
  readonly condition_id: string;
  readonly question: string;
  readonly slug: string;
  readonly image: string | null;
  readonly event_slug: string | null;
  readonly event_title: string | null;
  readonly neg_risk: SqlBool;
  readonly outcomes: readonly string[];
  readonly tokens: readonly string[];
}

export function conditionsSql(conditionIds: readonly string[]): Sql {
  return {
    text: `SELECT condition_id, question, slug, image, event_slug, event_title, neg_risk, outcomes,
        arrayMap(token -> toString(token), token_ids) AS tokens
      FROM markets FINAL
      WHERE condition_id IN {conditions:Array(String)}`,
    params: { conditions: conditionIds },
  };
}

export interface ResolutionRow {
  readonly condition_id: string;
  readonly payouts: readonly string[];
  readonly resolved_at: number | string;
}

export function resolutionsSql(conditionIds: readonly string[]): Sql {
  return {
    text: `SELECT condition_id, arrayMap(payout -> toString(payout), payout_numerators) AS payouts, toUnixTimestamp(timestamp) AS resolved_at
      FROM resolutions FINAL
      WHERE condition_id IN {conditions:Array(String)}`,
    params: { conditions: conditionIds },
  };
}

/** Questions of neg-risk markets, by the events that carry them. */
export function questionCountsSql(marketIds: readonly string[]): Sql {
  return {
    text: `SELECT assumeNotNull(neg_risk_market_id) AS market, max(length(market_condition_ids)) AS questions
      FROM events FINAL
      WHERE neg_risk_market_id IN {markets:Array(String)}
      GROUP BY market`,
    params: { markets: marketIds },
  };
}
