import type { RequestContext } from '../../../http/route.js';
import type { PageQuery } from '../../../pagination/list-page.js';
import { rankedPage } from '../../../pagination/ranked-page.js';
import type { Readers } from '../../../readers.js';
import { pagingOf } from '../envelope.js';
import { isListed, type ListedMarket } from './serialize.js';

export const RANKING_MS = 30_000;

/** A market of a ranking, with its sort value: a number, or a whole number as text. */
export interface RankedId {
  readonly id: string;
  readonly value: number | string | null;
}
const rankValue = ({ value }: RankedId) => (typeof value === 'string' ? BigInt(value) : value);

/** Markets of the catalogue with their tag labels, and pages of market rankings. */
export type MarketViews = ReturnType<typeof createMarketViews>;

export function createMarketViews({ cache, conditionsOf, metadata }: Readers) {
  /** Those of the markets that the catalogue lists, in the order of the ids. */
  const listed = async (ids: readonly string[]) => {
    const conditions = await conditionsOf(ids);
    const markets = ids.map((id) => conditions.get(id)).filter(isListed);
    return { markets, labels: await metadata.tagLabelsOf(markets.flatMap(({ market }) => market.tagSlugs)) };
  };

  /** One page of a market ranking. `name` identifies its filter and sort. */
  const ranked = async (
    name: string,
    query: PageQuery,
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
    const { markets, labels } = await listed(page.rows.map((row) => row.id));
    const serialize = <T>(from: (market: ListedMarket, labels: ReadonlyMap<string, string>) => T): T[] =>
      markets.map((market) => from(market, labels));
    const fields = () => pagingOf(query, { ...page, rows: markets }, context);
    return { serialize, fields, isEmpty: list.length === 0 };
  };

  return { listed, ranked };
}
