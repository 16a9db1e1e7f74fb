import { z } from 'zod';
import type { RequestContext } from '../../http/route.js';
import type { ListPage } from '../../pagination/list-page.js';

/** Fields of every ungrouped /v3 list. */
export const pageFields = {
  rows_returned: z.int(),
  has_more: z.boolean(),
  offset: z.int(),
  limit: z.int(),
  next_cursor: z.string().nullable().meta({ description: 'Cursor of the next page; null on the last one.' }),
  elapsed_ms: z.int(),
};

/** Values of `pageFields` in the example of a list with one page. */
export const examplePage = {
  rows_returned: 1,
  has_more: false,
  offset: 0,
  limit: 100,
  next_cursor: null,
  elapsed_ms: 4,
};

/** The values of `pageFields`. */
export const pagingOf = (
  query: { readonly offset: number; readonly limit: number },
  page: ListPage<unknown>,
  context: RequestContext,
) => ({
  rows_returned: page.rows.length,
  has_more: page.cursor !== null,
  offset: query.offset,
  limit: query.limit,
  next_cursor: page.cursor,
  elapsed_ms: context.elapsedMs(),
});
