import { z } from 'zod';
import { divide, moneyToNumber, priceNumber, ratio } from '../../../schemas/primitives/money.js';
import { venueTokenPairs } from '../../../schemas/primitives/venue-tokens.js';
import type { Cached } from '../../cache/response-cache.js';
import { oppositeTokenOf } from '../../catalog/metadata.js';
import { hashParam, usdParam } from '../../http/chain-params.js';
import { priceDocs } from '../../http/field-docs.js';
import { named } from '../../http/named-params.js';
import { requiredText } from '../../http/params.js';
import { defineRoute, type Route } from '../../http/route.js';
import type { PageQuery } from '../../pagination/list-page.js';
import { type RankValue, rankedPage } from '../../pagination/ranked-page.js';
import { completeField, ifKnown, knownAmountsOf } from '../../positions/completeness.js';
import { exampleOpenPosition } from '../../positions/examples.js';
import { ordered } from '../../positions/order.js';
import type { PositionWithMetadata } from '../../positions/position.js';
import { priceSource, priceSourceOf } from '../../positions/price-fields.js';
import { MAX_POSITIONS_TEXT } from '../../positions/reader.js';
import type { Readers } from '../../readers.js';
import { countWallets, cursor, MAX_WALLETS, nextCursor, paging, parseWallets, common as v1Common } from './params.js';

const CACHE_S = 15;
const common = {
  ...v1Common,
  cacheS: CACHE_S,
} as const;

const UNIT_PLACES = 18;
/** Percentage with 2 decimals; 0 for a whole of 0. */
const percent = (part: bigint, whole: bigint): number => moneyToNumber(ratio(part * 100n, whole, 2) ?? 0n, 2);
/** The same ratio with more digits, as sort key. */
const percentUnits = (part: bigint, whole: bigint): bigint => ratio(part, whole, UNIT_PLACES) ?? 0n;
const isoDay = (ms: number | null): string => (ms === null ? '' : new Date(ms).toISOString().slice(0, 10));
const isSettled = (position: PositionWithMetadata): boolean => position.price.source === 'settlement';
/** Cost of all shares ever bought, were each bought at the average price of those held now; base units. */
const totalCost = (position: PositionWithMetadata): bigint =>
  divide(position.totalBought * position.avgPrice, 10n ** 18n, 'half_up');

const sorts = {
  TOKENS: (position) => position.size,
  CASHPNL: (position) => position.unrealizedPnl,
  PERCENTPNL: (position) => percentUnits(position.unrealizedPnl, position.initialValue),
  CURRENT: (position) => position.currentValue,
  INITIAL: (position) => position.initialValue,
  TITLE: ({ metadata }) => metadata.market,
  RESOLVING: ({ metadata }) => (metadata.endMs === null ? null : BigInt(metadata.endMs)),
  PRICE: (position) => position.price.usd,
  AVGPRICE: (position) => position.avgPrice,
} as const satisfies Record<string, (position: PositionWithMetadata) => RankValue>;
type Sort = keyof typeof sorts;
const sortNames = Object.keys(sorts) as Sort[];

const positionSchema = z.object({
  proxyWallet: z.string(),
  asset: z.string(),
  conditionId: z.string(),
  size: z.number(),
  avgPrice: z.number().nullable().describe(priceDocs.average),
  initialValue: z
    .number()
    .meta({ description: 'Cost of the bought shares of the position; shares received by transfer have no cost.' }),
  currentValue: z.number(),
  cashPnl: z.number().meta({ description: 'Unrealized PnL: current value of the bought shares minus their cost.' }),
  percentPnl: z.number(),
  totalBought: z.number().nullable(),
  realizedPnl: z.number().nullable().meta({ description: 'Before fees.' }),
  percentRealizedPnl: z.number().nullable().meta({
    description:
      'Realized and unrealized PnL as a percentage of totalBought x avgPrice; avgPrice is that of the shares held now.',
  }),
  complete: completeField,
  curPrice: z.number().describe(`${priceDocs.now} 0 without a price.`),
  priceSource,
  priceUpdatedAt: z.int().nullable().meta({ description: 'Unix seconds.' }),
  redeemable: z.boolean().meta({ description: 'The market is resolved.' }),
  redeemed: z.boolean().optional().meta({ description: 'Present only for resolved markets, like the next two.' }),
  unredeemed_balance: z.number().optional(),
  unredeemed_usd: z.number().optional(),
  mergeable: z.boolean().meta({ description: 'The wallet also holds the other outcome.' }),
  title: z.string(),
  slug: z.string(),
  icon: z.string(),
  eventSlug: z.string(),
  outcome: z.string(),
  outcomeIndex: z.int().nullable(),
  oppositeOutcome: z.string(),
  oppositeAsset: z.string(),
  endDate: z.string().meta({ description: 'YYYY-MM-DD, empty where unknown.' }),
  negativeRisk: z.boolean().nullable().meta({ description: 'null if neither chain nor catalogue states it.' }),
});

function positionFrom(
  position: PositionWithMetadata,
  tokensWithShares: ReadonlySet<string>,
): z.input<typeof positionSchema> {
  const { metadata } = position;
  const opposite = metadata.outcomeIndex === null || metadata.outcomes.length !== 2 ? null : 1 - metadata.outcomeIndex;
  const oppositeAsset = oppositeTokenOf(metadata) ?? '';
  const known = knownAmountsOf(position);
  return {
    proxyWallet: position.wallet,
    asset: position.tokenId,
    conditionId: metadata.conditionId ?? '',
    size: moneyToNumber(position.size),
    avgPrice: ifKnown(known.avgPrice, (average) => priceNumber(average, 10n ** 18n, 6) ?? 0),
    initialValue: moneyToNumber(position.initialValue),
    currentValue: moneyToNumber(position.currentValue),
    cashPnl: moneyToNumber(position.unrealizedPnl),
    percentPnl: percent(position.unrealizedPnl, position.initialValue),
    totalBought: ifKnown(known.totalBought, moneyToNumber),
    realizedPnl: ifKnown(known.realizedPnl, moneyToNumber),
    percentRealizedPnl: ifKnown(known.totalPnl, (total) => percent(total, totalCost(position))),
    complete: position.isComplete,
    curPrice: moneyToNumber(position.price.usd ?? 0n),
    priceSource: priceSourceOf(position.price),
    priceUpdatedAt: position.price.updatedAtS,
    redeemable: isSettled(position),
    ...(isSettled(position)
      ? {
          redeemed: position.size === 0n,
          unredeemed_balance: moneyToNumber(position.size),
          unredeemed_usd: moneyToNumber(position.currentValue),
        }
      : {}),
    mergeable: position.size > 0n && tokensWithShares.has(oppositeAsset),
    title: metadata.market ?? '',
    slug: metadata.slug ?? '',
    icon: metadata.icon ?? '',
    eventSlug: metadata.eventSlug ?? '',
    outcome: metadata.outcome ?? '',
    outcomeIndex: metadata.outcomeIndex,
    oppositeOutcome: opposite === null ? '' : (metadata.outcomes[opposite] ?? ''),
    oppositeAsset,
    endDate: isoDay(metadata.endMs),
    negativeRisk: metadata.negRisk,
  };
}

const filters = z.object({
  sortBy: z
    .string()
    .transform((text): Sort => sortNames.find((name) => name === text.toUpperCase()) ?? 'TOKENS')
    .default('TOKENS')
    .meta({ type: 'string', enum: [...sortNames], description: 'Default TOKENS; unknown values count as TOKENS.' }),
  sortDirection: named.sortDirection,
  sizeThreshold: usdParam({ description: 'Smallest size. Default 0.', invalid: 'Invalid sizeThreshold' }).default(0n),
  redeemable: named.flag('redeemable', 'true: only resolved markets; false: only open markets.').optional(),
  condition_id: hashParam({ description: 'Only this market.', invalid: 'Invalid condition_id' }).optional(),
});
const query = filters.extend(paging);
type PositionsQuery = z.output<typeof query> & PageQuery;
const WALLET_PATH = '/v1/wallets/{addr}/positions';
const TOO_MANY = `Of more than ${MAX_POSITIONS_TEXT} open positions of a wallet, those with the latest activity are listed; with \`condition_id\` all of the market.`;

/** GET open positions of one or several wallets. */
export function createV1PositionsRoutes(readers: Readers): readonly Route[] {
  const ofWallet = async (wallet: string, given: PositionsQuery) => {
    const { limit, offset, cursor: start, ...filter } = given;
    const { condition_id } = filter;
    const all = await readers.positions.ofWallet(wallet, CACHE_S * 1000, { status: 'open' });
    const cached =
      all.isPartial && condition_id !== undefined
        ? await readers.positions.ofWallet(wallet, CACHE_S * 1000, {
            status: 'open',
            tokens: await readers.fills.tokens({ conditionId: condition_id }),
          })
        : all;
    const derived = new Set(condition_id === undefined ? [] : venueTokenPairs(condition_id).flat());
    const listed = cached.value.filter(
      (position) =>
        position.size >= filter.sizeThreshold &&
        (filter.redeemable === undefined || filter.redeemable === isSettled(position)) &&
        (condition_id === undefined || condition_id === position.metadata.conditionId || derived.has(position.tokenId)),
    );
    const direction = filter.sortDirection === 'ASC' ? 'asc' : 'desc';
    const by = { value: sorts[filter.sortBy], id: (one: PositionWithMetadata) => one.tokenId, direction } as const;
    const of = { endpoint: WALLET_PATH, order: `${filter.sortBy} ${direction}` };
    const page = rankedPage(ordered(listed, by), by, { limit, offset, cursor: start }, of);
    const tokensWithShares = new Set(cached.value.map((position) => position.tokenId));
    const positions = page.rows.map((position) => positionFrom(position, tokensWithShares));
    return { list: cached, body: { wallet, count: positions.length, next_cursor: page.cursor, positions } };
  };
  const oldest = (lists: readonly Cached<unknown>[]) => ({ ageMs: Math.max(...lists.map((list) => list.ageMs)) });

  const listSchema = z.object({
    wallet: z.string(),
    count: z.int(),
    next_cursor: nextCursor,
    positions: z.array(positionSchema),
  });
  const exampleList = {
    wallet: exampleOpenPosition.wallet,
    count: 1,
    next_cursor: null,
    positions: [positionFrom(exampleOpenPosition, new Set([exampleOpenPosition.tokenId]))],
  };

  const several = defineRoute({
    ...common,
    path: '/v1/wallets/positions',
    reads: ['positions', 'catalog'],
    summary: 'Open positions of several wallets',
    requestsOf: (given) => countWallets(given.get('wallets')),
    description: `Up to ${MAX_WALLETS} wallets, each of which counts as one request. limit, offset and filters apply per wallet; \`next_cursor\` of a wallet continues its list at \`${WALLET_PATH}\`. ${TOO_MANY}`,
    query: query.extend({
      wallets: requiredText('wallets').meta({
        description: 'Addresses, comma-separated.',
        example: exampleOpenPosition.wallet,
      }),
    }),
    success: {
      description: 'A page of positions per wallet, in the requested order',
      schema: z.object({ wallet_count: z.int(), wallets: z.array(listSchema) }),
      example: { wallet_count: 1, wallets: [exampleList] },
    },
    async handler({ query: { wallets: text, ...given } }) {
      const wallets = parseWallets(text, 'wallets');
      const found = await Promise.all(wallets.map((wallet) => ofWallet(wallet, given)));
      return {
        body: { wallet_count: found.length, wallets: found.map(({ body }) => body) },
        cache: oldest(found.map(({ list }) => list)),
      };
    },
  });

  const one = defineRoute({
    ...common,
    path: WALLET_PATH,
    reads: ['positions', 'catalog'],
    summary: 'Open positions of a wallet',
    description: TOO_MANY,
    params: z.object({ addr: named.wallet }),
    query: query.extend({ cursor }),
    success: { description: 'A page of positions', schema: listSchema, example: exampleList },
    async handler({ params: { addr }, query: given }) {
      const { list, body } = await ofWallet(addr, given);
      return { body, cache: oldest([list]) };
    },
  });

  return [several, one];
}
