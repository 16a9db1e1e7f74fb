import { z } from 'zod';
import { badParameter } from '../../../errors/failure.js';
import { marketAliases, minSizeAlias } from '../../../http/aliases.js';
import { usdParam } from '../../../http/chain-params.js';
import { defineRoute, type RequestContext, type Route } from '../../../http/route.js';
import { MAX_LARGEST } from '../../../leaderboards/largest-positions.sql.js';
import {
  cursorsOf,
  SNAPSHOT_EXPIRED,
  type SnapshotOffset,
  type SnapshotRank,
  snapshotOffsetCursor,
  snapshotRankCursor,
} from '../../../pagination/cursor.js';
import type { ListPage } from '../../../pagination/list-page.js';
import { createAllWalletPositions } from '../../../positions/all-wallet-positions.js';
import { type AllWalletsSnapshot, MAX_NEWEST_FILLS } from '../../../positions/all-wallet-positions.sql.js';
import { exampleOpenPosition } from '../../../positions/examples.js';
import { type OutcomeMetadata, unknownOutcomeMetadata } from '../../../positions/outcomes.js';
import type { Position } from '../../../positions/position.js';
import type { HolderSort } from '../../../positions/positions.sql.js';
import type { Readers } from '../../../readers.js';
import { pageFields, pagingOf } from '../envelope.js';
import { paging, v3, v3Route } from '../params.js';
import { examplePaging } from '../trades/examples.js';
import { HOLDER_PAGINATION_NOTE, type HoldersRequest, readHolders } from './holder-pages.js';
import { positionFrom, positionSchema } from './serialize.js';
import { STATUS_DESCRIPTION } from './wallet.js';

const sorts = ['recent', 'pnl', 'size', 'volume'] as const;
const sortColumns: Readonly<Record<(typeof sorts)[number], HolderSort>> = {
  recent: 'last_at',
  pnl: 'realized_pnl',
  size: 'size',
  volume: 'total_bought',
};

/** Shares and USD both have 6 decimals. */
const sharesParam = usdParam({
  description: 'Minimum number of shares; decimals allowed.',
  invalid: 'invalid min_size: use a decimal number, 0 or more',
});

const shownFields = {
  token_id: true,
  size: true,
  avg_price: true,
  realized_pnl: true,
  unrealized_pnl: true,
  total_pnl: true,
  current_price: true,
  price_source: true,
  price_updated_at: true,
  total_bought: true,
  complete: true,
  resolved: true,
  status: true,
  market: true,
  slug: true,
  outcome: true,
  outcome_index: true,
  image: true,
  condition_id: true,
  neg_risk: true,
} as const;
const statuses = ['open', 'closed', 'redeemable', 'redeemed', 'all'] as const;
/** A status as holding and settlement. */
const holdings = {
  open: { status: 'open', settled: false },
  redeemable: { status: 'open', settled: true },
  closed: { status: 'unredeemed', settled: null },
  redeemed: { status: 'redeemed', settled: null },
  all: { status: 'all', settled: null },
} as const satisfies Record<(typeof statuses)[number], Pick<HoldersRequest, 'status' | 'settled'>>;
const rowSchema = positionSchema.pick(shownFields).extend({ wallet: z.string() });

function rowFrom(position: Position, metadata: OutcomeMetadata): z.input<typeof rowSchema> {
  const row = positionFrom(position, metadata);
  const shown = Object.fromEntries(Object.keys(shownFields).map((name) => [name, row[name as keyof typeof row]]));
  return { wallet: position.wallet, ...(shown as unknown as Omit<z.input<typeof rowSchema>, 'wallet'>) };
}

const positionsQuery = z.object({
  token_id: v3.token,
  condition_id: v3.conditionId.optional(),
  market_slug: v3.slugOf('market_slug', 'Market slug.'),
  status: v3.choice('status', statuses, STATUS_DESCRIPTION, ', ').default('all'),
  sort: v3
    .choice('sort', sorts, 'Default recent. `pnl` is realized_pnl, `volume` is total_bought.', ', ')
    .default('recent'),
  order: v3.choice('order', ['asc', 'desc'], 'Default desc.').default('desc'),
  min_size: sharesParam.optional(),
  ...paging,
});

const snapshotOf = (start: SnapshotOffset | SnapshotRank | null): AllWalletsSnapshot | null => {
  if (start === null) return null;
  return 'atMost' in start ? { atMost: start.atMost } : { takenAtMs: start.takenAtMs };
};

/** GET /v3/positions: positions of all wallets, or of those in a token or a market. */
export function createPositionsRoute(readers: Readers): Route {
  const { positions, outcomesOf, largest } = readers;
  const readAllWallets = createAllWalletPositions(readers);
  /** Without a market: by one of the orders of all wallets' positions. */
  const allWalletsPage = async (
    query: z.output<typeof positionsQuery>,
    context: RequestContext,
  ): Promise<ListPage<Position>> => {
    const { sort, order, status, min_size: minSize = null, limit, offset } = query;
    if (sort === 'pnl' || sort === 'volume' || order === 'asc') {
      const given = order === 'asc' ? 'order=asc' : `sort=${sort}`;
      throw badParameter(`${given} needs token_id, condition_id or market_slug; without them use sort=recent or size`);
    }
    const filter = { status: status === 'all' ? null : status, minSize };
    const of = { endpoint: context.endpoint, order: sort };
    const [byFills, bySnapshot] = [cursorsOf(snapshotOffsetCursor, of), cursorsOf(snapshotRankCursor, of)];
    const start = sort === 'recent' ? byFills.read(query.cursor) : bySnapshot.read(query.cursor);
    const from = start === null ? offset : 'rank' in start ? start.rank : start.offset;
    const { ids, snapshot } = await readAllWallets(sort, filter, snapshotOf(start), from + limit + 1);
    if (ids.length === 0 && start !== null && 'takenAtMs' in start && !(await largest.exists(start.takenAtMs)))
      throw badParameter(SNAPSHOT_EXPIRED);
    const rows = await positions.byId(ids.slice(from, from + limit));
    const next = from + limit;
    const cursorOf = (at: AllWalletsSnapshot) =>
      'atMost' in at
        ? byFills.write({ atMost: at.atMost, offset: next })
        : bySnapshot.write({ takenAtMs: at.takenAtMs, rank: next });
    return { rows, cursor: snapshot !== null && ids.length > next ? cursorOf(snapshot) : null };
  };
  return defineRoute({
    ...v3Route,
    tag: 'Markets',
    path: '/v3/positions',
    reads: ['positions', 'catalog'],
    summary: 'Positions of all wallets, of a token or of a market',
    description: `\`token_id\`, \`condition_id\` and \`market_slug\` are ANDed. ${HOLDER_PAGINATION_NOTE} Without them: \`recent\` lists the positions traded by the makers of the newest ${MAX_NEWEST_FILLS.toLocaleString('en')} fills, most recent first; \`size\` lists the ${MAX_LARGEST.toLocaleString('en')} largest positions of a snapshot that is refreshed every minute. The other filters apply to these positions.`,
    query: positionsQuery,
    aliases: { ...marketAliases('market_slug'), ...minSizeAlias },
    success: {
      description: 'A page of positions',
      schema: z.object({ positions: z.array(rowSchema), ...pageFields }),
      example: {
        positions: [rowFrom(exampleOpenPosition, exampleOpenPosition.metadata)],
        ...examplePaging,
        next_cursor: null,
      },
    },
    async handler({ query }, context) {
      const { token_id: tokenId, condition_id: conditionId, market_slug: marketSlug } = query;
      const selection = { tokenId, conditionId, marketSlug };
      const minSize = query.min_size ?? null;
      const named = Object.values(selection).some((value) => value !== undefined);
      const requested = { ...query, ...holdings[query.status], sort: sortColumns[query.sort], minSize } as const;
      const page = named
        ? await readHolders(readers, `of ${JSON.stringify(selection)}`, selection, requested, context)
        : await allWalletsPage(query, context);
      const metadataByToken = await outcomesOf(page.rows.map((row) => row.tokenId));
      return {
        body: {
          positions: page.rows.map((row) => rowFrom(row, metadataByToken.get(row.tokenId) ?? unknownOutcomeMetadata)),
          ...pagingOf(query, page, context),
        },
      };
    },
  });
}
