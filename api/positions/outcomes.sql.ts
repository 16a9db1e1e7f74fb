import type { Sql } from '../tables/port.js';
import type { Millis, SqlBool } from '../tables/values.js';

export interface OutcomeRow {
  readonly token: string;
  readonly condition_id: string;
  readonly outcome_index: number;
  readonly outcome: string;
}

/** Which tokens: these, or all a wallet has or had. */
export type TokenScope = { readonly tokens: readonly string[] } | { readonly wallet: string };
const tokensOf = (scope: TokenScope): string =>
  'tokens' in scope
    ? 'SELECT toUInt256(arrayJoin({tokens:Array(String)}))'
    : 'SELECT token_id FROM positions WHERE wallet = {wallet:String}';
const named = (scope: TokenScope): string => `SELECT condition_id FROM tokens WHERE token_id IN (${tokensOf(scope)})`;
const conditionsOf = (scope: TokenScope): string =>
  `${named(scope)} UNION DISTINCT SELECT condition_id FROM condition_tokens WHERE token_id IN (${tokensOf(scope)})`;

/** What catalogue and chain say of tokens: the chain knows no names and may know tokens the catalogue does not. */
export const outcomesSql = (scope: TokenScope): Sql => ({
  text: `SELECT toString(token_id) AS token, argMax(condition_id, named) AS condition_id, argMax(outcome_index, named) AS outcome_index, max(outcome) AS outcome
      FROM (
        SELECT token_id, condition_id, outcome_index, outcome, 1 AS named FROM tokens FINAL
        UNION ALL
        SELECT token_id, condition_id, outcome_index, '', 0 FROM condition_tokens FINAL
      )
      WHERE token_id IN (${tokensOf(scope)})
      GROUP BY token_id
      SETTINGS max_execution_time = 10`,
  params: { ...scope },
});

export interface OutcomeMarketRow {
  readonly condition_id: string;
  readonly question: string;
  readonly slug: string;
  readonly image: string | null;
  readonly icon: string | null;
  readonly event_slug: string | null;
  readonly outcomes: readonly string[];
  readonly tokens: readonly string[];
  readonly neg_risk: SqlBool;
  readonly end_ms: Millis;
  readonly tag_slugs: readonly string[];
}

export const outcomeMarketsSql = (scope: TokenScope): Sql => ({
  text: `SELECT condition_id, question, slug, image, icon, event_slug, outcomes, arrayMap(token -> toString(token), token_ids) AS tokens, neg_risk,
        toUnixTimestamp64Milli(end_at) AS end_ms, tag_slugs
      FROM markets FINAL
      WHERE condition_id IN (${named(scope)})
      SETTINGS max_execution_time = 10`,
  params: { ...scope },
});

export interface StatusRow {
  readonly condition_id: string;
  readonly status: 'live' | 'closed' | 'resolved';
  readonly resolved_at: number | string | null;
  readonly payouts: readonly string[];
}

export const statusesSql = (scope: TokenScope): Sql => ({
  text: `SELECT condition_id, status, toUnixTimestamp(resolved_at) AS resolved_at, arrayMap(payout -> toString(payout), payout_numerators) AS payouts
      FROM market_status
      WHERE condition_id IN (${conditionsOf(scope)})
      SETTINGS max_execution_time = 10`,
  params: { ...scope },
});
