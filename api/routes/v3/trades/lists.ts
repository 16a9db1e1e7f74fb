import { z } from 'zod';
import type { FillGroupRow, Grouping } from '../../../fills/fills.sql.js';
import type { FillFilter, Page } from '../../../fills/filter.js';
import type { LogPositionRow } from '../../../fills/log-position.js';
import { type RowPage, readSnapshotPage } from '../../../fills/read-page.js';
import type { TokenTitle } from '../../../fills/titles.js';
import type { RequestContext } from '../../../http/route.js';
import { logPositionCursor, snapshotOffsetCursor } from '../../../pagination/cursor.js';
import { cursorPage, type PageQuery } from '../../../pagination/list-page.js';
import type { Readers } from '../../../readers.js';
import { pageFields, pagingOf } from '../envelope.js';
import { orderFrom, orderSchema, tradeFrom, tradeSchema, userTradeFrom, userTradeSchema } from './serialize.js';

/** Schema of a page of groups of fills. */
const groupsPage = <Row extends z.ZodType, G extends string>(row: Row, grouping: G) =>
  z.object({
    trades: z.array(row),
    rows_returned: z.int(),
    grouped_by: z.literal(grouping),
    next_cursor: pageFields.next_cursor,
    elapsed_ms: z.int(),
  });
export const tradesPage = z.object({ trades: z.array(tradeSchema), ...pageFields });
export const ordersPage = groupsPage(orderSchema, 'order_hash');
export const userTradesPage = groupsPage(userTradeSchema, 'user_trade');

/** Grouping and paging of a query. */
export interface ListQuery extends PageQuery {
  readonly order: 'asc' | 'desc';
  readonly sort_by?: 'order_hash';
  readonly group_by?: string;
}

/** Builds the pages of the /v3 fill lists. */
export function createTradeLists({ fills, withTitles }: Readers) {
  /** Rows that new fills can move: a cursor is an offset into the list as of the first page. */
  const snapshotPage = <Row extends LogPositionRow>(
    query: ListQuery,
    filter: FillFilter,
    { endpoint }: RequestContext,
    load: (filter: FillFilter, page: Page) => Promise<RowPage<Row>>,
  ) => {
    const order = `${query.group_by ?? query.sort_by} ${query.order}`;
    const page = { order: query.order, limit: query.limit, offset: query.offset };
    return cursorPage(snapshotOffsetCursor, { endpoint, order }, query, (start) =>
      readSnapshotPage({ fills, filter, page, start, load }),
    );
  };
  const groups = async <T, G extends Grouping>(
    query: ListQuery,
    filter: FillFilter,
    context: RequestContext,
    grouping: G,
    serialize: (row: FillGroupRow, title: TokenTitle) => T,
  ) => {
    const load = (all: FillFilter, page: Page) => fills.groups(all, page, grouping);
    const { rows, cursor } = await snapshotPage(query, filter, context, load);
    return {
      trades: await withTitles(rows, serialize),
      rows_returned: rows.length,
      grouped_by: grouping,
      next_cursor: cursor,
      elapsed_ms: context.elapsedMs(),
    };
  };

  const single = async (query: ListQuery, filter: FillFilter, context: RequestContext) => {
    const list = { endpoint: context.endpoint, order: query.order };
    const page =
      query.sort_by === undefined
        ? await cursorPage(logPositionCursor, list, query, (beyond) => fills.fills({ ...filter, beyond }, query))
        : await snapshotPage(query, filter, context, fills.fillsByOrder);
    return { trades: await withTitles(page.rows, tradeFrom), ...pagingOf(query, page, context) };
  };
  return {
    userTrades: (query: ListQuery, filter: FillFilter, context: RequestContext) =>
      groups(query, filter, context, 'user_trade', userTradeFrom),
    single,
    /** Single fills or orders, as the query requests. */
    byQuery: (query: ListQuery, filter: FillFilter, context: RequestContext) =>
      query.group_by === undefined
        ? single(query, filter, context)
        : groups(query, filter, context, 'order_hash', (row, title) => orderFrom(row, title, filter.wallets !== null)),
  };
}
