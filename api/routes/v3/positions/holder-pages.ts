import { MAX_RANKED } from '../../../catalog/markets.sql.js';
import type { TokenSelection } from '../../../fills/tokens.sql.js';
import type { RequestContext } from '../../../http/route.js';
import type { ListPage, PageQuery } from '../../../pagination/list-page.js';
import { rankedPage } from '../../../pagination/ranked-page.js';
import type { Position } from '../../../positions/position.js';
import type { HolderSort, PositionStatus } from '../../../positions/positions.sql.js';
import { byRank } from '../../../positions/reader.js';
import type { Readers } from '../../../readers.js';

/** Maximum age of a ranking of holders when its first page is served. */
const MAX_ORDER_AGE_S = 30;
/** Pagination note in the OpenAPI descriptions of these lists. */
export const HOLDER_PAGINATION_NOTE = `The first ${MAX_RANKED.toLocaleString('en')} in the requested order. The order is at most ${MAX_ORDER_AGE_S} s old; the values of the rows are current. \`next_cursor\` continues after the last row: positions whose sort key does not change are listed exactly once.`;

export interface HoldersRequest extends PageQuery {
  readonly sort: HolderSort;
  readonly order: 'asc' | 'desc';
  readonly status?: PositionStatus;
  /** Only of tokens that are settled, or not; null: of all. */
  readonly settled?: boolean | null;
  /** Shares, base units; null: any size. */
  readonly minSize: bigint | null;
}

/** A page of the positions in the selected tokens. `selectionName` identifies the selection. */
export async function readHolders(
  { positions, fills, cache }: Readers,
  selectionName: string,
  selection: TokenSelection,
  request: HoldersRequest,
  { endpoint }: RequestContext,
): Promise<ListPage<Position>> {
  const { sort, order, minSize, status = 'all', settled = null } = request;
  const name = `v3 holders ${selectionName} ${status} ${settled} ${minSize ?? 0n} ${sort} ${order}`;
  const list = await cache.get(name, MAX_ORDER_AGE_S * 1000, async () => {
    const tokenIds = (await fills.tokens(selection)) ?? [];
    return positions.rankedHolders({ tokenIds, status, settled, minSize, wallets: null }, sort, order);
  });
  const { rows, cursor } = rankedPage(list.value, byRank(order), request, { endpoint, order: `${sort} ${order}` });
  return { rows: await positions.byId(rows.map((row) => row.id)), cursor };
}
