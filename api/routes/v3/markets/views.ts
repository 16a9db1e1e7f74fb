import type { Condition } from '../../../catalog/conditions.js';
import { type MarketRow, marketsSql } from '../../../catalog/markets.sql.js';
import type { RequestContext } from '../../../http/route.js';
import { rankedPage } from '../../../pagination/ranked-page.js';
import type { Readers } from '../../../readers.js';
import { pagingOf } from '../envelope.js';

export const RANKING_MS = 30_000;

/** A market of a ranking, with its sort value: a number, or a whole number as text. */
export interface RankedId {
  readonly id: string;
  readonly value: number | string | null;
}
const rankValue = ({ value }: RankedId) => (typeof value === 'string' ? BigInt(value) : value);

/** Context of market rows (conditions, tag labels), labels by tag, and pages of market rankings. */
export type MarketViews = ReturnType<typeof createMarketViews>;

export function createMarketViews({ tables, cache, conditionsOf, metadata }: Readers) {
  const labelsOf = metadata.tagLabelsOf;
  const contextOf = async (rows: readonly MarketRow[]) =>
    Promise.all([conditionsOf(rows.map((row) => row.condition_id)), labelsOf(rows.flatMap((row) => row.tag_slugs))]);

  /** One page of a market ranking. `name` identifies its filter and sort. */
  const ranked = async (
    name: string,
    query: { readonly limit: number; readonly offset: number; readonly cursor?: string | undefined },
    ranking: {
      readonly context: RequestContext;
      readonly direction: 'asc' | 'desc';
      /** Sort key, where the list has several. */
      readonly sort?: string;
      readonly load: () => Promise<readonly RankedId[]>;
    },
  ) => {
    const { context, direction, load } = ranking;
    const list = (await cache.get(name, RANKING_MS, load)).value;
    const by = { value: rankValue, id: (row: RankedId) => row.id, direction } as const;
    const page = rankedPage(list, by, query, { endpoint: context.endpoint, order: ranking.sort });
    const ids = page.rows.map((row) => row.id);
    const rows = ids.length === 0 ? [] : await tables.rows<MarketRow>(marketsSql(ids));
    const byId = new Map(rows.map((row) => [row.condition_id, row]));
    const found = ids.flatMap((id) => byId.get(id) ?? []);
    const [conditions, labels] = await contextOf(found);
    const serialize = <T>(
      from: (row: MarketRow, condition: Condition | undefined, labels: ReadonlyMap<string, string>) => T,
    ): T[] => found.map((row) => from(row, conditions.get(row.condition_id), labels));
    const fields = () => pagingOf(query, { ...page, rows: found }, context);
    return { serialize, fields, isEmpty: list.length === 0 };
  };

  return { contextOf, labelsOf, ranked };
}
