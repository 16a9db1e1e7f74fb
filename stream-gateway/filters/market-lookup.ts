import type { MarketIds } from './compile.js';

export interface MarketRow {
  /** The slug or condition id that was asked for. */
  readonly asked: string;
  readonly condition_id: string;
  readonly token_id: string;
}

/** Reads the tables of catalogue and chain. Narrow on purpose, so that tests can stand in. */
export interface MarketLookup {
  bySlugs(slugs: readonly string[]): Promise<readonly MarketRow[]>;
  byConditions(conditionIds: readonly string[]): Promise<readonly MarketRow[]>;
}

export interface Resolution {
  readonly sets: MarketIds;
  readonly missing: readonly string[];
}

/** Slugs or condition ids to the tokens and conditions they stand for; `missing` keeps the order they were asked in. */
export function toResolution(requested: readonly string[], rows: readonly MarketRow[]): Resolution {
  const found = new Set(rows.map((row) => row.asked));
  return {
    sets: {
      tokens: new Set(rows.map((row) => row.token_id)),
      conditionIds: new Set(rows.map((row) => row.condition_id)),
    },
    missing: requested.filter((item) => !found.has(item)),
  };
}

interface QueryClient {
  query<T>(sql: string, params: Record<string, unknown>): Promise<T[]>;
}

/** A slug may name a market or an event (all of its markets). */
export function createMarketLookup(clickhouse: QueryClient): MarketLookup {
  return {
    bySlugs: (slugs) =>
      clickhouse.query<MarketRow>(
        `SELECT market_slug AS asked, condition_id, toString(token_id) AS token_id FROM tokens FINAL WHERE market_slug IN {slugs:Array(String)}
         UNION DISTINCT
         SELECT assumeNotNull(event_slug) AS asked, condition_id, toString(token_id) AS token_id FROM tokens FINAL WHERE event_slug IN {slugs:Array(String)}`,
        { slugs },
      ),
    byConditions: (conditionIds) =>
      clickhouse.query<MarketRow>(
        `SELECT condition_id AS asked, condition_id, toString(token_id) AS token_id FROM tokens FINAL WHERE condition_id IN {ids:Array(String)}
         UNION DISTINCT
         SELECT condition_id AS asked, condition_id, toString(token_id) AS token_id FROM chain_tokens WHERE condition_id IN {ids:Array(String)}`,
        { ids: conditionIds },
      ),
  };
}
