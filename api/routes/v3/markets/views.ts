import type { TtlCache } from '../../../cache/ttl-cache.js';
import { createCachedLookup, identityCodec, type Lookup } from '../../../catalog/cached-lookup.js';
import type { Condition } from '../../../catalog/conditions.js';
import { type MarketRow, marketsSql, tagLabelsSql } from '../../../catalog/markets.sql.js';
import type { Rankings } from '../../../catalog/rankings.js';
import { paginationSessionKey } from '../../../fills/pagination-sessions.js';
import type { RequestContext } from '../../../http/route.js';
import type { Tables } from '../../../tables/port.js';
import { pagingOf } from '../envelope.js';

export const RANKING_MS = 30_000;

export interface MarketViewsDeps {
  readonly tables: Tables;
  readonly cache: TtlCache;
  readonly conditionsOf: Lookup<Condition>;
  readonly rankings: Rankings;
  readonly nowMs: () => number;
}

/** Context of market rows (conditions, tag labels), and pages of market rankings. */
export type MarketViews = ReturnType<typeof createMarketViews>;

export function createMarketViews(deps: MarketViewsDeps) {
  const { tables, cache, conditionsOf, rankings } = deps;
  const labelsOf = createCachedLookup<string>({
    unknown: '',
    codec: identityCodec,
    nowMs: deps.nowMs,
    read: async (slugs) => {
      const rows = await tables.rows<{ slug: string; label: string }>(tagLabelsSql(slugs));
      return new Map(rows.map((row) => [row.slug, row.label]));
    },
  });

  const contextOf = async (rows: readonly MarketRow[]) =>
    Promise.all([conditionsOf(rows.map((row) => row.condition_id)), labelsOf(rows.flatMap((row) => row.tag_slugs))]);

  /** One page of a market ranking, in the order of the ranking. */
  const ranked = async (
    name: string,
    query: { readonly limit: number; readonly offset: number },
    context: RequestContext,
    load: () => Promise<readonly { readonly id: string }[]>,
  ) => {
    const page = await rankings.page({
      sessionKey: paginationSessionKey(context.caller?.accountId, name, {}),
      ...query,
      load: async () => (await cache.get(name, RANKING_MS, load)).value.map((row) => row.id),
    });
    const rows = page.ids.length === 0 ? [] : await tables.rows<MarketRow>(marketsSql(page.ids));
    const byId = new Map(rows.map((row) => [row.condition_id, row]));
    const found = page.ids.flatMap((id) => byId.get(id) ?? []);
    const [conditions, labels] = await contextOf(found);
    const serialize = <T>(
      from: (row: MarketRow, condition: Condition | undefined, labels: ReadonlyMap<string, string>) => T,
    ): T[] => found.map((row) => from(row, conditions.get(row.condition_id), labels));
    const fields = () => pagingOf(query, { rows: found.length, hasMore: page.hasMore, cursor: null, context });
    return { serialize, fields };
  };

  return { contextOf, ranked };
}
