import { z } from 'zod';
import type { FillFilter, Page } from '../../../fills/filter.js';
import type { LogPositionRow } from '../../../fills/log-position.js';
import { type RowPage, readSnapshotPage } from '../../../fills/read-page.js';
import type { FillReader } from '../../../fills/reader.js';
import { type TitleLookup, untitled } from '../../../fills/titles.js';
import type { RequestContext } from '../../../http/route.js';
import { cursorsOf, logPositionCursor, snapshotOffsetCursor } from '../../../pagination/cursor.js';
import { pageFields, pagingOf } from '../envelope.js';
import { orderFrom, orderSchema, tradeFrom, tradeSchema, userTradeFrom, userTradeSchema } from './serialize.js';

export const tradesPage = z.object({ trades: z.array(tradeSchema), ...pageFields });
export const ordersPage = z.object({
  trades: z.array(orderSchema),
  rows_returned: z.int(),
  grouped_by: z.literal('order_hash'),
  next_cursor: pageFields.next_cursor,
  elapsed_ms: z.int(),
});
export const userTradesPage = z.object({
  trades: z.array(userTradeSchema),
  rows_returned: z.int(),
  grouped_by: z.literal('user_trade'),
  next_cursor: pageFields.next_cursor,
  elapsed_ms: z.int(),
});

type TradesBody = z.input<typeof tradesPage>;
type OrdersBody = z.input<typeof ordersPage>;
type UserTradesBody = z.input<typeof userTradesPage>;

/** Grouping and paging of a query. */
export interface ListQuery {
  readonly limit: number;
  readonly offset: number;
  readonly cursor?: string | undefined;
  readonly order: 'asc' | 'desc';
  readonly sort_by?: 'order_hash';
  readonly group_by?: string;
}

export interface TradeLists {
  single(query: ListQuery, filter: FillFilter, context: RequestContext): Promise<TradesBody>;
  orders(query: ListQuery, filter: FillFilter, context: RequestContext): Promise<OrdersBody>;
  userTrades(query: ListQuery, filter: FillFilter, context: RequestContext): Promise<UserTradesBody>;
  /** Single fills or orders, as the query requests. */
  byQuery(query: ListQuery, filter: FillFilter, context: RequestContext): Promise<TradesBody | OrdersBody>;
}

/** Builds the pages of the /v3 fill lists. */
export function createTradeLists(deps: { fills: FillReader; titlesOf: TitleLookup }): TradeLists {
  const { fills, titlesOf } = deps;

  /** Fills in chain order: a cursor is the position of the last one. */
  const inOrder = async (query: ListQuery, filter: FillFilter, { endpoint }: RequestContext) => {
    const cursors = cursorsOf(logPositionCursor, { endpoint, order: query.order });
    const { rows, hasMore, last } = await fills.fills({ ...filter, beyond: cursors.read(query.cursor) }, query);
    return { rows, hasMore, cursor: last === null ? null : cursors.write(last) };
  };
  /** Rows that new fills can move: a cursor is an offset into the list as of the first page. */
  const grouped = async <Row extends LogPositionRow>(
    query: ListQuery,
    filter: FillFilter,
    { endpoint }: RequestContext,
    load: (filter: FillFilter, page: Page) => Promise<RowPage<Row>>,
  ) => {
    const order = `${query.group_by ?? query.sort_by} ${query.order}`;
    const cursors = cursorsOf(snapshotOffsetCursor, { endpoint, order });
    const page = { order: query.order, limit: query.limit, offset: query.offset };
    const start = cursors.read(query.cursor);
    const { rows, hasMore, next } = await readSnapshotPage({ fills, filter, page, start, load });
    return { rows, hasMore, cursor: next === null ? null : cursors.write(next) };
  };

  const lists: TradeLists = {
    async single(query, filter, context) {
      const { rows, hasMore, cursor } =
        query.sort_by === undefined
          ? await inOrder(query, filter, context)
          : await grouped(query, filter, context, fills.fillsByOrder);
      const titles = await titlesOf(rows.map((row) => row.token_id));
      return {
        trades: rows.map((row) => tradeFrom(row, titles.get(row.token_id) ?? untitled)),
        ...pagingOf(query, { rows: rows.length, hasMore, cursor, context }),
      };
    },
    async orders(query, filter, context) {
      const load = (all: FillFilter, page: Page) => fills.groups(all, page, 'order_hash');
      const { rows, cursor } = await grouped(query, filter, context, load);
      const titles = await titlesOf(rows.map((row) => row.token_id));
      return {
        trades: rows.map((row) => orderFrom(row, titles.get(row.token_id) ?? untitled, filter.wallets !== null)),
        rows_returned: rows.length,
        grouped_by: 'order_hash',
        next_cursor: cursor,
        elapsed_ms: context.elapsedMs(),
      };
    },
    async userTrades(query, filter, context) {
      const load = (all: FillFilter, page: Page) => fills.groups(all, page, 'user_trade');
      const { rows, cursor } = await grouped(query, filter, context, load);
      const titles = await titlesOf(rows.map((row) => row.token_id));
      return {
        trades: rows.map((row) => userTradeFrom(row, titles.get(row.token_id) ?? untitled)),
        rows_returned: rows.length,
        grouped_by: 'user_trade',
        next_cursor: cursor,
        elapsed_ms: context.elapsedMs(),
      };
    },
    byQuery: (query, filter, context) =>
      query.group_by === undefined ? lists.single(query, filter, context) : lists.orders(query, filter, context),
  };
  return lists;
}
