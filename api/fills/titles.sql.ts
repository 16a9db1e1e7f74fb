import type { Sql } from '../tables/port.js';

export interface TokenRow {
  readonly token: string;
  readonly condition_id: string;
  readonly outcome_index: number;
  readonly outcome: string;
}

/** Catalogue rows of the given tokens. */
export function tokenRowsSql(tokenIds: readonly string[]): Sql {
  return {
    text: `SELECT toString(token_id) AS token, condition_id, outcome_index, outcome
      FROM tokens FINAL
      WHERE token_id IN (SELECT toUInt256(arrayJoin({tokens:Array(String)})))`,
    params: { tokens: tokenIds },
  };
}

export interface TradedMarketRow {
  readonly condition_id: string;
  readonly question: string;
  readonly slug: string;
  readonly image: string | null;
  readonly icon: string | null;
  readonly event_id: string | null;
  readonly event_slug: string | null;
  readonly event_title: string | null;
}

/** Catalogue rows of the given conditions. */
export function tradedMarketsSql(conditionIds: readonly string[]): Sql {
  return {
    text: `SELECT condition_id, question, slug, image, icon, event_id, event_slug, event_title
      FROM markets FINAL
      WHERE condition_id IN {conditions:Array(String)}`,
    params: { conditions: conditionIds },
  };
}
