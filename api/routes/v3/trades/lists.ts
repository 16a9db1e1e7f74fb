import { z } from 'zod';
import { badParameter } from '../../../errors/failure.js';
import type { FillFilter } from '../../../fills/filter.js';
import { formatCursor, type LogPosition } from '../../../fills/log-position.js';
import { paginationSessionKey } from '../../../fills/pagination-sessions.js';
import type { FillReader } from '../../../fills/reader.js';
import { type TitleLookup, untitled } from '../../../fills/titles.js';
import type { RequestContext } from '../../../http/route.js';
import { pageFields, pagingOf } from '../envelope.js';
import { orderFrom, orderSchema, tradeFrom, tradeSchema, userTradeFrom, userTradeSchema } from './serialize.js';

export const tradesPage = z.object({ trades: z.array(tradeSchema), ...pageFields });
export const ordersPage = z.object({
  trades: z.array(orderSchema),
  rows_returned: z.int(),
  grouped_by: z.literal('order_hash'),
  elapsed_ms: z.int(),
});
export const userTradesPage = z.object({
  trades: z.array(userTradeSchema),
  rows_returned: z.int(),
  grouped_by: z.literal('user_trade'),
  elapsed_ms: z.int(),
});

type TradesBody = z.input<typeof tradesPage>;
type OrdersBody = z.input<typeof ordersPage>;
type UserTradesBody = z.input<typeof userTradesPage>;

/** Grouping and paging of a query. */
export interface ListQuery {
  readonly limit: number;
  readonly offset: number;
  readonly cursor?: LogPosition;
  readonly order: 'asc' | 'desc';
  readonly sort_by?: 'order_hash';
  readonly group_by?: string;
}

export interface TradeLists {
  single(query: ListQuery, filter: FillFilter, at: ListRequest): Promise<TradesBody>;
  orders(query: ListQuery, filter: FillFilter, at: ListRequest): Promise<OrdersBody>;
  userTrades(query: ListQuery, filter: FillFilter, at: ListRequest): Promise<UserTradesBody>;
  /** Single fills or orders, as the query requests. */
  byQuery(query: ListQuery, filter: FillFilter, at: ListRequest): Promise<TradesBody | OrdersBody>;
}

/** Request and path (with its parameters) of a list; the path is part of the pagination session's key. */
export interface ListRequest {
  readonly context: RequestContext;
  readonly path: string;
}

/** Builds the pages of the /v3 fill lists. Throws ApiError for a cursor with grouped or order-sorted rows, which have no chain order. */
export function createTradeLists(deps: { fills: FillReader; titlesOf: TitleLookup }): TradeLists {
  const { fills, titlesOf } = deps;
  const sessionKeyOf = (query: ListQuery, { context, path }: ListRequest) =>
    paginationSessionKey(context.caller?.accountId, path, { ...query });
  const orderedOnly = (query: ListQuery) => {
    if (query.cursor !== undefined) throw badParameter('cursor cannot be combined with sort_by or group_by');
  };

  const lists: TradeLists = {
    async single(query, filter, at) {
      if (query.sort_by !== undefined) orderedOnly(query);
      const read = query.sort_by === undefined ? fills.fills : fills.fillsByOrder;
      const { rows, hasMore, last } = await read(filter, query, sessionKeyOf(query, at));
      const titles = await titlesOf(rows.map((row) => row.token_id));
      return {
        trades: rows.map((row) => tradeFrom(row, titles.get(row.token_id) ?? untitled)),
        ...pagingOf(query, {
          rows: rows.length,
          hasMore,
          cursor: last === null || query.sort_by !== undefined ? null : formatCursor(last),
          context: at.context,
        }),
      };
    },
    async orders(query, filter, at) {
      orderedOnly(query);
      const rows = await fills.groups(filter, query, 'order_hash', sessionKeyOf(query, at));
      const titles = await titlesOf(rows.map((row) => row.token_id));
      return {
        trades: rows.map((row) => orderFrom(row, titles.get(row.token_id) ?? untitled)),
        rows_returned: rows.length,
        grouped_by: 'order_hash',
        elapsed_ms: at.context.elapsedMs(),
      };
    },
    async userTrades(query, filter, at) {
      orderedOnly(query);
      const rows = await fills.groups(filter, query, 'user_trade', sessionKeyOf(query, at));
      const titles = await titlesOf(rows.map((row) => row.token_id));
      return {
        trades: rows.map((row) => userTradeFrom(row, titles.get(row.token_id) ?? untitled)),
        rows_returned: rows.length,
        grouped_by: 'user_trade',
        elapsed_ms: at.context.elapsedMs(),
      };
    },
    byQuery: (query, filter, at) =>
      query.group_by === undefined ? lists.single(query, filter, at) : lists.orders(query, filter, at),
  };
  return lists;
}
