import { z } from 'zod';
import { badParameter } from '../../errors/failure.js';
import { formatCursor } from '../../fills/log-position.js';
import { paginationSessionKey } from '../../fills/pagination-sessions.js';
import { untitled } from '../../fills/titles.js';
import { minSizeAlias } from '../../http/aliases.js';
import { cursorParam, EXAMPLE_TOKEN, EXAMPLE_WALLET, usdParam } from '../../http/chain-params.js';
import { priceDocs } from '../../http/field-docs.js';
import { choiceParam } from '../../http/params.js';
import { defineRoute, type Route } from '../../http/route.js';
import type { LargestPosition, LargestPositionsReader } from '../../leaderboards/largest-positions.js';
import { largestPositionStatuses, MAX_LARGEST } from '../../leaderboards/largest-positions.sql.js';
import { createPositionsBySize, holdingStatusOf } from '../../positions/positions-by-size.js';
import type { Readers } from '../../readers.js';
import { exampleTitle } from '../v3/trades/examples.js';
import { clob } from './params.js';
import { amountText, marketFields, marketOf, padded, paginationSchema, SOURCE } from './serialize.js';

/** How often pictures are taken, where they do not take long. */
const SNAPSHOT_INTERVAL_S = 60;
const PRICE_PLACES = 20;
const AVERAGE_DECIMALS = 18;
const statuses = [...largestPositionStatuses, 'all'] as const;
const decimal = z.string().meta({ description: 'Decimal text.' });

const positionSchema = z.object({
  wallet: z.string(),
  token_id: z.string(),
  size: decimal,
  avg_price: decimal.describe(`${priceDocs.average} Decimal text.`),
  total_bought_usdc: decimal,
  realized_pnl_usdc: decimal.meta({ description: 'Before fees, decimal text.' }),
  status: z.enum(largestPositionStatuses),
  ...marketFields,
});

const positionFrom = (position: Omit<LargestPosition, 'rank'>) => ({
  wallet: position.wallet,
  token_id: position.tokenId,
  size: amountText(position.size),
  avg_price: padded(position.avgPrice, PRICE_PLACES, AVERAGE_DECIMALS),
  total_bought_usdc: amountText(position.boughtUsdc),
  realized_pnl_usdc: amountText(position.realizedPnl),
  status: position.status,
});

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

/** GET /clobv2/positions: the largest positions of all wallets. */
export function createClobPositions(deps: { readers: Readers; largest: LargestPositionsReader }): Route {
  const { largest } = deps;
  const { paginationSessions, titlesOf } = deps.readers;
  const largestOf = createPositionsBySize(deps.readers);
  const most = MAX_LARGEST.toLocaleString('en');
  return defineRoute({
    method: 'get',
    apiGroup: 'clobv2',
    tag: 'CLOB v2',
    auth: 'key',
    feature: 'clobv2',
    path: '/clobv2/positions',
    reads: ['positions', 'catalog'],
    summary: 'Positions by size, of everybody, a wallet, a token or a market',
    description: `With \`wallet\`, \`token_id\` or \`condition_id\`: of these, as they are now; a walk by \`offset\` keeps the order of its first page for a quarter of an hour. Without: the first ${most} of a \`status\`, or of any. From a picture of all positions, combos included, taken once a minute, less often of very many (\`as_of\`, \`Age\`); closed ones, which have no size, by what was paid for them. A walk by \`offset\` stays with the picture it began with, \`pagination.next_cursor\` names it and is good for an hour.`,
    query: z.object({
      status: choiceParam({
        description:
          'open: shares held; redeemable: shares held, their outcome settled; closed: none left. Default all.',
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
        description: 'Smallest number of shares held; decimals allowed.',
        invalid: 'invalid min_size: expected a decimal number, 0 or more',
      }).optional(),
      limit: clob.limit(500, 100),
      offset: clob.offset,
      cursor: cursorParam({
        description: '`pagination.next_cursor` of the page before. Not with `wallet`, `token_id` or `condition_id`.',
        invalid: 'invalid cursor: expected next_cursor of an earlier page',
      }).optional(),
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
          .meta({ description: 'When the picture was taken, Unix seconds; null where none was used.' }),
        pagination: paginationSchema,
        positions: z.array(positionSchema),
      }),
      example: {
        count: 1,
        source: SOURCE,
        as_of: 1790000200,
        pagination: { limit: 1, offset: 0, has_more: true, next_cursor: '1790000200123-1' },
        positions: [{ ...positionFrom(exampleLargestPosition), ...marketOf(exampleTitle) }],
      },
    },
    async handler({ query }, context) {
      const { limit, offset, cursor, order, wallet, token_id: tokenId, condition_id: conditionId } = query;
      const status = query.status === 'all' ? null : query.status;
      const minSize = query.min_size ?? null;
      const sessionKey = paginationSessionKey(context.caller?.accountId, '/clobv2/positions', { ...query });
      if (wallet !== undefined || tokenId !== undefined || conditionId !== undefined) {
        if (cursor !== undefined)
          throw badParameter('cursor goes without wallet, token_id and condition_id: use offset');
        const found = await largestOf(
          { wallet, tokenId, conditionId, status, minSize },
          { order, sessionKey, limit, offset },
        );
        const titles = await titlesOf(found.rows.map((row) => row.tokenId));
        return {
          body: {
            count: found.rows.length,
            source: SOURCE,
            as_of: null,
            pagination: { limit, offset, has_more: found.hasMore, next_cursor: null },
            positions: found.rows.map((row) => ({
              ...positionFrom({ ...row, status: holdingStatusOf(row) }),
              ...marketOf(titles.get(row.tokenId) ?? untitled),
            })),
          },
        };
      }
      const begun = offset === 0 ? undefined : paginationSessions.asOf(sessionKey)?.blockNumber;
      const takenAtMs = cursor?.blockNumber ?? begun ?? (await largest.newestSnapshot());
      if (takenAtMs === null) {
        const pagination = { limit, offset, has_more: false, next_cursor: null };
        return { body: { count: 0, source: SOURCE, as_of: null, pagination, positions: [] } };
      }
      if (cursor === undefined && offset === 0)
        paginationSessions.start(sessionKey, { blockNumber: takenAtMs, logIndex: 0 });
      const found = await largest.page({
        takenAtMs,
        status,
        minSize,
        order,
        afterRank: cursor?.logIndex ?? null,
        offset,
        limit,
      });
      if (found === null) throw badParameter('this walk took too long and its picture is gone: begin again');
      const rows = found.slice(0, limit);
      const hasMore = found.length > limit;
      const last = rows.at(-1);
      const titles = await titlesOf(rows.map((row) => row.tokenId));
      const ageS = Math.max(0, Math.floor((context.nowMs - takenAtMs) / 1000));
      return {
        body: {
          count: rows.length,
          source: SOURCE,
          as_of: Math.floor(takenAtMs / 1000),
          pagination: {
            limit,
            offset,
            has_more: hasMore,
            next_cursor:
              hasMore && last !== undefined ? formatCursor({ blockNumber: takenAtMs, logIndex: last.rank }) : null,
          },
          positions: rows.map((row) => ({ ...positionFrom(row), ...marketOf(titles.get(row.tokenId) ?? untitled) })),
        },
        cache: { maxAgeS: Math.max(SNAPSHOT_INTERVAL_S, ageS), ageS },
      };
    },
  });
}
