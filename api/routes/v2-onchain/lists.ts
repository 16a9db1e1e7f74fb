import { z } from 'zod';
import { moneyToNumber } from '../../../schemas/primitives/money.js';
import type { Condition } from '../../catalog/conditions.js';
import type { FillRow } from '../../fills/fills.sql.js';
import { allFills, type FillFilter, type Page } from '../../fills/filter.js';
import { formatCursor, type LogPosition } from '../../fills/log-position.js';
import type { RowPage } from '../../fills/read-page.js';
import { defineRoute, type Route } from '../../http/route.js';
import type { Readers } from '../../readers.js';
import type { WalletEventKind, WalletEventRow } from '../../wallet-events/events.sql.js';
import { exampleCondition, exampleEvent } from '../../wallet-events/examples.js';
import { eventId } from '../../wallet-events/reader.js';
import { exampleFill, exampleTitle } from '../v3/trades/examples.js';
import { common as onchain, v2 } from './params.js';
import {
  activityFrom,
  activitySchema,
  fillFrom,
  fillSchema,
  formatTimedCursor,
  marketFields,
  marketOf,
  outcomeFields,
  outcomeFieldsFrom,
  paginationSchema,
  redemptionFrom,
  redemptionSchema,
  SOURCE,
  type TimedRow,
  walletFillFrom,
  walletFillSchema,
} from './serialize.js';

/** Maximum age of a cached list. */
const LIST_CACHE_S = 60;
const MAX_ROWS = 1_000;
const listQuery = z.object({ limit: v2.limit(MAX_ROWS), cursor: v2.cursor.optional(), offset: v2.offset });
const common = { ...onchain, cacheS: LIST_CACHE_S, query: listQuery } as const;
const ofWallet = { ...common, params: z.object({ address: v2.wallet }) } as const;
const pageFields = { source: z.literal(SOURCE), count: z.int(), offset: z.int() };
const examplePage = { source: SOURCE, count: 1, offset: 0 };
/** Fields of every list of a wallet. */
const walletFields = { wallet: z.string(), ...pageFields, pagination: paginationSchema };
const exampleOfWallet = {
  wallet: exampleFill.maker,
  ...examplePage,
  pagination: { limit: 100, has_more: false },
};

/** The wallet and market lists of /v2/onchain: fills, redemptions, splits, merges and conversions. */
export function createOnchainLists(readers: Readers): readonly Route[] {
  const { fills, titleOf, withTitles, walletEvents, conditionsOf, cache } = readers;

  /** A cached page of a list, newest first. `name` identifies the list. */
  const cachedPage = async <Row extends TimedRow>(
    name: string,
    query: z.output<typeof listQuery>,
    load: (beyond: LogPosition | null, page: Page) => Promise<RowPage<Row>>,
  ) => {
    const beyond = query.cursor ?? null;
    const page = { order: 'desc', limit: query.limit, offset: beyond === null ? query.offset : 0 } as const;
    const start = beyond === null ? page.offset : formatCursor(beyond);
    const cached = await cache.get(`${name} ${start} ${page.limit}`, LIST_CACHE_S * 1000, () => load(beyond, page));
    const { rows, next } = cached.value;
    const last = next === null ? undefined : rows.at(-1);
    return {
      rows,
      page: { source: SOURCE, count: rows.length, offset: page.offset },
      pagination: {
        limit: query.limit,
        has_more: next !== null,
        ...(last === undefined ? {} : { cursor: formatTimedCursor(last) }),
      },
      cache: cached,
    };
  };
  const fillsPage = (name: string, filter: FillFilter, query: z.output<typeof listQuery>) =>
    cachedPage<FillRow>(name, query, (beyond, page) => fills.fills({ ...filter, beyond }, page));

  const walletTrades = defineRoute({
    ...ofWallet,
    path: '/v2/onchain/wallets/{address}/trades',
    reads: ['fills', 'catalog'],
    summary: 'Fills of a wallet, newest first',
    description: 'Page with `cursor` or `offset`.',
    success: {
      description: 'A page of fills',
      schema: z.object({ ...walletFields, trades: z.array(walletFillSchema) }),
      example: {
        ...exampleOfWallet,
        pagination: { limit: 1, has_more: true, cursor: '1790000200:91000001-77' },
        trades: [walletFillFrom(exampleFill, exampleTitle)],
      },
    },
    async handler({ params: { address }, query }) {
      const filter = { ...allFills, wallets: [address] };
      const path = `/v2/onchain/wallets/${address}/trades`;
      const { rows, page, pagination, cache } = await fillsPage(path, filter, query);
      const trades = await withTitles(rows, walletFillFrom);
      return { body: { wallet: address, ...page, pagination, trades }, cache };
    },
  });

  const marketTrades = defineRoute({
    ...common,
    path: '/v2/onchain/markets/{token_id}/trades',
    reads: ['fills', 'catalog'],
    summary: 'Fills of an outcome token, newest first',
    description: 'Rows describe the signed order: `side` is always maker. Page with `cursor` or `offset`.',
    params: z.object({ token_id: v2.tokenId }),
    success: {
      description: 'A page of fills; empty for an unknown token',
      schema: z.object({
        token_id: z.string(),
        ...pageFields,
        ...marketFields,
        ...outcomeFields,
        pagination: paginationSchema,
        trades: z.array(fillSchema),
      }),
      example: {
        token_id: exampleFill.token_id,
        ...examplePage,
        ...marketOf(exampleTitle),
        ...outcomeFieldsFrom(exampleFill, exampleTitle),
        pagination: { limit: 100, has_more: false },
        trades: [fillFrom(exampleFill)],
      },
    },
    async handler({ params: { token_id: id }, query }) {
      const filter = { ...allFills, tokenIds: [id] };
      const path = `/v2/onchain/markets/${id}/trades`;
      const { rows, page, pagination, cache } = await fillsPage(path, filter, query);
      const title = await titleOf(id);
      return {
        body: {
          token_id: id,
          ...page,
          ...marketOf(title),
          ...outcomeFieldsFrom(rows[0], title),
          pagination,
          trades: rows.map(fillFrom),
        },
        cache,
      };
    },
  });

  const eventsPage = async (address: string, kinds: readonly WalletEventKind[], query: z.output<typeof listQuery>) => {
    const filter = { wallet: address, kinds, afterS: null, beforeS: null };
    const name = `/v2/onchain/wallets/${address}/${kinds.join()}`;
    const page = await cachedPage<WalletEventRow>(name, query, (beyond, at) =>
      walletEvents.events({ ...filter, beyond }, at),
    );
    const subjects = page.rows.flatMap((row) => (row.kind === 'conversion' ? [] : [row.subject_id]));
    return { ...page, conditions: await conditionsOf(subjects) };
  };

  const redemptions = defineRoute({
    ...ofWallet,
    path: '/v2/onchain/wallets/{address}/redemptions',
    reads: ['wallet_events'],
    summary: 'Redemptions of a wallet, newest first',
    description: '`total_payout` covers this page. Page with `cursor` or `offset`.',
    success: {
      description: 'A page of redemptions',
      schema: z.object({
        ...walletFields,
        total_payout: z.number(),
        redemptions: z.array(redemptionSchema),
      }),
      example: {
        ...exampleOfWallet,
        total_payout: 50,
        redemptions: [
          redemptionFrom({ ...exampleEvent, kind: 'redemption', index_sets: ['1', '2'] }, exampleCondition),
        ],
      },
    },
    async handler({ params: { address }, query }) {
      const { rows, conditions, page, pagination, cache } = await eventsPage(address, ['redemption'], query);
      const found = rows.map((row) => redemptionFrom(row, conditions.get(row.subject_id) as Condition));
      const total = rows.reduce((sum, row) => sum + BigInt(row.amount), 0n);
      return {
        body: {
          wallet: address,
          ...page,
          pagination,
          total_payout: moneyToNumber(total),
          redemptions: found,
        },
        cache,
      };
    },
  });

  const activity = defineRoute({
    ...ofWallet,
    path: '/v2/onchain/wallets/{address}/activity',
    reads: ['wallet_events', 'wallet_activity', 'fills'],
    summary: 'Splits, merges and neg-risk conversions of a wallet, newest first',
    description: 'The three counts cover this page. Page with `cursor` or `offset`.',
    success: {
      description: 'A page of events',
      schema: z.object({
        ...walletFields,
        splits: z.int(),
        merges: z.int(),
        conversions: z.int(),
        events: z.array(activitySchema),
      }),
      example: {
        ...exampleOfWallet,
        splits: 0,
        merges: 0,
        conversions: 1,
        events: [activityFrom({ ...exampleEvent, kind: 'conversion', index_sets: ['6'] }, undefined, 4)],
      },
    },
    async handler({ params: { address }, query }) {
      const kinds = ['split', 'merge', 'conversion'] as const;
      const { rows, conditions, page, pagination, cache } = await eventsPage(address, kinds, query);
      const questions = await walletEvents.questionCounts(address, rows);
      const of = (kind: WalletEventKind) => rows.filter((row) => row.kind === kind).length;
      return {
        body: {
          wallet: address,
          ...page,
          pagination,
          splits: of('split'),
          merges: of('merge'),
          conversions: of('conversion'),
          events: rows.map((row) =>
            activityFrom(row, conditions.get(row.subject_id), questions.get(eventId(row)) ?? 0),
          ),
        },
        cache,
      };
    },
  });

  return [walletTrades, marketTrades, redemptions, activity];
}
