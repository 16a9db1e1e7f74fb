import { z } from 'zod';
import type { FillRow } from '../../fills/fills.sql.js';
import { allFills, type FillFilter, storedBuilderCode, timeRangeOf } from '../../fills/filter.js';
import type { TokenTitle } from '../../fills/titles.js';
import { tokenFields, tokenFieldsFrom } from '../../fills/token-fields.js';
import { timeRangeAliases } from '../../http/aliases.js';
import { defineRoute, type RequestContext, type Route } from '../../http/route.js';
import { cursorsOf, cursorText, logPositionCursor } from '../../pagination/cursor.js';
import { cursorPage, type PageQuery } from '../../pagination/list-page.js';
import type { Readers } from '../../readers.js';
import { exampleFill, exampleTitle } from '../v3/trades/examples.js';
import { clob, common } from './params.js';
import {
  FIRST_VERSION,
  fillFrom,
  fillSchema,
  paginationOf,
  paginationSchema,
  SOURCE,
  titledFillFrom,
  titledFillSchema,
  titleFields,
  titleOf,
} from './serialize.js';

const LAST_VERSION = 255;
const versions = { min: FIRST_VERSION, max: LAST_VERSION };
const pageFields = { source: z.literal(SOURCE), count: z.int(), offset: z.int(), pagination: paginationSchema };
const examplePage = { source: SOURCE, count: 1, offset: 0, pagination: paginationOf({ limit: 100, offset: 0 }, null) };
const cursor = cursorText('`pagination.next_cursor` of the previous page. New rows do not shift the pages.');
const exampleCursor = (endpoint: string) =>
  cursorsOf(logPositionCursor, { endpoint, order: 'desc' }).write({ blockNumber: 91000001, logIndex: 77 });

const tradesQuery = z.object({
  wallet: clob.wallet.optional(),
  builder: clob.builder.optional(),
  token_id: clob.tokenId.optional(),
  condition_id: clob.conditionId.optional(),
  start: clob.time('Start of the range, Unix seconds.'),
  end: clob.time('End of the range, Unix seconds.'),
  min_usd: clob.usd('min_usd'),
  limit: clob.limit(500, 100),
  offset: clob.offset,
  order: clob.order,
  cursor,
});
const listQuery = z.object({ limit: clob.limit(1_000, 100), offset: clob.offset, cursor });

/** GET fills of V2 and later exchanges: by any filter, of a wallet, of a token. */
export function createClobTrades({ fills, titleOf: titleOfToken, withTitles }: Readers): readonly Route[] {
  /** A page of fills, serialized with the titles of their tokens. */
  const read = async <T>(
    filter: FillFilter,
    query: PageQuery & { order?: 'asc' | 'desc' },
    { endpoint }: RequestContext,
    serialize: (row: FillRow, title: TokenTitle) => T,
  ) => {
    const { order = 'desc', limit, offset } = query;
    const { rows, cursor } = await cursorPage(logPositionCursor, { endpoint, order }, query, (beyond) =>
      fills.fills({ ...filter, beyond }, { order, limit, offset }),
    );
    return { rows, pagination: paginationOf(query, cursor), trades: await withTitles(rows, serialize) };
  };

  const all = defineRoute({
    ...common,
    path: '/clobv2/trades',
    reads: ['fills', 'catalog'],
    summary: 'Fills by any filter',
    description: 'Filters are ANDed. `side` is present only with `wallet`. The leg with asset `"0"` is the collateral.',
    query: tradesQuery,
    aliases: { ...timeRangeAliases('start', 'end'), min_total: 'min_usd' },
    success: {
      description: 'A page of fills',
      schema: z.object({
        count: z.int(),
        source: z.literal(SOURCE),
        pagination: paginationSchema,
        trades: z.array(titledFillSchema),
      }),
      example: {
        count: 1,
        source: SOURCE,
        pagination: paginationOf({ limit: 1, offset: 0 }, exampleCursor('/clobv2/trades')),
        trades: [titledFillFrom(exampleFill, false, exampleTitle)],
      },
    },
    async handler({ query }, context) {
      const tokenIds = await fills.tokens({ tokenId: query.token_id, conditionId: query.condition_id });
      const filter: FillFilter = {
        ...allFills,
        wallets: query.wallet === undefined ? null : [query.wallet],
        tokenIds,
        builder: storedBuilderCode(query.builder),
        ...timeRangeOf(query.start, query.end),
        minUsdc: query.min_usd ?? null,
        versions,
      };
      const { rows, pagination, trades } = await read(filter, query, context, (row, title) =>
        titledFillFrom(row, query.wallet !== undefined, title),
      );
      return { body: { count: rows.length, source: SOURCE, pagination, trades } };
    },
  });

  const wallet = defineRoute({
    ...common,
    path: '/clobv2/wallets/{address}/trades',
    reads: ['fills', 'catalog'],
    summary: 'Fills of a wallet, newest first',
    params: z.object({ address: clob.wallet }),
    query: listQuery,
    success: {
      description: 'A page of fills',
      schema: z.object({ wallet: z.string(), ...pageFields, trades: z.array(titledFillSchema) }),
      example: {
        wallet: exampleFill.maker,
        ...examplePage,
        trades: [titledFillFrom(exampleFill, true, exampleTitle)],
      },
    },
    async handler({ params: { address }, query }, context) {
      const filter = { ...allFills, wallets: [address], versions };
      const { rows, pagination, trades } = await read(filter, query, context, (row, title) =>
        titledFillFrom(row, true, title),
      );
      const head = { wallet: address, source: SOURCE, count: rows.length, offset: query.offset };
      return { body: { ...head, pagination, trades } };
    },
  });

  const hoisted = { ...titleFields, outcome_index: z.int().nullable(), ...tokenFields };
  const hoist = (row: FillRow | undefined, title: TokenTitle) => ({
    ...titleOf(title),
    outcome_index: title.outcomeIndex,
    ...tokenFieldsFrom(row, title),
  });
  const token = defineRoute({
    ...common,
    path: '/clobv2/markets/{token_id}/trades',
    reads: ['fills', 'catalog'],
    summary: 'Fills of an outcome token, newest first',
    params: z.object({ token_id: clob.tokenId }),
    query: listQuery,
    success: {
      description: 'A page of fills; empty for an unknown token',
      schema: z.object({
        token_id: z.string(),
        ...pageFields,
        ...hoisted,
        trades: z.array(fillSchema),
      }),
      example: {
        token_id: exampleFill.token_id,
        ...examplePage,
        ...hoist(exampleFill, exampleTitle),
        trades: [fillFrom(exampleFill, false)],
      },
    },
    async handler({ params: { token_id }, query }, context) {
      const filter = { ...allFills, tokenIds: [token_id], versions };
      const { rows, pagination, trades } = await read(filter, query, context, (row) => fillFrom(row, false));
      const head = { token_id, source: SOURCE, count: rows.length, offset: query.offset };
      return { body: { ...head, pagination, ...hoist(rows[0], await titleOfToken(token_id)), trades } };
    },
  });

  return [all, wallet, token];
}
