import { z } from 'zod';
import { moneyToNumber } from '../../../schemas/primitives/money.js';
import { marketAliases, minSizeAlias } from '../../http/aliases.js';
import { usdParam } from '../../http/chain-params.js';
import { named } from '../../http/named-params.js';
import { parsedText, slugParam } from '../../http/params.js';
import { defineRoute, type Route } from '../../http/route.js';
import { ifKnown, knownAmountsOf } from '../../positions/completeness.js';
import { exampleOpenPosition } from '../../positions/examples.js';
import { ordered } from '../../positions/order.js';
import { unknownOutcomeMetadata } from '../../positions/outcomes.js';
import { type PositionWithMetadata, positionId } from '../../positions/position.js';
import type { PositionKey } from '../../positions/positions.sql.js';
import { MAX_POSITIONS_TEXT } from '../../positions/reader.js';
import type { Readers } from '../../readers.js';
import { oppositeOutcomeOf, positionFields, positionFieldsOf, toCent } from '../v2-wallets/serialize.js';
import { common, selectors, tokensOfMarket, v2 } from './params.js';

const CACHE_S = 60;
const MAX_ROWS = 500;

const PAGINATION_KEY_PATTERN = /^(0x[0-9a-f]{40})-(\d{1,78})$/;
const pageKey = parsedText<PositionKey>(
  {
    parse(text) {
      const found = PAGINATION_KEY_PATTERN.exec(text.toLowerCase());
      const token = v2.tokenId.safeParse(found?.[2] ?? '');
      return found !== null && token.success ? { wallet: found[1] ?? '', tokenId: token.data } : undefined;
    },
    invalid: 'Invalid pagination_key',
  },
  {
    type: 'string',
    description: '`pagination.pagination_key` of the previous page: a position id. Not used with `wallet`.',
  },
);

const rowSchema = z.object({
  wallet: z.string(),
  ...positionFields,
  market_slug: z.string().nullable(),
  won: z
    .boolean()
    .optional()
    .meta({ description: 'Present only for resolved markets with one winner, like the next field.' }),
  winning_outcome_index: z.int().optional(),
  outcome_index: z.int().optional(),
  initial_value: z.number().nullable().optional(),
  redeemable: z.boolean().optional().meta({ description: 'The wallet has shares and the market is resolved.' }),
  opposite_asset: z.string().optional(),
  last_activity: z.int().optional().meta({ description: 'Only with `wallet`, Unix seconds; absent without a fill.' }),
});

const cents = (amount: bigint): number => moneyToNumber(toCent(amount));

/** Serializes a position; money is rounded to cents. */
function rowFrom(position: PositionWithMetadata, ofWallet: boolean): z.input<typeof rowSchema> {
  const { metadata } = position;
  const status = positionFieldsOf(position).market_status;
  const opposite = oppositeOutcomeOf(position);
  const known = knownAmountsOf(position);
  const settled = status === 'resolved-win' || status === 'resolved-loss';
  return {
    wallet: position.wallet,
    ...positionFieldsOf(position),
    realized_pnl: ifKnown(known.realizedPnl, cents),
    unrealized_pnl: ifKnown(known.unrealizedPnl, cents),
    market_slug: metadata.slug,
    ...(settled ? { won: status === 'resolved-win' } : {}),
    ...(settled && metadata.winner !== null ? { winning_outcome_index: metadata.winner } : {}),
    ...(metadata.outcomeIndex === null ? {} : { outcome_index: metadata.outcomeIndex }),
    initial_value: ifKnown(known.initialValue, cents),
    redeemable: position.size > 0n && status.startsWith('resolved'),
    ...(opposite === null ? {} : { opposite_asset: opposite.asset }),
    ...(ofWallet && position.fills > 0 ? { last_activity: position.lastAtS } : {}),
  };
}

/** GET /v2/onchain/positions: positions by any filter. */
export function createOnchainPositionsRoute(readers: Readers): Route {
  const { positions, outcomesOf, fills } = readers;
  return defineRoute({
    ...common,
    cacheS: CACHE_S,
    path: '/v2/onchain/positions',
    reads: ['positions', 'catalog'],
    summary: 'Positions by any filter',
    description: `With \`wallet\`: one page of at most 500 positions, by latest activity; \`has_more\` is false even if there are more, and the complete list is at \`/v3/wallets/{address}/positions\`. Of more than ${MAX_POSITIONS_TEXT} positions of a wallet that the other filters select, \`tag_slug\` searches the first in the order. Otherwise keyset pages by position id, \`<wallet>-<token_id>\`, whose \`closed_at\` is the last redemption of the position's own shares; a position that exists throughout is listed exactly once.`,
    query: z.object({
      ...selectors,
      status: named
        .choice(
          'status',
          ['open', 'closed', 'all'],
          'open: shares held, whether the market is settled or not; closed: none left. Default all.',
        )
        .default('all'),
      min_size: usdParam({ description: 'Fewest shares.', invalid: 'Invalid min_size' }).optional(),
      tag_slug: slugParam({ description: 'Only markets with this tag.', invalid: 'Invalid tag_slug' }).optional(),
      limit: v2.limit(MAX_ROWS),
      order: v2.order,
      pagination_key: pageKey.optional(),
    }),
    aliases: { ...marketAliases('market_slug'), ...minSizeAlias },
    success: {
      description: 'A page of positions',
      schema: z.object({
        count: z.int(),
        pagination: z.object({ limit: z.int(), has_more: z.boolean(), pagination_key: z.string().optional() }),
        positions: z.array(rowSchema),
      }),
      example: {
        count: 1,
        pagination: { limit: 1, has_more: true, pagination_key: positionId(exampleOpenPosition) },
        positions: [rowFrom(exampleOpenPosition, false)],
      },
    },
    async handler({ query }) {
      const { limit, status, order } = query;
      const { wallet, tag_slug: tagSlug } = query;
      // Positions of one wallet carry their tags; no token lookup is needed.
      const chosen = await fills.choose({
        tokenId: query.token_id,
        marketSlug: query.market_slug,
        conditionId: query.condition_id,
        tagSlug: wallet === undefined ? tagSlug : undefined,
      });
      // Without tokens one of the names may be unknown.
      if (chosen?.tokenIds?.length === 0)
        for (const by of ['market_slug', 'condition_id'] as const) await tokensOfMarket(readers, by, query);
      const minSize = query.min_size ?? null;
      const body = (rows: readonly PositionWithMetadata[], hasMore: boolean, ofWallet: boolean) => {
        const last = rows.at(-1);
        return {
          count: rows.length,
          pagination: {
            limit,
            has_more: hasMore,
            ...(hasMore && last !== undefined ? { pagination_key: positionId(last) } : {}),
          },
          positions: rows.map((row) => rowFrom(row, ofWallet)),
        };
      };
      if (wallet !== undefined) {
        const all = await positions.ofWallet(wallet, CACHE_S * 1000);
        const first = order === 'asc' ? 'oldest' : 'newest';
        const cached = all.isPartial
          ? await positions.ofWallet(wallet, CACHE_S * 1000, { tokens: chosen?.tokenIds, status, minSize, first })
          : all;
        const listed = chosen?.tokenIds ? new Set(chosen.tokenIds) : null;
        const matching = cached.value.filter(
          (one) =>
            (listed === null || listed.has(one.tokenId)) &&
            (tagSlug === undefined || one.metadata.tagSlugs?.includes(tagSlug) === true) &&
            (status === 'all' || (status === 'open') === one.size > 0n) &&
            (minSize === null || one.size >= minSize),
        );
        const rows = ordered(matching, {
          value: (one) => BigInt(one.lastAtS),
          direction: order,
          id: (one) => one.tokenId,
        });
        return { body: body(rows.slice(0, limit), false, true), cache: cached };
      }
      const found = await positions.page({
        tokens: chosen,
        status,
        minSize,
        order,
        beyond: query.pagination_key ?? null,
        rows: limit + 1,
      });
      const shown = found.slice(0, limit);
      const metadataByToken = await outcomesOf(shown.map((one) => one.tokenId));
      const rows = shown.map((one) => ({
        ...one,
        metadata: metadataByToken.get(one.tokenId) ?? unknownOutcomeMetadata,
      }));
      return { body: body(rows, found.length > limit, false), cache: { ageMs: 0 } };
    },
  });
}
