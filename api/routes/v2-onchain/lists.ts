import { z } from 'zod';
import { moneyToNumber } from '../../../schemas/primitives/money.js';
import type { Condition } from '../../catalog/conditions.js';
import type { FillRow } from '../../fills/fills.sql.js';
import { allFills, type FillFilter } from '../../fills/filter.js';
import type { LogPosition } from '../../fills/log-position.js';
import { paginationSessionKey } from '../../fills/pagination-sessions.js';
import { cachedPage } from '../../fills/read-page.js';
import { untitled } from '../../fills/titles.js';
import { cacheHeaders } from '../../http/cache-headers.js';
import { defineRoute, type RequestContext, type Route } from '../../http/route.js';
import type { Readers } from '../../readers.js';
import type { WalletEventKind } from '../../wallet-events/events.sql.js';
import { exampleFill, exampleTitle } from '../v3/trades/examples.js';
import { common as onchain, v2 } from './params.js';
import {
  activityFrom,
  activitySchema,
  fillFrom,
  fillSchema,
  formatFillCursor,
  marketFields,
  marketOf,
  outcomeFields,
  outcomeFieldsFrom,
  paginationSchema,
  redemptionFrom,
  redemptionSchema,
  SOURCE,
  walletFillFrom,
  walletFillSchema,
} from './serialize.js';

/** Maximum age of a cached list. */
const LIST_CACHE_S = 60;
const MAX_ROWS = 1_000;
const common = {
  ...onchain,
  cacheS: LIST_CACHE_S,
} as const;
const tradesQuery = z.object({ limit: v2.limit(MAX_ROWS), cursor: v2.cursor.optional(), offset: v2.offset });
const listQuery = z.object({ limit: v2.limit(MAX_ROWS), offset: v2.offset });
const source = z.literal(SOURCE);

/** The wallet and market lists of /v2/onchain: fills, redemptions, splits, merges and conversions. */
export function createOnchainLists(deps: { readers: Readers }): readonly Route[] {
  const { fills, titlesOf, paginationSessions, walletEvents, conditionsOf } = deps.readers;

  const fillsPage = async (
    path: string,
    filter: FillFilter,
    query: { readonly limit: number; readonly offset: number; readonly cursor?: LogPosition | null },
    context: RequestContext,
  ) => {
    const beyond = query.cursor ?? null;
    const page = { order: 'desc', limit: query.limit, offset: beyond === null ? query.offset : 0 } as const;
    const cached = await cachedPage<FillRow>({
      cache: deps.readers.pageCache,
      paginationSessions,
      name: `${path} ${beyond === null ? '' : `${beyond.blockNumber}-${beyond.logIndex}`}`,
      sessionKey: paginationSessionKey(context.caller?.accountId, path, {}),
      page,
      beyond,
      ttlMs: LIST_CACHE_S * 1000,
      load: (atMost) => fills.fills({ ...filter, beyond, atMost }, page, null),
    });
    const { rows, hasMore } = cached.value;
    const last = rows.at(-1);
    return {
      rows,
      offset: page.offset,
      pagination: {
        limit: query.limit,
        has_more: hasMore,
        ...(hasMore && last !== undefined ? { cursor: formatFillCursor(last) } : {}),
      },
      cache: cacheHeaders(cached, LIST_CACHE_S),
    };
  };

  const walletTrades = defineRoute({
    ...common,
    path: '/v2/onchain/wallets/{address}/trades',
    reads: ['fills', 'catalog'],
    summary: 'Fills of a wallet, newest first',
    description: 'Page with `cursor` or `offset`.',
    params: z.object({ address: v2.wallet }),
    query: tradesQuery,
    success: {
      description: 'A page of fills',
      schema: z.object({
        wallet: z.string(),
        source,
        count: z.int(),
        offset: z.int(),
        pagination: paginationSchema,
        trades: z.array(walletFillSchema),
      }),
      example: {
        wallet: exampleFill.maker,
        source: SOURCE,
        count: 1,
        offset: 0,
        pagination: { limit: 1, has_more: true, cursor: '1790000200:91000001-77' },
        trades: [walletFillFrom(exampleFill, exampleTitle)],
      },
    },
    async handler({ params: { address }, query }, context) {
      const filter = { ...allFills, wallets: [address] };
      const path = `/v2/onchain/wallets/${address}/trades`;
      const { rows, offset, pagination, cache } = await fillsPage(path, filter, query, context);
      const titles = await titlesOf(rows.map((row) => row.token_id));
      const trades = rows.map((row) => walletFillFrom(row, titles.get(row.token_id) ?? untitled));
      return { body: { wallet: address, source: SOURCE, count: trades.length, offset, pagination, trades }, cache };
    },
  });

  const marketTrades = defineRoute({
    ...common,
    path: '/v2/onchain/markets/{token_id}/trades',
    reads: ['fills', 'catalog'],
    summary: 'Fills of an outcome token, newest first',
    description: 'Rows describe the signed order: `side` is always maker. Page with `cursor` or `offset`.',
    params: z.object({ token_id: v2.tokenId }),
    query: tradesQuery,
    success: {
      description: 'A page of fills; empty for an unknown token',
      schema: z.object({
        token_id: z.string(),
        source,
        count: z.int(),
        offset: z.int(),
        ...marketFields,
        ...outcomeFields,
        pagination: paginationSchema,
        trades: z.array(fillSchema),
      }),
      example: {
        token_id: exampleFill.token_id,
        source: SOURCE,
        count: 1,
        offset: 0,
        ...marketOf(exampleTitle),
        ...outcomeFieldsFrom(exampleFill, exampleTitle),
        pagination: { limit: 100, has_more: false },
        trades: [fillFrom(exampleFill)],
      },
    },
    async handler({ params: { token_id: id }, query }, context) {
      const filter = { ...allFills, tokenIds: [id] };
      const path = `/v2/onchain/markets/${id}/trades`;
      const { rows, offset, pagination, cache } = await fillsPage(path, filter, query, context);
      const title = (await titlesOf([id])).get(id) ?? untitled;
      return {
        body: {
          token_id: id,
          source: SOURCE,
          count: rows.length,
          offset,
          ...marketOf(title),
          ...outcomeFieldsFrom(rows[0], title),
          pagination,
          trades: rows.map(fillFrom),
        },
        cache,
      };
    },
  });

  const eventsPage = async (
    address: string,
    kinds: readonly WalletEventKind[],
    query: z.output<typeof listQuery>,
    context: RequestContext,
  ) => {
    const path = `/v2/onchain/wallets/${address}/${kinds.join()}`;
    const page = { order: 'desc', ...query } as const;
    const filter = { wallet: address, kinds, afterS: null, beforeS: null, beyond: null };
    const cached = await cachedPage({
      cache: deps.readers.pageCache,
      paginationSessions,
      name: path,
      sessionKey: paginationSessionKey(context.caller?.accountId, path, {}),
      page,
      beyond: null,
      ttlMs: LIST_CACHE_S * 1000,
      load: (atMost) => walletEvents.eventsWithin({ ...filter, atMost }, page),
    });
    const { rows } = cached.value;
    const conditions = await conditionsOf(rows.flatMap((row) => (row.kind === 'conversion' ? [] : [row.subject_id])));
    return { rows, conditions, cache: cacheHeaders(cached, LIST_CACHE_S) };
  };

  const redemptions = defineRoute({
    ...common,
    path: '/v2/onchain/wallets/{address}/redemptions',
    reads: ['wallet_events'],
    summary: 'Redemptions of a wallet, newest first',
    description: '`total_payout` covers this page. More rows exist while `count` equals the limit.',
    params: z.object({ address: v2.wallet }),
    query: listQuery,
    success: {
      description: 'A page of redemptions',
      schema: z.object({
        wallet: z.string(),
        source,
        count: z.int(),
        offset: z.int(),
        total_payout: z.number(),
        redemptions: z.array(redemptionSchema),
      }),
      example: {
        wallet: exampleFill.maker,
        source: SOURCE,
        count: 1,
        offset: 0,
        total_payout: 80,
        redemptions: [
          {
            id: `0x${'7e'.repeat(32)}_0x1f4`,
            timestamp: 1790950000,
            condition: `0x${'c2'.repeat(32)}`,
            index_sets: ['1', '2'],
            payout: 80,
            market: 'Rivers vs. Lakes',
            slug: 'rvl-2026-10-02',
            image: null,
          },
        ],
      },
    },
    async handler({ params: { address }, query }, context) {
      const { rows, conditions, cache } = await eventsPage(address, ['redemption'], query, context);
      const found = rows.map((row) => redemptionFrom(row, conditions.get(row.subject_id) as Condition));
      const total = rows.reduce((sum, row) => sum + BigInt(row.amount), 0n);
      return {
        body: {
          wallet: address,
          source: SOURCE,
          count: found.length,
          offset: query.offset,
          total_payout: moneyToNumber(total),
          redemptions: found,
        },
        cache,
      };
    },
  });

  const activity = defineRoute({
    ...common,
    path: '/v2/onchain/wallets/{address}/activity',
    reads: ['wallet_events', 'fills'],
    summary: 'Splits, merges and neg-risk conversions of a wallet, newest first',
    description: 'The three counts cover this page. More rows exist while `count` equals the limit.',
    params: z.object({ address: v2.wallet }),
    query: listQuery,
    success: {
      description: 'A page of events',
      schema: z.object({
        wallet: z.string(),
        source,
        count: z.int(),
        offset: z.int(),
        splits: z.int(),
        merges: z.int(),
        conversions: z.int(),
        events: z.array(activitySchema),
      }),
      example: {
        wallet: exampleFill.maker,
        source: SOURCE,
        count: 1,
        offset: 0,
        splits: 0,
        merges: 0,
        conversions: 1,
        events: [
          {
            type: 'neg_risk_conversion',
            id: `0x${'7e'.repeat(32)}_0x20`,
            timestamp: 1790200000,
            amount: 15,
            neg_risk_market_id: `0x${'ab'.repeat(32)}`,
            index_set: '6',
            question_count: 4,
          },
        ],
      },
    },
    async handler({ params: { address }, query }, context) {
      const { rows, conditions, cache } = await eventsPage(address, ['split', 'merge', 'conversion'], query, context);
      const markets = rows.flatMap((row) => (row.kind === 'conversion' ? [row.subject_id] : []));
      const questions = await walletEvents.questionCounts(markets);
      const of = (kind: WalletEventKind) => rows.filter((row) => row.kind === kind).length;
      return {
        body: {
          wallet: address,
          source: SOURCE,
          count: rows.length,
          offset: query.offset,
          splits: of('split'),
          merges: of('merge'),
          conversions: of('conversion'),
          events: rows.map((row) =>
            activityFrom(row, conditions.get(row.subject_id), questions.get(row.subject_id) ?? 0),
          ),
        },
        cache,
      };
    },
  });

  return [walletTrades, marketTrades, redemptions, activity];
}
