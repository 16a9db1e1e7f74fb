import { z } from 'zod';
import { moneyToNumber, priceNumber } from '../../../schemas/primitives/money.js';
import { knownCondition } from '../../catalog/conditions.js';
import { notFound } from '../../errors/failure.js';
import type { FillRow } from '../../fills/fills.sql.js';
import { allFills, type FillFilter, withoutCombos } from '../../fills/filter.js';
import type { TokenTitle } from '../../fills/titles.js';
import { camelTokenFields, camelTokenFieldsFrom } from '../../fills/token-fields.js';
import { priceDocs, sideDocs } from '../../http/field-docs.js';
import { named } from '../../http/named-params.js';
import { requiredText } from '../../http/params.js';
import { defineRoute, notFoundResponse, type Route } from '../../http/route.js';
import { logPositionCursor } from '../../pagination/cursor.js';
import { cursorPage, type PageQuery } from '../../pagination/list-page.js';
import type { Readers } from '../../readers.js';
import { exampleFill, exampleTitle } from '../v3/trades/examples.js';
import {
  common,
  cursor,
  MAX_WALLETS,
  marketId,
  marketNameOf,
  nextCursor,
  paging,
  parseUsers,
  parseWallets,
} from './params.js';

const PRICE_PLACES = 6;

const side = z.enum(['BUY', 'SELL']).describe(sideDocs.own);
const walletTradeSchema = z.object({
  proxyWallet: z.string(),
  asset: z.string(),
  conditionId: z.string(),
  title: z.string(),
  slug: z.string(),
  icon: z.string(),
  eventSlug: z.string(),
  outcome: z.string(),
  outcomeIndex: z.int().nullable(),
  ...camelTokenFields,
  side,
  price: z.number().describe(priceDocs.fill),
  size: z.number().meta({ description: 'Shares, net of a fee that was taken in shares.' }),
  timestamp: z.int().meta({ description: 'Unix seconds.' }),
  transactionHash: z.string(),
  name: z.string(),
  pseudonym: z.string(),
  bio: z.string(),
  profileImage: z.string(),
  profileImageOptimized: z.string(),
});
const marketTradeSchema = walletTradeSchema.pick({
  proxyWallet: true,
  name: true,
  side: true,
  outcome: true,
  outcomeIndex: true,
  size: true,
  price: true,
  timestamp: true,
  title: true,
  slug: true,
  transactionHash: true,
});

/** Serializes a fill of a wallet's own order. Profile fields are empty: they are not on chain. */
function walletTradeFrom(row: FillRow, title: TokenTitle): z.input<typeof walletTradeSchema> {
  const shares = BigInt(row.shares);
  return {
    proxyWallet: row.maker,
    asset: row.token_id,
    conditionId: title.conditionId ?? '',
    title: title.market ?? '',
    slug: title.slug ?? '',
    icon: title.icon ?? '',
    eventSlug: title.eventSlug ?? '',
    outcome: title.outcome ?? '',
    outcomeIndex: title.outcomeIndex,
    ...camelTokenFieldsFrom(row, title),
    side: row.side,
    price: priceNumber(BigInt(row.usdc), shares, PRICE_PLACES) ?? 0,
    size: moneyToNumber(shares - BigInt(row.fee_shares)),
    timestamp: Number(row.timestamp),
    transactionHash: row.tx_hash,
    name: '',
    pseudonym: '',
    bio: '',
    profileImage: '',
    profileImageOptimized: '',
  };
}

function marketTradeFrom(row: FillRow, title: TokenTitle): z.input<typeof marketTradeSchema> {
  const { proxyWallet, name, side, outcome, outcomeIndex, size, price, timestamp, slug, transactionHash, ...rest } =
    walletTradeFrom(row, title);
  return {
    proxyWallet,
    name,
    side,
    outcome,
    outcomeIndex,
    size,
    price,
    timestamp,
    title: rest.title,
    slug,
    transactionHash,
  };
}

const WALLET_PATH = '/v1/wallets/{addr}/trades';

/** GET trades of wallets and markets: one row per signed order of the wallet, so that a taker order is one row and not one per matched maker. */
export function createV1TradesRoutes(readers: Readers): readonly Route[] {
  const { fills, titleOf, withTitles } = readers;
  const read = async <T>(
    filter: FillFilter,
    query: PageQuery,
    endpoint: string,
    serialize: (row: FillRow, title: TokenTitle) => T,
  ) => {
    const page = { order: 'desc', limit: query.limit, offset: query.offset } as const;
    const { rows, cursor } = await cursorPage(logPositionCursor, { endpoint }, query, (beyond) =>
      fills.fills({ ...filter, beyond }, page),
    );
    return { count: rows.length, next_cursor: cursor, trades: await withTitles(rows, serialize) };
  };
  const ofWallet = async (wallet: string, query: PageQuery) => {
    const filter = { ...allFills, wallets: [wallet], role: 'maker', versions: withoutCombos } as const;
    return { wallet, ...(await read(filter, query, WALLET_PATH, walletTradeFrom)) };
  };

  const listSchema = z.object({
    wallet: z.string(),
    count: z.int(),
    next_cursor: nextCursor,
    trades: z.array(walletTradeSchema),
  });
  const exampleList = {
    wallet: exampleFill.maker,
    count: 1,
    next_cursor: null,
    trades: [walletTradeFrom(exampleFill, exampleTitle)],
  };

  const several = defineRoute({
    ...common,
    path: '/v1/wallets/trades',
    reads: ['fills', 'catalog'],
    summary: 'Trades of several wallets, newest first each',
    description: `Up to ${MAX_WALLETS} wallets. limit and offset apply per wallet; \`next_cursor\` of a wallet continues its list at \`${WALLET_PATH}\`.`,
    query: z.object({
      wallets: requiredText('wallets').meta({ description: 'Addresses, comma-separated.', example: exampleFill.maker }),
      ...paging,
    }),
    success: {
      description: 'A page of trades per wallet, in the requested order',
      schema: z.object({ wallet_count: z.int(), wallets: z.array(listSchema) }),
      example: { wallet_count: 1, wallets: [exampleList] },
    },
    async handler({ query }) {
      const wallets = parseWallets(query.wallets, 'wallets');
      const found = await Promise.all(wallets.map((wallet) => ofWallet(wallet, query)));
      return { body: { wallet_count: found.length, wallets: found } };
    },
  });

  const one = defineRoute({
    ...common,
    path: WALLET_PATH,
    reads: ['fills', 'catalog'],
    summary: 'Trades of a wallet, newest first',
    params: z.object({ addr: named.wallet }),
    query: z.object({ ...paging, cursor }),
    success: { description: 'A page of trades', schema: listSchema, example: exampleList },
    async handler({ params: { addr }, query }) {
      return { body: await ofWallet(addr, query) };
    },
  });

  const market = defineRoute({
    ...common,
    path: '/v1/markets/{id}/trades',
    reads: ['fills', 'catalog'],
    summary: 'Trades of a market, newest first',
    description: 'All outcomes, both sides of each match.',
    params: z.object({ id: marketId }),
    query: z.object({
      user: z
        .string()
        .meta({ description: `Only these wallets: up to ${MAX_WALLETS}, comma-separated.` })
        .optional(),
      side: named.choice('side', ['BUY', 'SELL'], 'Side of the wallet of the row.').optional(),
      ...paging,
      cursor,
    }),
    success: {
      description: 'A page of trades',
      schema: z.object({
        condition_id: z.string(),
        count: z.int(),
        next_cursor: nextCursor,
        trades: z.array(marketTradeSchema),
      }),
      example: {
        condition_id: exampleTitle.conditionId,
        count: 1,
        next_cursor: null,
        trades: [marketTradeFrom(exampleFill, exampleTitle)],
      },
    },
    otherResponses: notFoundResponse(
      'Neither a known slug nor a known condition id.',
      'Market snow-lisbon-may not found',
    ),
    async handler({ params: { id }, query }, context) {
      const name = marketNameOf(id);
      const tokenIds = (await fills.tokens(name)) ?? [];
      const [first] = tokenIds;
      const withoutTokens = first === undefined ? await knownCondition(readers, name) : undefined;
      if (withoutTokens === null) throw notFound(`Market ${id} not found`);
      const users = parseUsers(query.user);
      const filter = { ...allFills, tokenIds, wallets: users, role: 'maker', side: query.side ?? null } as const;
      const page = await read(filter, query, context.endpoint, marketTradeFrom);
      // Only fills may know the tokens of a condition: then no table leads back to it.
      const found = name.conditionId ?? (first === undefined ? withoutTokens : await titleOf(first))?.conditionId;
      return { body: { condition_id: found ?? '', ...page } };
    },
  });

  return [several, one, market];
}
