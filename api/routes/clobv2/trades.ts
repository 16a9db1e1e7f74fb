import { z } from 'zod';
import type { FillRow } from '../../fills/fills.sql.js';
import { allFills, clampToDateTimeSeconds, type FillFilter, storedBuilderCode } from '../../fills/filter.js';
import { type TokenTitle, untitled } from '../../fills/titles.js';
import { tokenFields, tokenFieldsFrom } from '../../fills/token-fields.js';
import { timeRangeAliases } from '../../http/aliases.js';
import { defineRoute, type RequestContext, type Route } from '../../http/route.js';
import { cursorsOf, cursorText, logPositionCursor } from '../../pagination/cursor.js';
import type { Readers } from '../../readers.js';
import { exampleFill, exampleTitle } from '../v3/trades/examples.js';
import { clob, common } from './params.js';
import {
  FIRST_VERSION,
  fillFrom,
  fillSchema,
  paginationSchema,
  SOURCE,
  titledFillFrom,
  titledFillSchema,
  titleFields,
  titleOf,
} from './serialize.js';

const LAST_VERSION = 255;
const versions = { min: FIRST_VERSION, max: LAST_VERSION };
const source = z.literal(SOURCE);
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
export function createClobTrades(deps: { readers: Readers }): readonly Route[] {
  const { fills, titlesOf } = deps.readers;

  const read = async (
    filter: FillFilter,
    query: { limit: number; offset: number; order?: 'asc' | 'desc'; cursor?: string | undefined },
    { endpoint }: RequestContext,
  ) => {
    const { order = 'desc', limit, offset } = query;
    const cursors = cursorsOf(logPositionCursor, { endpoint, order });
    const beyond = cursors.read(query.cursor);
    const { rows, hasMore, last } = await fills.fills({ ...filter, beyond }, { order, limit, offset });
    const titles = await titlesOf(rows.map((row) => row.token_id));
    return {
      rows,
      pagination: {
        limit,
        offset,
        has_more: hasMore,
        next_cursor: hasMore && last !== null ? cursors.write(last) : null,
      },
      titleOf: (token: string) => titles.get(token) ?? untitled,
    };
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
      schema: z.object({ count: z.int(), source, pagination: paginationSchema, trades: z.array(titledFillSchema) }),
      example: {
        count: 1,
        source: SOURCE,
        pagination: { limit: 1, offset: 0, has_more: true, next_cursor: exampleCursor('/clobv2/trades') },
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
        afterS: clampToDateTimeSeconds(query.start),
        beforeS: clampToDateTimeSeconds(query.end),
        minUsdc: query.min_usd ?? null,
        versions,
      };
      const { rows, pagination, titleOf } = await read(filter, query, context);
      const sided = query.wallet !== undefined;
      return {
        body: {
          count: rows.length,
          source: SOURCE,
          pagination,
          trades: rows.map((row) => titledFillFrom(row, sided, titleOf(row.token_id))),
        },
      };
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
      schema: z.object({
        wallet: z.string(),
        source,
        count: z.int(),
        offset: z.int(),
        pagination: paginationSchema,
        trades: z.array(titledFillSchema),
      }),
      example: {
        wallet: exampleFill.maker,
        source: SOURCE,
        count: 1,
        offset: 0,
        pagination: { limit: 100, offset: 0, has_more: false, next_cursor: null },
        trades: [titledFillFrom(exampleFill, true, exampleTitle)],
      },
    },
    async handler({ params: { address }, query }, context) {
      const filter = { ...allFills, wallets: [address], versions };
      const { rows, pagination, titleOf } = await read(filter, query, context);
      return {
        body: {
          wallet: address,
          source: SOURCE,
          count: rows.length,
          offset: query.offset,
          pagination,
          trades: rows.map((row) => titledFillFrom(row, true, titleOf(row.token_id))),
        },
      };
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
        source,
        count: z.int(),
        offset: z.int(),
        pagination: paginationSchema,
        ...hoisted,
        trades: z.array(fillSchema),
      }),
      example: {
        token_id: exampleFill.token_id,
        source: SOURCE,
        count: 1,
        offset: 0,
        pagination: { limit: 100, offset: 0, has_more: false, next_cursor: null },
        ...hoist(exampleFill, exampleTitle),
        trades: [fillFrom(exampleFill, false)],
      },
    },
    async handler({ params: { token_id }, query }, context) {
      const filter = { ...allFills, tokenIds: [token_id], versions };
      const { rows, pagination } = await read(filter, query, context);
      return {
        body: {
          token_id,
          source: SOURCE,
          count: rows.length,
          offset: query.offset,
          pagination,
          ...hoist(rows[0], (await titlesOf([token_id])).get(token_id) ?? untitled),
          trades: rows.map((row) => fillFrom(row, false)),
        },
      };
    },
  });

  return [all, wallet, token];
}
