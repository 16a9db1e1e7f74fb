import { z } from 'zod';
import { MAX_LISTED_TOKENS } from '../../../../schemas/primitives/tags.sql.js';
import type { Rankings } from '../../../catalog/rankings.js';
import { ApiError, badParameter } from '../../../errors/failure.js';
import { type PaginationSessions, paginationSessionKey } from '../../../fills/pagination-sessions.js';
import type { FillReader } from '../../../fills/reader.js';
import type { TokenChoice } from '../../../fills/tokens.sql.js';
import { EXAMPLE_WALLET, offsetParam, parsedCursorParam } from '../../../http/chain-params.js';
import { choiceParam, slugParam } from '../../../http/params.js';
import { defineRoute, errorSchema, type RequestContext, type Route } from '../../../http/route.js';
import { MAX_RANK, type RankingMetric, rankingMetrics } from '../../../leaderboards/leaderboard.sql.js';
import { type LeaderboardReader, MAX_ORDER_AGE_MS, type RankedWallet } from '../../../leaderboards/reader.js';
import { formatSnapshotCursor, parseSnapshotCursor, SNAPSHOT_EXPIRED } from '../../../leaderboards/snapshot-cursor.js';
import { pageFields, pagingOf } from '../envelope.js';
import { v3 } from '../params.js';
import { createSelector, type Selection, selectionAliases, selectionFields } from '../selection.js';
import { examplePaging } from '../trades/examples.js';
import { exampleSummary, positionsSummaryFields, positionsSummaryFrom } from '../wallets/pnl-summary.serialize.js';
import { tagPnlFrom, tagPnlSchema, totalsFrom, totalsSchema } from './leaderboard.serialize.js';

const common = { method: 'get', apiGroup: 'v3', auth: 'key', feature: 'v3' } as const;
const TOO_DEEP = 'leaderboard_offset_too_deep';
const sorts = ['total_pnl', ...rankingMetrics] as const;
const tagSorts = ['net_pnl', 'volume', 'profit', 'loss'] as const;
const tagMetrics: Readonly<Record<(typeof tagSorts)[number], RankingMetric>> = {
  net_pnl: 'realized',
  volume: 'volume',
  profit: 'profit',
  loss: 'loss',
};
const paging = {
  limit: v3.limit(),
  offset: offsetParam({
    invalid: 'invalid offset: use a whole number, 0 or more',
    tooDeep: 'invalid offset: use a whole number, 0 or more',
    max: Number.MAX_SAFE_INTEGER,
  }).default(0),
};
const tooDeep = {
  description: `A parameter is malformed, or the page ends beyond rank ${MAX_RANK}.`,
  schema: errorSchema,
  example: { error: TOO_DEEP, max_rank: MAX_RANK, max_offset: MAX_RANK - 100, limit: 100, offset: 10_000 },
};

const WIDE_ORDER = `Order and sums of a tag with more than ${MAX_LISTED_TOKENS.toLocaleString('en')} outcome tokens are those of its newest snapshot, computed in the background every ten minutes, less often for very many positions.`;

/** Slugs of the tags if the selection is of markets that have any of some tags; otherwise empty. */
function onlyTags({ tags, tag_slug: tag, ...rest }: Selection): readonly string[] {
  if (Object.values(rest).some((value) => value !== undefined)) return [];
  const any = [...new Set((tags ?? '').split(','))].filter((slug) => slug !== '');
  if (tag === undefined) return any;
  return any.length === 0 ? [tag] : [];
}

const unixSeconds = (ms: number | null): number | null => (ms === null ? null : Math.floor(ms / 1000));

interface PageQuery {
  readonly limit: number;
  readonly offset: number;
}

function checkDepth({ limit, offset }: PageQuery): void {
  if (offset + limit <= MAX_RANK) return;
  const fields = { max_rank: MAX_RANK, max_offset: MAX_RANK - limit, limit, offset };
  throw new ApiError({ kind: 'bad_parameter', message: TOO_DEEP, fields });
}

export interface LeaderboardDeps {
  readonly leaderboards: LeaderboardReader;
  readonly fills: FillReader;
  readonly rankings: Rankings;
  readonly snapshotSessions: PaginationSessions<number>;
}

/** Leaderboards of wallets by PnL (all markets, selected markets, one tag), and the venue's totals. */
export function createLeaderboardRoutes(deps: LeaderboardDeps): readonly Route[] {
  const { leaderboards, rankings, snapshotSessions, fills } = deps;
  const tokensOf = createSelector(deps);

  /** A page of the wallets ranked over the selected markets. */
  const pageOf = async (
    name: string,
    tokens: TokenChoice,
    tag: string | null,
    metric: RankingMetric,
    query: PageQuery,
    context: RequestContext,
  ) => {
    const page = await rankings.page({
      sessionKey: paginationSessionKey(context.caller?.accountId, `v3 leaderboard ${metric} ${name}`, {}),
      ...query,
      load: () => leaderboards.rankedWallets(tokens, metric, name, tag),
    });
    const { summaries, takenAtMs } = await leaderboards.summaries(page.ids, tokens, metric, tag);
    const rows = page.ids.flatMap((wallet, index): RankedWallet[] => {
      const summary = summaries[index];
      return summary === undefined ? [] : [{ rank: query.offset + index + 1, wallet, summary }];
    });
    return { rows, hasMore: page.hasMore, takenAtMs };
  };

  const rowSchema = z.object({ rank: z.int(), wallet: z.string(), ...positionsSummaryFields });
  const rowFrom = ({ rank, wallet, summary }: RankedWallet) => ({ rank, wallet, ...positionsSummaryFrom(summary) });

  const leaderboard = defineRoute({
    ...common,
    tag: 'Wallets',
    path: '/v3/leaderboard',
    reads: ['leaderboards'],
    summary: 'Wallets ranked by PnL',
    description: `The first ${MAX_RANK.toLocaleString('en')}, without combos. Over all markets the ranks come from a snapshot that is refreshed every minute, or less often for very many positions (\`as_of\`); later pages by \`offset\` or \`next_cursor\` read the snapshot of the first page. A cursor is valid for two hours. Over selected markets the order is computed at most ${MAX_ORDER_AGE_MS / 1000} s before the first page and kept for later pages by \`offset\`; the sums are current. ${WIDE_ORDER} Several tags of which one contains the markets of the others are that tag; else they are ranked on request, over all positions in their markets: more than a second for half a million positions, 503 where it takes too long.`,
    query: z.object({
      sort: choiceParam({
        description: 'Sort key, descending; `loss`: largest loss first. Default total, which is total_pnl.',
        invalid: `invalid sort: use ${sorts.join(', ')}`,
        values: sorts,
      }).default('total'),
      ...selectionFields,
      ...paging,
      cursor: parsedCursorParam(parseSnapshotCursor, {
        description: '`next_cursor` of the previous page: reads the same snapshot.',
        invalid: 'invalid cursor: use next_cursor of an earlier page',
      }).optional(),
    }),
    aliases: selectionAliases,
    success: {
      description: 'A page of wallets',
      schema: z.object({
        leaderboard: z.array(rowSchema),
        as_of: z
          .int()
          .nullable()
          .meta({ description: 'Time of the snapshot, Unix seconds; null over selected markets.' }),
        ...pageFields,
      }),
      example: {
        leaderboard: [{ rank: 1, wallet: EXAMPLE_WALLET, ...positionsSummaryFrom(exampleSummary) }],
        as_of: 1790000200,
        ...examplePaging,
        next_cursor: '1790000200123-1',
      },
    },
    otherResponses: { 400: tooDeep },
    async handler({ query }, context) {
      const metric: RankingMetric = query.sort === 'total_pnl' ? 'total' : query.sort;
      checkDepth(query);
      const tokens = await tokensOf(query);
      const { sort: _sort, cursor, limit, offset, ...selection } = query;
      if (tokens !== null) {
        if (cursor !== undefined) throw badParameter('cursor cannot be combined with selected markets');
        const { rows, hasMore, takenAtMs } = await pageOf(
          JSON.stringify(selection),
          tokens,
          tokens.among === null ? null : await leaderboards.coveringTag(onlyTags(selection)),
          metric,
          query,
          context,
        );
        return {
          body: {
            leaderboard: rows.map(rowFrom),
            as_of: unixSeconds(takenAtMs),
            ...pagingOf(query, { rows: rows.length, hasMore, cursor: null, context }),
          },
        };
      }
      const sessionKey = paginationSessionKey(context.caller?.accountId, `/v3/leaderboard ${metric}`, {});
      const sessionSnapshotMs = offset === 0 ? null : snapshotSessions.asOf(sessionKey);
      const takenAtMs = cursor?.takenAtMs ?? sessionSnapshotMs ?? (await leaderboards.newestSnapshot(metric));
      if (takenAtMs !== null && cursor === undefined && offset === 0) snapshotSessions.start(sessionKey, takenAtMs);
      const afterRank = cursor?.rank ?? offset;
      const found = takenAtMs === null ? [] : await leaderboards.ranks(metric, takenAtMs, afterRank, limit);
      if (found.length === 0) {
        const isExpired =
          cursor !== undefined ||
          (sessionSnapshotMs !== null && (await leaderboards.ranks(metric, sessionSnapshotMs, 0, 0)).length === 0);
        if (isExpired) throw badParameter(SNAPSHOT_EXPIRED);
      }
      const rows = found.slice(0, limit);
      const last = rows.at(-1);
      return {
        body: {
          leaderboard: rows.map(rowFrom),
          as_of: unixSeconds(takenAtMs),
          ...pagingOf(query, {
            rows: rows.length,
            hasMore: found.length > limit,
            cursor:
              takenAtMs === null || last === undefined ? null : formatSnapshotCursor({ takenAtMs, rank: last.rank }),
            context,
          }),
        },
      };
    },
  });

  const ofTag = defineRoute({
    ...common,
    tag: 'Markets',
    path: '/v3/tags/{slug}/leaderboard',
    reads: ['catalog', 'pnl', 'fills'],
    summary: 'Wallets ranked by PnL in the markets of a tag',
    description: `The first ${MAX_RANK.toLocaleString('en')}. ${WIDE_ORDER}`,
    params: z.object({ slug: slugParam({ description: 'Tag slug.', invalid: 'invalid tag', example: 'weather' }) }),
    query: z.object({
      sort: choiceParam({
        description: 'Sort key, descending; `loss`: largest loss first. Default net_pnl.',
        invalid: `invalid sort: use ${tagSorts.join(', ')}`,
        values: tagSorts,
      }).default('net_pnl'),
      ...paging,
    }),
    success: {
      description: 'A page of wallets',
      schema: z.object({ data: z.array(tagPnlSchema), ...pageFields }),
      example: {
        data: [tagPnlFrom({ rank: 1, wallet: EXAMPLE_WALLET, summary: exampleSummary })],
        ...examplePaging,
        next_cursor: null,
      },
    },
    otherResponses: {
      400: tooDeep,
      404: {
        description: 'No market carries the tag.',
        schema: errorSchema,
        example: { error: 'tag not found', tag: 'weather' },
      },
    },
    async handler({ params: { slug }, query }, context) {
      checkDepth(query);
      const tokens = await fills.choose({ tagSlug: slug });
      if (tokens === null || tokens.tokenIds?.length === 0)
        throw new ApiError({ kind: 'not_found', message: 'tag not found', fields: { tag: slug } });
      const { rows, hasMore } = await pageOf(`tag ${slug}`, tokens, slug, tagMetrics[query.sort], query, context);
      return {
        body: {
          data: rows.map(tagPnlFrom),
          ...pagingOf(query, { rows: rows.length, hasMore, cursor: null, context }),
        },
      };
    },
  });

  const stats = defineRoute({
    ...common,
    tag: 'Markets',
    path: '/v3/stats',
    reads: ['leaderboards'],
    summary: 'Totals over all fills, redemptions, wallets and positions',
    description:
      'From a snapshot that is refreshed every minute, or less often for very many positions (`as_of`). Combos are included. Each match counts once in the volume.',
    success: {
      description: 'The sums',
      schema: z.object({ ...totalsSchema.shape, elapsed_ms: z.int() }),
      example: { ...totalsFrom(null), elapsed_ms: 3 },
    },
    handler: async (_input, context) => ({
      body: { ...totalsFrom(await leaderboards.totals()), elapsed_ms: context.elapsedMs() },
    }),
  });

  return [leaderboard, ofTag, stats];
}
