import type { TtlCache } from '../../../cache/ttl-cache.js';
import { MAX_RANKED } from '../../../catalog/markets.sql.js';
import type { Rankings } from '../../../catalog/rankings.js';
import { paginationSessionKey } from '../../../fills/pagination-sessions.js';
import type { FillReader } from '../../../fills/reader.js';
import type { TokenSelection } from '../../../fills/tokens.sql.js';
import type { RequestContext } from '../../../http/route.js';
import type { HolderSort, PositionStatus } from '../../../positions/positions.sql.js';
import type { PositionReader } from '../../../positions/reader.js';
import { pagingOf } from '../envelope.js';

/** Maximum age of a ranking of holders when its first page is served. */
const MAX_ORDER_AGE_S = 30;
/** Pagination note in the OpenAPI descriptions of these lists. */
export const HOLDER_PAGINATION_NOTE = `The first ${MAX_RANKED.toLocaleString('en')} in the requested order. The order is at most ${MAX_ORDER_AGE_S} s old on the first page, and later pages by \`offset\` keep it for 15 minutes; the values of the rows are current.`;

export interface HoldersRequest {
  readonly sort: HolderSort;
  readonly order: 'asc' | 'desc';
  readonly status?: PositionStatus;
  /** Only of tokens that are settled, or not; null: of all. */
  readonly settled?: boolean | null;
  /** Shares, base units; null: any size. */
  readonly minSize: bigint | null;
  readonly limit: number;
  readonly offset: number;
}

export interface HolderPagesDeps {
  readonly positions: PositionReader;
  readonly fills: FillReader;
  readonly rankings: Rankings;
  readonly cache: TtlCache;
}

/** Pages of the positions in the selected tokens, in an order that a pagination session keeps. `name` identifies the selection. */
export function createHolderPages(deps: HolderPagesDeps) {
  const { positions, fills, rankings, cache } = deps;
  return async (name: string, selection: TokenSelection, request: HoldersRequest, context: RequestContext) => {
    const { sort, order, minSize, status = 'all', settled = null } = request;
    const list = `v3 holders ${name} ${status} ${settled} ${minSize ?? 0n} ${sort} ${order}`;
    const page = await rankings.page({
      sessionKey: paginationSessionKey(context.caller?.accountId, list, {}),
      offset: request.offset,
      limit: request.limit,
      load: async () => {
        const found = await cache.get(list, MAX_ORDER_AGE_S * 1000, async () => {
          const tokenIds = (await fills.tokens(selection)) ?? [];
          const prices = settled === null ? null : await positions.prices(tokenIds);
          const chosen = tokenIds.filter(
            (id) => prices === null || (prices.get(id)?.source === 'settlement') === settled,
          );
          return positions.rankedHolderIds({ tokenIds: chosen, status, minSize, wallets: null }, sort, order);
        });
        return found.value;
      },
    });
    const rows = await positions.byId(page.ids);
    const paging = () => pagingOf(request, { rows: rows.length, hasMore: page.hasMore, cursor: null, context });
    return { rows, paging };
  };
}
