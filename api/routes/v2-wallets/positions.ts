import { z } from 'zod';
import { moneyToNumber } from '../../../schemas/primitives/money.js';
import { notFound } from '../../errors/failure.js';
import { marketAliases, timeRangeAliases } from '../../http/aliases.js';
import { priceDocs } from '../../http/field-docs.js';
import { named } from '../../http/named-params.js';
import { slugParam } from '../../http/params.js';
import { defineRoute, notFoundResponse, type Route } from '../../http/route.js';
import { cursorText } from '../../pagination/cursor.js';
import { type RankValue, rankedPage } from '../../pagination/ranked-page.js';
import { allCompleteField, completeField, ifKnown, knownAmountsOf } from '../../positions/completeness.js';
import { exampleClosedPosition, exampleOpenPosition } from '../../positions/examples.js';
import { ordered } from '../../positions/order.js';
import type { PositionWithMetadata } from '../../positions/position.js';
import { priceSource, priceSourceOf } from '../../positions/price-fields.js';
import { MAX_POSITIONS, MAX_POSITIONS_TEXT } from '../../positions/reader.js';
import type { Readers } from '../../readers.js';
import { v2 } from '../v2-onchain/params.js';
import { POSITIONS_CACHE_S, common as walletCommon } from './params.js';
import { averageOf, oppositeOutcomeOf, positionFields, positionFieldsOf, toCent } from './serialize.js';

const common = {
  ...walletCommon,
  cacheS: POSITIONS_CACHE_S,
  otherResponses: notFoundResponse('The wallet never had a position.', 'Not found.'),
} as const;

const allPositionsRow = z.object({
  ...positionFields,
  slug: z.string().nullable(),
  tag_slugs: z.array(z.string()).nullable().meta({ description: 'Lower case, as the catalogue lists them.' }),
});
const allPositionsRowFrom = (position: PositionWithMetadata): z.input<typeof allPositionsRow> => ({
  ...positionFieldsOf(position),
  slug: position.metadata.slug,
  tag_slugs: position.metadata.tagSlugs === null ? null : [...position.metadata.tagSlugs],
});

const allPositionsSchema = z.object({
  wallet: z.string(),
  source: z.literal('onchain'),
  count: z.int(),
  open_count: z.int().meta({ description: 'Positions with shares, whether the market is settled or not.' }),
  closed_count: z.int().meta({ description: 'No shares left, and a realized profit or loss.' }),
  total_realized_pnl: z.number().meta({ description: 'Combos included; to the nearest cent, as the two below.' }),
  total_unrealized_pnl: z.number(),
  total_pnl: z.number().meta({
    description: 'Realized and unrealized, rounded once: may differ by a cent from the sum of the two.',
  }),
  positions_with_pnl: z.int(),
  complete: allCompleteField.describe(
    `${allCompleteField.description} Also false if the wallet has more than ${MAX_POSITIONS_TEXT} positions.`,
  ),
  filtered: z.literal(true).optional(),
  applied_filters: z
    .object({ since: z.int().nullable(), until: z.int().nullable(), tag_slug: z.string().optional() })
    .optional(),
  positions: z.array(allPositionsRow),
});

function allPositionsFrom(
  wallet: string,
  positions: readonly PositionWithMetadata[],
  isPartial: boolean,
): z.input<typeof allPositionsSchema> {
  const sum = (of: (position: PositionWithMetadata) => bigint) =>
    positions.reduce((total, position) => total + of(position), 0n);
  const realized = sum((position) => position.realizedPnl);
  const unrealized = sum((position) => position.unrealizedPnl);
  const withPnl = positions.filter((position) => position.realizedPnl !== 0n);
  return {
    wallet,
    source: 'onchain',
    count: positions.length,
    open_count: positions.filter((position) => position.size > 0n).length,
    closed_count: withPnl.filter((position) => position.size === 0n).length,
    total_realized_pnl: moneyToNumber(toCent(realized)),
    total_unrealized_pnl: moneyToNumber(toCent(unrealized)),
    total_pnl: moneyToNumber(toCent(realized + unrealized)),
    positions_with_pnl: withPnl.length,
    complete: !isPartial && positions.every((position) => position.isComplete),
    positions: positions.map(allPositionsRowFrom),
  };
}

const closedSorts = {
  REALIZEDPNL: (position) => position.realizedPnl,
  AVGPRICE: (position) => position.avgPrice,
  PRICE: (position) => position.price.usd,
  TITLE: ({ metadata }) => metadata.market,
  TIMESTAMP: (position) => BigInt(position.lastAtS),
} as const satisfies Record<string, (position: PositionWithMetadata) => RankValue>;
type ClosedSort = keyof typeof closedSorts;
const closedSortNames = Object.keys(closedSorts) as ClosedSort[];
const MAX_CLOSED = 50;
const DEFAULT_CLOSED = 10;

const closedRow = z.object({
  proxy_wallet: z.string(),
  asset: z.string(),
  condition_id: z.string().nullable(),
  avg_price: z.number().nullable().describe(priceDocs.average),
  total_bought: z.number(),
  realized_pnl: z.number().nullable(),
  complete: completeField,
  cur_price: z.number().describe(`${priceDocs.now} 0 without a price.`),
  price_source: priceSource,
  price_updated_at: z.int().nullable().meta({ description: 'Unix seconds.' }),
  title: z.string().nullable(),
  slug: z.string().nullable(),
  icon: z.string().nullable(),
  event_slug: z.string().nullable(),
  outcome: z.string().nullable(),
  outcome_index: z.int().nullable(),
  opposite_outcome: z.string(),
  opposite_asset: z.string(),
  end_date: z.string().nullable().meta({ description: 'ISO-8601, UTC.' }),
  timestamp: z.int().meta({ description: 'When it was closed, Unix seconds.' }),
});
const closedRowFrom = (position: PositionWithMetadata): z.input<typeof closedRow> => ({
  proxy_wallet: position.wallet,
  asset: position.tokenId,
  condition_id: position.metadata.conditionId,
  avg_price: averageOf(knownAmountsOf(position).avgPrice),
  total_bought: moneyToNumber(position.totalBought),
  realized_pnl: ifKnown(knownAmountsOf(position).realizedPnl, moneyToNumber),
  complete: position.isComplete,
  cur_price: moneyToNumber(position.price.usd ?? 0n),
  price_source: priceSourceOf(position.price),
  price_updated_at: position.price.updatedAtS,
  title: position.metadata.market,
  slug: position.metadata.slug,
  icon: position.metadata.icon,
  event_slug: position.metadata.eventSlug,
  outcome: position.metadata.outcome,
  outcome_index: position.metadata.outcomeIndex,
  opposite_outcome: oppositeOutcomeOf(position)?.outcome ?? '',
  opposite_asset: oppositeOutcomeOf(position)?.asset ?? '',
  end_date:
    position.metadata.endMs === null ? null : new Date(position.metadata.endMs).toISOString().replace('.000Z', 'Z'),
  timestamp: position.lastAtS,
});

/** GET positions of a wallet: all at once, or the closed ones page by page. */
export function createV2PositionsRoutes(readers: Readers): readonly Route[] {
  const cachedPositionsOf = async (wallet: string) => {
    const cached = await readers.positions.ofWallet(wallet, POSITIONS_CACHE_S * 1000);
    if (cached.value.length === 0) throw notFound('Not found.');
    return cached;
  };

  const whole = defineRoute({
    ...common,
    path: '/v2/wallets/{address}/positions/onchain',
    reads: ['positions', 'catalog'],
    summary: 'All positions of a wallet, open and closed',
    description: `Up to ${MAX_POSITIONS_TEXT} positions, most recently traded first; of more, the open ones and those with the latest activity are read, which the filters, the sums and \`closed_at\` cover, and \`complete\` is false. A filter excludes rows without the field it tests; sums cover the remaining rows.`,
    params: z.object({ address: v2.wallet }),
    query: z.object({
      since: v2.time('since', 'Only positions last traded at or after this time, Unix seconds.').optional(),
      until: v2.time('until', 'Only positions last traded at or before this time.').optional(),
      tag_slug: slugParam({ description: 'Only markets with this tag.', invalid: 'Invalid tag_slug' }).optional(),
    }),
    aliases: timeRangeAliases('since', 'until'),
    success: {
      description: 'Sums and rows',
      schema: allPositionsSchema,
      example: allPositionsFrom(exampleOpenPosition.wallet, [exampleOpenPosition], false),
    },
    async handler({ params: { address }, query: { since, until, tag_slug: tag } }) {
      const cached = await cachedPositionsOf(address);
      const listed = cached.value.filter(
        ({ lastTradeAtS: at, metadata }) =>
          (since === undefined || (at !== null && at >= since)) &&
          (until === undefined || (at !== null && at <= until)) &&
          (tag === undefined || metadata.tagSlugs?.includes(tag) === true),
      );
      const positions = ordered(listed, {
        value: ({ lastTradeAtS: at }) => (at === null ? null : BigInt(at)),
        id: (position) => position.tokenId,
      });
      const body = allPositionsFrom(address, positions, cached.isPartial);
      if (since === undefined && until === undefined && tag === undefined) return { body, cache: cached };
      const { positions: rows, ...sums } = body;
      const applied = {
        since: since ?? null,
        until: until ?? null,
        ...(tag === undefined ? {} : { tag_slug: tag }),
      };
      return { body: { ...sums, filtered: true as const, applied_filters: applied, positions: rows }, cache: cached };
    },
  });

  const closed = defineRoute({
    ...common,
    path: '/v2/wallets/{address}/closed-positions',
    reads: ['positions', 'catalog'],
    summary: 'Closed positions of a wallet',
    description: `Positions that were bought and have no shares left. Of more than ${MAX_POSITIONS_TEXT}, with \`market\` of that market, those with the latest activity are listed.`,
    params: z.object({ address: v2.wallet }),
    query: z.object({
      limit: named.limit(
        MAX_CLOSED,
        DEFAULT_CLOSED,
        `Default ${DEFAULT_CLOSED}; values over ${MAX_CLOSED} are clamped to ${MAX_CLOSED}.`,
      ),
      offset: named.offset(MAX_POSITIONS),
      cursor: cursorText('`next_cursor` of the previous page.'),
      sortBy: named.choice('sortBy', closedSortNames, 'Default TIMESTAMP.').default('TIMESTAMP'),
      sortDirection: named.sortDirection,
      market: v2.slug.optional(),
      title: slugParam({ description: 'Part of the title, case-insensitive.', invalid: 'Invalid title' }).optional(),
    }),
    aliases: marketAliases('market'),
    success: {
      description: 'A page of positions',
      schema: z.object({
        wallet: z.string(),
        count: z.int(),
        offset: z.int(),
        limit: z.int(),
        next_cursor: z.string().nullable().meta({ description: 'Cursor of the next page; null on the last one.' }),
        positions: z.array(closedRow),
      }),
      example: {
        wallet: exampleClosedPosition.wallet,
        count: 1,
        offset: 0,
        limit: 10,
        next_cursor: null,
        positions: [closedRowFrom(exampleClosedPosition)],
      },
    },
    async handler({ params: { address }, query: { limit, offset, cursor, ...filter } }, context) {
      const all = await cachedPositionsOf(address);
      const cached = all.isPartial
        ? await readers.positions.ofWallet(address, POSITIONS_CACHE_S * 1000, {
            tokens: filter.market === undefined ? null : await readers.fills.tokens({ marketSlug: filter.market }),
            status: 'closed',
          })
        : all;
      const title = filter.title?.toLowerCase();
      const listed = cached.value.filter(
        ({ size, totalBought, metadata }) =>
          size === 0n &&
          totalBought > 0n &&
          (filter.market === undefined || metadata.slug === filter.market) &&
          (title === undefined || metadata.market?.toLowerCase().includes(title) === true),
      );
      const direction = filter.sortDirection === 'ASC' ? 'asc' : 'desc';
      const value = closedSorts[filter.sortBy];
      const by = { value, id: (one: PositionWithMetadata) => one.tokenId, direction } as const;
      const of = { endpoint: context.endpoint, order: `${filter.sortBy} ${direction}` };
      const page = rankedPage(ordered(listed, by), by, { limit, offset, cursor }, of);
      const positions = page.rows.map(closedRowFrom);
      return {
        body: { wallet: address, count: positions.length, offset, limit, next_cursor: page.cursor, positions },
        cache: cached,
      };
    },
  });

  return [whole, closed];
}
