import type { Sql } from '../tables/port.js';
import type { Millis, SqlBool } from '../tables/values.js';

export interface TokenMetadataRow {
  readonly token: string;
  readonly condition_id: string;
  readonly outcome_index: number;
  readonly outcome: string;
  readonly catalogued: SqlBool;
  /** null, like `other_token`, if the condition is not on chain. */
  readonly neg_risk: SqlBool | null;
  readonly other_token: string | null;
}

/** Condition and outcome index of tokens, from the chain if available, otherwise from the catalogue. Names exist only in the catalogue. */
export const tokenMetadataSql = (tokenIds: readonly string[]): Sql => ({
  text: `SELECT toString(token_id) AS token, argMin(condition_id, named) AS condition_id, argMin(outcome_index, named) AS outcome_index,
        max(outcome) AS outcome, max(named) AS catalogued, max(neg_risk) AS neg_risk, toString(max(other)) AS other_token
      FROM (
        SELECT token_id, condition_id, outcome_index, outcome, true AS named, CAST(NULL AS Nullable(Bool)) AS neg_risk, CAST(NULL AS Nullable(UInt256)) AS other
        FROM tokens FINAL
        WHERE token_id IN (SELECT toUInt256(arrayJoin({tokens:Array(String)})))
        UNION ALL
        SELECT token_id, condition_id, outcome_index, '', false, neg_risk, other_token_id FROM chain_tokens FINAL
        WHERE token_id IN (SELECT toUInt256(arrayJoin({tokens:Array(String)})))
      )
      GROUP BY token_id`,
  params: { tokens: tokenIds },
  singleChunk: true,
});

export interface ExchangeNegRiskRow {
  readonly token: string;
  readonly neg_risk: SqlBool;
}

/** Whether tokens were traded on an exchange of neg-risk markets; an exchange trades tokens of one kind. Combos are left out. */
export const exchangeNegRiskSql = (tokenIds: readonly string[]): Sql => ({
  text: `SELECT toString(token_id) AS token, max(neg_risk) AS neg_risk
      FROM fills_by_token
      WHERE token_id IN (SELECT toUInt256(arrayJoin({tokens:Array(String)}))) AND exchange_version < 3
      GROUP BY token_id`,
  params: { tokens: tokenIds },
  singleChunk: true,
});

export interface MarketMetadataRow {
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
  readonly active: SqlBool;
  readonly closed: SqlBool;
  readonly volume: number;
  readonly liquidity: number;
  readonly end_ms: Millis;
  readonly tag_slugs: readonly string[];
}

export const marketMetadataSql = (conditionIds: readonly string[]): Sql => ({
  text: `SELECT condition_id, question, slug, image, icon, event_id, event_slug, event_title, outcomes,
        arrayMap(token -> toString(token), token_ids) AS tokens, neg_risk, active, closed, volume, liquidity, toUnixTimestamp64Milli(end_at) AS end_ms, tag_slugs
      FROM markets FINAL
      WHERE condition_id IN {conditions:Array(String)}`,
  params: { conditions: conditionIds },
  singleChunk: true,
});

export interface ResolutionRow {
  readonly condition_id: string;
  readonly payouts: readonly string[];
  readonly resolved_at: number | string;
}

export const resolutionsSql = (conditionIds: readonly string[]): Sql => ({
  text: `SELECT condition_id, arrayMap(payout -> toString(payout), payout_numerators) AS payouts, toUnixTimestamp(timestamp) AS resolved_at
      FROM resolutions FINAL
      WHERE condition_id IN {conditions:Array(String)}`,
  params: { conditions: conditionIds },
  singleChunk: true,
});
