import { z } from 'zod';
import { MAX_LISTED_TOKENS } from '../../../../schemas/primitives/tags.sql.js';
import { ApiError, badParameter } from '../../../errors/failure.js';
import type { TokenChoice } from '../../../fills/tokens.sql.js';
import { EXAMPLE_WALLET, offsetParam } from '../../../http/chain-params.js';
import { slugParam } from '../../../http/params.js';
import { defineRoute, errorSchema, notFoundResponse, type RequestContext, type Route } from '../../../http/route.js';
import { MAX_RANK, type RankingMetric, rankingMetrics } from '../../../leaderboards/leaderboard.sql.js';
import { MAX_ORDER_AGE_MS, type RankedValue, type RankedWallet } from '../../../leaderboards/reader.js';
import { cursorsOf, SNAPSHOT_EXPIRED, snapshotRankCursor } from '../../../pagination/cursor.js';
import type { PageQuery } from '../../../pagination/list-page.js';
import { rankedPage } from '../../../pagination/ranked-page.js';
import type { Readers } from '../../../readers.js';
import { pageFields, pagingOf } from '../envelope.js';
import { v3, v3Route } from '../params.js';
import { type Selection, selectionAliases, selectionFields, selectTokens } from '../selection.js';
import { examplePaging } from '../trades/examples.js';
import { exampleSummary, positionsSummaryFields, positionsSummaryFrom } from '../wallets/pnl-summary.serialize.js';
import { tagPnlFrom, tagPnlSchema, totalsFrom, totalsSchema } from './leaderboard.serialize.js';

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
  cursor: v3.cursor,
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
  const any = [...new Set(tags)];
  if (tag === undefined) return any;
  return any.length === 0 ? [tag] : [];
}

const unixSeconds = (ms: number | null): number | null => (ms === null ? null : Math.floor(ms / 1000));

function checkDepth({ limit, offset }: PageQuery): void {
  if (offset + limit <= MAX_RANK) return;
  const fields = { max_rank: MAX_RANK, max_offset: MAX_RANK - limit, limit, offset };
  throw new ApiError({ kind: 'bad_parameter', message: TOO_DEEP, fields });
}

/** Leaderboards of wallets by PnL (all markets, selected markets, one tag), and the venue's totals. */
export function createLeaderboardRoutes(readers: Readers): readonly Route[] {
  const { leaderboards, fills } = readers;

  /** A page of the wallets ranked over the selected markets. */
  const pageOf = async (
    name: string,
    tokens: TokenChoice,
    tag: string | null,
    metric: RankingMetric,
    query: PageQuery,
    context: RequestContext,
  ) => {
    const list = await leaderboards.rankedWallets(tokens, metric, name, tag);
    const by = { value: (one: RankedValue) => one.value, id: (one: RankedValue) => one.id };
    const page = rankedPage(list, by, query, { endpoint: context.endpoint, order: `selected ${metric}` });
    const wallets = page.rows.map((one) => one.id);
    const { summaries, takenAtMs } = await leaderboards.summaries(wallets, tokens, metric, tag);
    const rows = wallets.flatMap((wallet, index): RankedWallet[] => {
      const summary = summaries[index];
      return summary === undefined ? [] : [{ rank: page.from + index + 1, wallet, summary }];
    });
    return { rows, takenAtMs, cursor: page.cursor };
  };

  const rowSchema = z.object({ rank: z.int(), wallet: z.string(), ...positionsSummaryFields });
  const rowFrom = ({ rank, wallet, summary }: RankedWallet) => ({ rank, wallet, ...positionsSummaryFrom(summary) });

  const leaderboard = defineRoute({
    ...v3Route,
    tag: 'Wallets',
    path: '/v3/leaderboard',
    reads: ['leaderboards'],
    summary: 'Wallets ranked by PnL',
    description: `The first ${MAX_RANK.toLocaleString('en')}, without combos. Over all markets the ranks come from a snapshot that is refreshed every minute, or less often for very many positions (\`as_of\`); later pages by \`next_cursor\` read the snapshot of the first page, which is retained for two hours; those by \`offset\` read the newest snapshot. Over selected markets the order is computed at most ${MAX_ORDER_AGE_MS / 1000} s before the request; the sums are current. ${WIDE_ORDER} Several tags of which one contains the markets of the others are that tag; else they are ranked on request, over all positions in their markets: more than a second for half a million positions, 503 where it takes too long.`,
    query: z.object({
      sort: v3
        .choice(
          'sort',
          sorts,
          'Sort key, descending; `loss`: largest loss first. Default total, which is total_pnl.',
          ', ',
        )
        .default('total'),
      ...selectionFields,
      ...paging,
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
        next_cursor: cursorsOf(snapshotRankCursor, { endpoint: '/v3/leaderboard', order: 'total' }).write({
          takenAtMs: 1790000200123,
          rank: 1,
        }),
      },
    },
    otherResponses: { 400: tooDeep },
    async handler({ query }, context) {
      const metric: RankingMetric = query.sort === 'total_pnl' ? 'total' : query.sort;
      checkDepth(query);
      const tokens = await selectTokens(readers, query);
      const { sort: _sort, cursor, limit, offset, ...selection } = query;
      if (tokens !== null) {
        const page = await pageOf(
          JSON.stringify(selection),
          tokens,
          tokens.among === null ? null : await leaderboards.coveringTag(onlyTags(selection)),
          metric,
          query,
          context,
        );
        return {
          body: {
            leaderboard: page.rows.map(rowFrom),
            as_of: unixSeconds(page.takenAtMs),
            ...pagingOf(query, page, context),
          },
        };
      }
      const cursors = cursorsOf(snapshotRankCursor, { endpoint: context.endpoint, order: metric });
      const start = cursors.read(cursor);
      const takenAtMs = start?.takenAtMs ?? (await leaderboards.newestSnapshot(metric));
      const found = takenAtMs === null ? [] : await leaderboards.ranks(metric, takenAtMs, start?.rank ?? offset, limit);
      if (found.length === 0 && start !== null) throw badParameter(SNAPSHOT_EXPIRED);
      const rows = found.slice(0, limit);
      const last = found.length > limit ? rows.at(-1) : undefined;
      const next = takenAtMs === null || last === undefined ? null : cursors.write({ takenAtMs, rank: last.rank });
      return {
        body: {
          leaderboard: rows.map(rowFrom),
          as_of: unixSeconds(takenAtMs),
          ...pagingOf(query, { rows, cursor: next }, context),
        },
      };
    },
  });

  const ofTag = defineRoute({
    ...v3Route,
    tag: 'Markets',
    path: '/v3/tags/{slug}/leaderboard',
    reads: ['catalog', 'pnl', 'fills'],
    summary: 'Wallets ranked by PnL in the markets of a tag',
    description: `The first ${MAX_RANK.toLocaleString('en')}. ${WIDE_ORDER}`,
    params: z.object({ slug: slugParam({ description: 'Tag slug.', invalid: 'invalid tag', example: 'weather' }) }),
    query: z.object({
      sort: v3
        .choice('sort', tagSorts, 'Sort key, descending; `loss`: largest loss first. Default net_pnl.', ', ')
        .default('net_pnl'),
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
      ...notFoundResponse('No market carries the tag.', 'tag not found', { tag: 'weather' }),
    },
    async handler({ params: { slug }, query }, context) {
      checkDepth(query);
      const tokens = await fills.choose({ tagSlug: slug });
      if (tokens === null || tokens.tokenIds?.length === 0)
        throw new ApiError({ kind: 'not_found', message: 'tag not found', fields: { tag: slug } });
      const page = await pageOf(`tag ${slug}`, tokens, slug, tagMetrics[query.sort], query, context);
      return { body: { data: page.rows.map(tagPnlFrom), ...pagingOf(query, page, context) } };
    },
  });

  const stats = defineRoute({
    ...v3Route,
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
