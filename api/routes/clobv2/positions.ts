import { z } from 'zod';
import { formatFixed } from '../../../schemas/primitives/money.js';
import { badParameter } from '../../errors/failure.js';
import { untitled } from '../../fills/titles.js';
import { minSizeAlias } from '../../http/aliases.js';
import { EXAMPLE_TOKEN, EXAMPLE_WALLET, usdParam } from '../../http/chain-params.js';
import { priceDocs } from '../../http/field-docs.js';
import { choiceParam } from '../../http/params.js';
import { defineRoute, type Route } from '../../http/route.js';
import type { LargestPosition } from '../../leaderboards/largest-positions.js';
import { largestPositionStatuses, MAX_LARGEST } from '../../leaderboards/largest-positions.sql.js';
import { cursorsOf, cursorText, SNAPSHOT_EXPIRED, snapshotRankCursor } from '../../pagination/cursor.js';
import { type Completeness, completeField, ifKnown, knownAmountsOf } from '../../positions/completeness.js';
import { positionId } from '../../positions/position.js';
import { createPositionsBySize, holdingStatusOf } from '../../positions/positions-by-size.js';
import { MAX_POSITIONS_TEXT } from '../../positions/reader.js';
import type { Readers } from '../../readers.js';
import { exampleTitle } from '../v3/trades/examples.js';
import { clob, common } from './params.js';
import { amountText, marketFields, marketOf, paginationOf, paginationSchema, SOURCE } from './serialize.js';

/** Interval of the snapshots; longer if computing one takes long. */
const SNAPSHOT_INTERVAL_S = 60;
const PRICE_PLACES = 20;
const AVERAGE_DECIMALS = 18;
const statuses = [...largestPositionStatuses, 'all'] as const;
const decimal = z.string().meta({ description: 'Decimal text.' });

const positionSchema = z.object({
  wallet: z.string(),
  token_id: z.string(),
  size: decimal.nullable(),
  avg_price: decimal.nullable().describe(`${priceDocs.average} Decimal text.`),
  total_bought_usdc: decimal,
  realized_pnl_usdc: decimal.nullable().meta({ description: 'Before fees, decimal text.' }),
  status: z.enum(largestPositionStatuses),
  complete: completeField,
  ...marketFields,
});

const wholeHistory: Completeness = { isComplete: true, isSizeKnown: true };
const noValue = { totalBought: 0n, initialValue: 0n, currentValue: 0n, unrealizedPnl: 0n, totalPnl: 0n };
const positionFrom = (position: Omit<LargestPosition, 'rank'>, completeness: Completeness) => {
  const known = knownAmountsOf({ ...noValue, ...position, ...completeness });
  return {
    wallet: position.wallet,
    token_id: position.tokenId,
    size: ifKnown(known.size, amountText),
    avg_price: ifKnown(known.avgPrice, (average) => formatFixed(average, PRICE_PLACES, AVERAGE_DECIMALS)),
    total_bought_usdc: amountText(position.boughtUsdc),
    realized_pnl_usdc: ifKnown(known.realizedPnl, amountText),
    status: position.status,
    complete: completeness.isComplete,
  };
};

const exampleLargestPosition: LargestPosition = {
  rank: 1,
  status: 'open',
  wallet: EXAMPLE_WALLET,
  tokenId: EXAMPLE_TOKEN,
  size: 1_200_500_000n,
  avgPrice: 410_000_000_000_000_000n,
  boughtUsdc: 615_000_000n,
  realizedPnl: 12_400_000n,
};

const EXAMPLE_CURSOR = cursorsOf(snapshotRankCursor, { endpoint: '/clobv2/positions', order: 'desc' }).write({
  takenAtMs: 1790000200123,
  rank: 1,
});

/** GET /clobv2/positions: the largest positions of all wallets. */
export function createClobPositions(readers: Readers): Route {
  const { largest, positions, titlesOf } = readers;
  const largestOf = createPositionsBySize(readers);
  const most = MAX_LARGEST.toLocaleString('en');
  return defineRoute({
    ...common,
    path: '/clobv2/positions',
    reads: ['positions', 'catalog'],
    summary: 'Positions by size, of all wallets, a wallet, a token or a market',
    description: `With \`wallet\`, \`token_id\` or \`condition_id\`: current positions; of more than ${MAX_POSITIONS_TEXT} of a wallet that the filters select, the first in the order. Without them: the first ${most} positions of the \`status\`, or of all statuses, from a snapshot of all positions (combos included) that is refreshed every minute, or less often for very many positions (\`as_of\`, \`Age\`). Closed positions, which have no size, are ordered by their cost. Later pages by \`pagination.next_cursor\` read the snapshot of the first page, which is retained for one hour; those by \`offset\` read the newest snapshot.`,
    query: z.object({
      status: choiceParam({
        description:
          'open: with shares; redeemable: with shares in a settled outcome; closed: without shares. Default all.',
        invalid: `status must be one of [${statuses.join(', ')}]`,
        values: statuses,
      }).default('all'),
      wallet: clob.wallet.optional(),
      token_id: clob.tokenId.optional(),
      condition_id: clob.conditionId.optional(),
      order: choiceParam({
        description: 'By size. Default desc.',
        invalid: 'order must be one of [asc, desc]',
        values: ['asc', 'desc'],
      }).default('desc'),
      min_size: usdParam({
        description: 'Minimum number of shares; decimals allowed.',
        invalid: 'invalid min_size: expected a decimal number, 0 or more',
      }).optional(),
      limit: clob.limit(500, 100),
      offset: clob.offset,
      cursor: cursorText('`pagination.next_cursor` of the previous page.'),
    }),
    aliases: minSizeAlias,
    success: {
      description: 'A page of positions',
      schema: z.object({
        count: z.int(),
        source: z.literal(SOURCE),
        as_of: z
          .int()
          .nullable()
          .meta({ description: 'Time of the snapshot, Unix seconds; null for current positions.' }),
        pagination: paginationSchema,
        positions: z.array(positionSchema),
      }),
      example: {
        count: 1,
        source: SOURCE,
        as_of: 1790000200,
        pagination: paginationOf({ limit: 1, offset: 0 }, EXAMPLE_CURSOR),
        positions: [{ ...positionFrom(exampleLargestPosition, wholeHistory), ...marketOf(exampleTitle) }],
      },
    },
    async handler({ query }, context) {
      const { limit, offset, cursor, order, wallet, token_id: tokenId, condition_id: conditionId } = query;
      const status = query.status === 'all' ? null : query.status;
      const minSize = query.min_size ?? null;
      if (wallet !== undefined || tokenId !== undefined || conditionId !== undefined) {
        const found = await largestOf(
          { wallet, tokenId, conditionId, status, minSize },
          { endpoint: context.endpoint, order, limit, offset, cursor },
        );
        const titles = await titlesOf(found.rows.map((row) => row.tokenId));
        return {
          body: {
            count: found.rows.length,
            source: SOURCE,
            as_of: null,
            pagination: paginationOf(query, found.cursor),
            positions: found.rows.map((row) => ({
              ...positionFrom({ ...row, status: holdingStatusOf(row) }, row),
              ...marketOf(titles.get(row.tokenId) ?? untitled),
            })),
          },
        };
      }
      const cursors = cursorsOf(snapshotRankCursor, { endpoint: context.endpoint, order });
      const start = cursors.read(cursor);
      const takenAtMs = start?.takenAtMs ?? (await largest.newestSnapshot());
      if (takenAtMs === null) {
        const pagination = paginationOf(query, null);
        return { body: { count: 0, source: SOURCE, as_of: null, pagination, positions: [] } };
      }
      const found = await largest.page({
        takenAtMs,
        status,
        minSize,
        order,
        afterRank: start?.rank ?? null,
        offset,
        limit,
      });
      if (found === null) throw badParameter(SNAPSHOT_EXPIRED);
      const rows = found.slice(0, limit);
      const last = found.length > limit ? rows.at(-1) : undefined;
      const [titles, current] = await Promise.all([
        titlesOf(rows.map((row) => row.tokenId)),
        positions.byId(rows.map(positionId)),
      ]);
      const completenessOf = new Map(current.map((position) => [positionId(position), position]));
      const ageMs = Math.max(0, context.nowMs - takenAtMs);
      return {
        body: {
          count: rows.length,
          source: SOURCE,
          as_of: Math.floor(takenAtMs / 1000),
          pagination: paginationOf(query, last === undefined ? null : cursors.write({ takenAtMs, rank: last.rank })),
          positions: rows.map((row) => ({
            ...positionFrom(row, completenessOf.get(positionId(row)) ?? wholeHistory),
            ...marketOf(titles.get(row.tokenId) ?? untitled),
          })),
        },
        cache: { maxAgeS: Math.max(SNAPSHOT_INTERVAL_S, Math.floor(ageMs / 1000)), ageMs },
      };
    },
  });
}
