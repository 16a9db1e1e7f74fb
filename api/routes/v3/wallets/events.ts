import { z } from 'zod';
import type { Lookup } from '../../../catalog/cached-lookup.js';
import type { Condition } from '../../../catalog/conditions.js';
import { clampToDateTimeSeconds } from '../../../fills/filter.js';
import { timeRangeAliases } from '../../../http/aliases.js';
import { defineRoute, type RequestContext, type Route } from '../../../http/route.js';
import { cursorsOf, logPositionCursor } from '../../../pagination/cursor.js';
import type { WalletEventKind, WalletEventRow } from '../../../wallet-events/events.sql.js';
import { eventId, type WalletEventReader } from '../../../wallet-events/reader.js';
import { pageFields, pagingOf } from '../envelope.js';
import { paging, v3, v3Route } from '../params.js';
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
} as const;
const REDEMPTIONS_SOURCE = 'v3.wallet_redemptions_unified' as const;

const listQuery = z.object({
  after: v3.time('after').optional(),
  before: v3.time('before').optional(),
  ...paging,
});
const orderedQuery = listQuery.extend({ order: v3.order });
type ListQuery = z.output<typeof listQuery> & { readonly order?: 'asc' | 'desc' };

const exampleEvent: WalletEventRow = {
  kind: 'split',
  block_number: 91000001,
  log_index: 77,
  timestamp: 1790000200,
  tx_hash: `0x${'7e'.repeat(32)}`,
  subject_id: `0x${'c1'.repeat(32)}`,
  amount: '50000000',
  index_sets: [],
  source: null,
};
const exampleCondition: Condition = {
  known: true,
  onChain: true,
  question: 'Rivers vs. Lakes',
  slug: 'rvl-2026-10-02',
  image: null,
  eventSlug: 'rvl-2026-10-02',
  eventTitle: 'Rivers vs. Lakes',
  negRisk: false,
  outcomes: ['Rivers', 'Lakes'],
  tokenIds: ['71', '72'],
  resolution: { payouts: [0n, 1n], denominator: 1n, winner: 1, resolvedAtS: 1790000000 },
};

export interface WalletEventsDeps {
  readonly walletEvents: WalletEventReader;
  readonly conditionsOf: Lookup<Condition>;
}

/** GET splits, merges, conversions and redemptions of a wallet, each kind and all in one feed. */
export function createWalletEventRoutes(deps: WalletEventsDeps): readonly Route[] {
  const { walletEvents, conditionsOf } = deps;

  const pageOf = async (
    address: string,
    kinds: readonly WalletEventKind[],
    query: ListQuery,
    context: RequestContext,
  ) => {
    const order = query.order ?? 'desc';
    const cursors = cursorsOf(logPositionCursor, { endpoint: context.endpoint, order });
    const { rows, hasMore, last } = await walletEvents.events(
      {
        wallet: address,
        kinds,
        afterS: clampToDateTimeSeconds(query.after),
        beforeS: clampToDateTimeSeconds(query.before),
        beyond: cursors.read(query.cursor),
      },
      { order, limit: query.limit, offset: query.offset },
    );
    const cursor = last === null ? null : cursors.write(last);
    return { rows, paging: () => pagingOf(query, { rows: rows.length, hasMore, cursor, context }) };
  };

  /** Defines a list of wallet events. */
  const list = <S extends z.ZodObject>(of: {
    path: string;
    kinds: readonly WalletEventKind[];
    reads?: Route['reads'];
    summary: string;
    row: S;
    example: z.input<S>;
    serialize: (rows: readonly WalletEventRow[], wallet: string) => Promise<z.input<S>[]> | z.input<S>[];
  }): Route =>
    defineRoute({
      ...common,
      reads: of.reads ?? common.reads,
      path: of.path,
      summary: of.summary,
      params: z.object({ address: v3.address }),
      query: listQuery,
      aliases: timeRangeAliases('after', 'before'),
      success: {
        description: 'A page, newest first',
        schema: z.object({ data: z.array(of.row), ...pageFields }),
        example: { data: [of.example], ...examplePaging },
      },
      async handler({ params: { address }, query }, context) {
        const { rows, paging } = await pageOf(address, of.kinds, query, context);
        const data = (await of.serialize(rows, address)) as never;
        return { body: { data, ...paging() } };
      },
    });

  const redemptions = defineRoute({
    ...common,
    path: '/v3/wallets/{address}/redemptions',
    summary: 'Redemptions of a wallet',
    description: 'Includes redemptions by protocol contracts on behalf of the wallet. Unknown market fields are null.',
    params: z.object({ address: v3.address }),
    query: orderedQuery,
    aliases: timeRangeAliases('after', 'before'),
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
      const { rows, paging } = await pageOf(address, ['redemption'], query, context);
      const conditions = await conditionsOf(rows.map((row) => row.subject_id));
      const page = paging();
      return {
        body: {
          data: rows.map((row) => redemptionFrom(row, conditions.get(row.subject_id) as Condition)),
          ...page,
          next_offset: page.has_more && query.cursor === undefined ? query.offset + rows.length : null,
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
