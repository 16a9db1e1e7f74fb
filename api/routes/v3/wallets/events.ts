import { z } from 'zod';
import type { Condition } from '../../../catalog/conditions.js';
import { timeRangeOf } from '../../../fills/filter.js';
import { timeRangeAliases } from '../../../http/aliases.js';
import { defineRoute, type RequestContext, type Route } from '../../../http/route.js';
import { logPositionCursor } from '../../../pagination/cursor.js';
import { cursorPage } from '../../../pagination/list-page.js';
import type { Readers } from '../../../readers.js';
import type { WalletEventKind, WalletEventRow } from '../../../wallet-events/events.sql.js';
import { exampleCondition, exampleEvent } from '../../../wallet-events/examples.js';
import { eventId } from '../../../wallet-events/reader.js';
import { pageFields, pagingOf } from '../envelope.js';
import { paging, times, v3, v3Route } from '../params.js';
import { examplePaging } from '../trades/examples.js';
import {
  activityFrom,
  activitySchema,
  conversionFrom,
  conversionSchema,
  redemptionFrom,
  redemptionSchema,
  setEventFrom,
  setEventSchema,
} from './serialize.js';

const common = {
  ...v3Route,
  tag: 'Wallets',
  reads: ['wallet_events', 'catalog'],
  params: z.object({ address: v3.address }),
  aliases: timeRangeAliases('after', 'before'),
} as const;
const REDEMPTIONS_SOURCE = 'v3.wallet_redemptions_unified' as const;

const listQuery = z.object({ ...times, ...paging });
const orderedQuery = listQuery.extend({ order: v3.order });
type ListQuery = z.output<typeof listQuery> & { readonly order?: 'asc' | 'desc' };

/** GET splits, merges, conversions and redemptions of a wallet, each kind and all in one feed. */
export function createWalletEventRoutes({ walletEvents, conditionsOf }: Readers): readonly Route[] {
  const pageOf = (
    wallet: string,
    kinds: readonly WalletEventKind[],
    query: ListQuery,
    { endpoint }: RequestContext,
  ) => {
    const order = query.order ?? 'desc';
    const page = { order, limit: query.limit, offset: query.offset };
    return cursorPage(logPositionCursor, { endpoint, order }, query, (beyond) =>
      walletEvents.events({ wallet, kinds, ...timeRangeOf(query.after, query.before), beyond }, page),
    );
  };

  /** Defines a list of wallet events. */
  const list = <S extends z.ZodObject>({
    kinds,
    row,
    example,
    serialize,
    ...route
  }: {
    path: string;
    kinds: readonly WalletEventKind[];
    reads?: NonNullable<Route['reads']>;
    summary: string;
    row: S;
    example: z.input<S>;
    serialize: (rows: readonly WalletEventRow[], wallet: string) => Promise<z.input<S>[]> | z.input<S>[];
  }): Route =>
    defineRoute({
      ...common,
      ...route,
      query: listQuery,
      success: {
        description: 'A page, newest first',
        schema: z.object({ data: z.array(row), ...pageFields }),
        example: { data: [example], ...examplePaging },
      },
      async handler({ params: { address }, query }, context) {
        const page = await pageOf(address, kinds, query, context);
        const data = (await serialize(page.rows, address)) as never;
        return { body: { data, ...pagingOf(query, page, context) } };
      },
    });

  const redemptions = defineRoute({
    ...common,
    path: '/v3/wallets/{address}/redemptions',
    summary: 'Redemptions of a wallet',
    description: 'Includes redemptions by protocol contracts on behalf of the wallet. Unknown market fields are null.',
    query: orderedQuery,
    success: {
      description: 'A page of redemptions',
      schema: z.object({
        data: z.array(redemptionSchema),
        ...pageFields,
        next_offset: z.int().nullable(),
        order: z.enum(['asc', 'desc']),
        source: z.literal(REDEMPTIONS_SOURCE),
      }),
      example: {
        data: [redemptionFrom({ ...exampleEvent, kind: 'redemption', index_sets: ['1', '2'] }, exampleCondition)],
        ...examplePaging,
        next_offset: 1,
        order: 'desc',
        source: REDEMPTIONS_SOURCE,
      },
    },
    async handler({ params: { address }, query }, context) {
      const page = await pageOf(address, ['redemption'], query, context);
      const conditions = await conditionsOf(page.rows.map((row) => row.subject_id));
      return {
        body: {
          data: page.rows.map((row) => redemptionFrom(row, conditions.get(row.subject_id) as Condition)),
          ...pagingOf(query, page, context),
          next_offset: page.cursor !== null && query.cursor === undefined ? query.offset + page.rows.length : null,
          order: query.order,
          source: REDEMPTIONS_SOURCE,
        },
      };
    },
  });

  return [
    list({
      path: '/v3/wallets/{address}/splits',
      kinds: ['split'],
      summary: 'Splits of a wallet',
      row: setEventSchema,
      example: setEventFrom(exampleEvent),
      serialize: (rows) => rows.map(setEventFrom),
    }),
    list({
      path: '/v3/wallets/{address}/merges',
      kinds: ['merge'],
      summary: 'Merges of a wallet',
      row: setEventSchema,
      example: setEventFrom(exampleEvent),
      serialize: (rows) => rows.map(setEventFrom),
    }),
    list({
      path: '/v3/wallets/{address}/nrc',
      kinds: ['conversion'],
      reads: [...common.reads, 'wallet_activity'],
      summary: 'Neg-risk conversions of a wallet',
      row: conversionSchema,
      example: conversionFrom({ ...exampleEvent, kind: 'conversion', index_sets: ['6'] }, 4),
      serialize: async (rows, wallet) => {
        const questions = await walletEvents.questionCounts(wallet, rows);
        return rows.map((row) => conversionFrom(row, questions.get(eventId(row)) ?? 0));
      },
    }),
    list({
      path: '/v3/wallets/{address}/activity',
      kinds: ['split', 'merge', 'conversion', 'redemption'],
      summary: 'Splits, merges, conversions and redemptions of a wallet',
      row: activitySchema,
      example: activityFrom(exampleEvent),
      serialize: (rows) => rows.map(activityFrom),
    }),
    redemptions,
  ];
}
