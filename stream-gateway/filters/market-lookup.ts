import { inChunks } from './in-chunks.js';

export interface MarketRow {
  /** The requested slug or condition id. */
  readonly requested: string;
  readonly condition_id: string;
  readonly token_id: string;
}

/** Looks up markets in the tables of catalogue and chain. An interface, so that tests can replace it. */
export interface MarketLookup {
  bySlugs(slugs: readonly string[]): Promise<readonly MarketRow[]>;
  byConditions(conditionIds: readonly string[]): Promise<readonly MarketRow[]>;
}

interface QueryClient {
  query<T>(sql: string, params: Record<string, unknown>): Promise<T[]>;
}

/** A slug may name a market or an event (all of its markets). */
export function createMarketLookup(clickhouse: QueryClient): MarketLookup {
  return {
    bySlugs: (all) =>
      inChunks(all, (slugs) =>
        clickhouse.query<MarketRow>(
          `SELECT market_slug AS requested, condition_id, toString(token_id) AS token_id FROM tokens FINAL WHERE market_slug IN {slugs:Array(String)}
           UNION DISTINCT
           SELECT assumeNotNull(event_slug) AS requested, condition_id, toString(token_id) AS token_id FROM tokens FINAL WHERE event_slug IN {slugs:Array(String)}`,
          { slugs },
        ),
      ),
    byConditions: (all) =>
      inChunks(all, (ids) =>
        clickhouse.query<MarketRow>(
          `SELECT condition_id AS requested, condition_id, toString(token_id) AS token_id FROM tokens FINAL WHERE condition_id IN {ids:Array(String)}
           UNION DISTINCT
           SELECT condition_id AS requested, condition_id, toString(token_id) AS token_id FROM chain_tokens WHERE condition_id IN {ids:Array(String)}`,
          { ids },
        ),
      ),
  };
}
