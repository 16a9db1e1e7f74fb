import { z } from 'zod';
import { badParameter } from '../../../errors/failure.js';
import { onlyCombos } from '../../../fills/filter.js';
import { defineRoute, type Route } from '../../../http/route.js';
import type { Readers } from '../../../readers.js';
import { builderCodeParam, v3, v3Route } from '../params.js';
import { comboFields, readComboBranch } from './combos.js';
import { exampleFill, examplePaging, exampleTitle } from './examples.js';
import { createTradeLists, ordersPage, tradesPage, userTradesPage } from './lists.js';
import {
  builderAliases,
  builderTradesQuery,
  fillAliases,
  filterOf,
  groupsTrades,
  marketFillAliases,
  marketTradesQuery,
  selectionOf,
  tradesQuery,
  walletFilterOf,
  walletTradesQuery,
} from './query.js';
import { tradeFrom, tradeSchema } from './serialize.js';

const common = { ...v3Route, tag: 'Trades', isHeavy: true } as const;
const exampleTrade = tradeFrom(exampleFill, exampleTitle);
const GROUPED_NOTE = 'With `group_by` the envelope carries `grouped_by` instead of the paging fields.';
const PAGINATION_NOTE =
  'Page with `next_cursor`: new fills do not shift the pages. `offset` counts from the newest fill of each request.';

const builderFields = {
  builder_code: z.string(),
  builder_name: z.string().nullable(),
  builder_logo: z.string().nullable(),
  builder_verified: z.boolean().nullable(),
};
/** Only the builder's code is on chain; the other fields are null. */
const builderOf = (code: string) => ({
  builder_code: code,
  builder_name: null,
  builder_logo: null,
  builder_verified: null,
});

const walletFields = { address: z.string() };

/** The five fill lists of /v3: all, of a wallet, of a token, of a market, of a builder. */
export function createTradesRoutes(readers: Readers): readonly Route[] {
  const lists = createTradeLists(readers);
  const { fills } = readers;

  const all = defineRoute({
    ...common,
    path: '/v3/trades',
    reads: ['fills', 'catalog'],
    summary: 'Fills, newest first',
    description: `One row per on-chain OrderFilled event, seen from its signed order. Filters are ANDed. ${GROUPED_NOTE} ${PAGINATION_NOTE}`,
    query: tradesQuery,
    aliases: fillAliases,
    success: {
      description: 'A page of fills, or of orders when grouped',
      schema: z.union([tradesPage, ordersPage]),
      example: { trades: [exampleTrade], ...examplePaging },
    },
    async handler({ query }, context) {
      const filter = filterOf(query, await fills.choose(selectionOf(query)));
      return { body: await lists.byQuery(query, filter, context) };
    },
  });

  const wallet = defineRoute({
    ...common,
    path: '/v3/wallets/{address}/trades',
    reads: ['fills', 'catalog'],
    summary: 'Fills of a wallet',
    description: `Fills in which the wallet was maker or taker (\`role\`); \`direction\`: whether it bought or sold. Combos only with \`include_combos\`. Grouped rows are the wallet's own orders, which already include the makers' fills that they matched. ${GROUPED_NOTE} ${PAGINATION_NOTE}`,
    params: z.object({ address: v3.address }),
    query: walletTradesQuery,
    aliases: fillAliases,
    success: {
      description: 'A page of fills, orders or trades',
      schema: z.union([
        tradesPage.extend({ ...walletFields, ...comboFields }),
        userTradesPage.extend({ ...walletFields, ...comboFields }),
        tradesPage.extend(walletFields),
        ordersPage.extend(walletFields),
        userTradesPage.extend(walletFields),
      ]),
      example: { address: exampleFill.maker, trades: [exampleTrade], ...examplePaging },
    },
    async handler({ params: { address }, query }, context) {
      if (query.combo_cursor !== undefined && !query.include_combos)
        throw badParameter('combo_cursor needs include_combos');
      const byOrder = query.group_by === 'order_hash' || query.sort_by !== undefined || query.order_hash !== undefined;
      if (query.include_combos && byOrder) throw badParameter('include_combos cannot be combined with order_hash');
      const filter = walletFilterOf(address, query, await fills.choose(selectionOf(query)));
      const body = groupsTrades(query)
        ? await lists.userTrades(query, filter, context)
        : await lists.byQuery(query, filter, context);
      if (!query.include_combos) return { body: { address, ...body } };
      const role = query.side === 'both' ? null : query.side;
      const combos = { ...filter, role, matchesOnly: false, takerOrdersOnly: false, versions: onlyCombos };
      const branch = await readComboBranch(readers, combos, query, context);
      return { body: { address, ...body, ...branch } };
    },
  });

  const ofMarket = { ...common, query: marketTradesQuery, aliases: marketFillAliases } as const;
  const market = defineRoute({
    ...ofMarket,
    path: '/v3/markets/{token_id}/trades',
    reads: ['fills', 'catalog'],
    summary: 'Fills of an outcome token',
    description: `${GROUPED_NOTE} ${PAGINATION_NOTE}`,
    params: z.object({ token_id: v3.tokenId }),
    success: {
      description: 'A page of fills, or of orders when grouped; empty for an unknown token',
      schema: z.union([tradesPage.extend({ token_id: z.string() }), ordersPage.extend({ token_id: z.string() })]),
      example: { token_id: exampleFill.token_id, trades: [exampleTrade], ...examplePaging },
    },
    async handler({ params: { token_id }, query }, context) {
      const filter = filterOf(query, { tokenIds: [token_id], among: null });
      return { body: { token_id, ...(await lists.byQuery(query, filter, context)) } };
    },
  });

  const slug = defineRoute({
    ...ofMarket,
    path: '/v3/markets/slug/{slug}/trades',
    reads: ['catalog', 'fills'],
    summary: 'Fills of a market',
    description: `All outcomes of the market. ${GROUPED_NOTE} ${PAGINATION_NOTE}`,
    params: z.object({ slug: v3.slug }),
    success: {
      description: 'A page of fills, or of orders when grouped; empty for an unknown market',
      schema: z.union([tradesPage.extend({ slug: z.string() }), ordersPage.extend({ slug: z.string() })]),
      example: { slug: exampleTitle.slug, trades: [exampleTrade], ...examplePaging },
    },
    async handler({ params: { slug }, query }, context) {
      const filter = filterOf(query, await fills.choose({ marketSlug: slug }));
      return { body: { slug, ...(await lists.byQuery(query, filter, context)) } };
    },
  });

  const builder = defineRoute({
    ...common,
    path: '/v3/builders/{code}/trades',
    reads: ['fills', 'catalog'],
    summary: 'Fills of orders that carry a builder code',
    description: PAGINATION_NOTE,
    params: z.object({ code: builderCodeParam }),
    query: builderTradesQuery,
    aliases: builderAliases,
    success: {
      description: 'A page of fills',
      schema: tradesPage.extend({
        builder: z.string(),
        ...builderFields,
        trades: z.array(tradeSchema.extend(builderFields)),
      }),
      example: {
        builder: `0x${'bc'.repeat(32)}`,
        ...builderOf(`0x${'bc'.repeat(32)}`),
        trades: [{ ...exampleTrade, ...builderOf(`0x${'bc'.repeat(32)}`) }],
        ...examplePaging,
      },
    },
    async handler({ params, query }, context) {
      const code = params.code.startsWith('0x') ? params.code : `0x${params.code}`;
      const filter = filterOf({ ...query, builder: code }, await fills.choose(selectionOf(query)));
      const { trades, ...page } = await lists.single(query, filter, context);
      const builderNames = builderOf(code);
      return {
        body: {
          builder: code,
          ...builderNames,
          trades: trades.map((trade) => ({ ...trade, ...builderNames })),
          ...page,
        },
      };
    },
  });

  return [all, wallet, slug, market, builder];
}
