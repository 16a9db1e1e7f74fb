import { z } from 'zod';
import { isComboPosition } from '../../../../schemas/primitives/combo-ids.js';
import { marketAliases, minSizeAlias } from '../../../http/aliases.js';
import { usdParam } from '../../../http/chain-params.js';
import { defineRoute, type Route } from '../../../http/route.js';
import { exampleOpenPosition } from '../../../positions/examples.js';
import type { FilterablePosition } from '../../../positions/wallet-position-pages.js';
import type { WalletSort } from '../../../positions/wallet-position-pages.sql.js';
import type { Readers } from '../../../readers.js';
import { pageFields, pagingOf } from '../envelope.js';
import { paging, v3, v3Route } from '../params.js';
import { examplePaging } from '../trades/examples.js';
import {
  comboPositionFrom,
  comboPositionSchema,
  positionFrom,
  positionSchema,
  type Status,
  statuses,
  statusOf,
} from './serialize.js';

/** Maximum age of a cached page of a wallet's positions. */
const POSITIONS_CACHE_S = 5;

const statusNames = [...statuses, 'all'] as const;
export const STATUS_DESCRIPTION =
  'As `status` of a row. open: has shares, market not settled; redeemable: has shares, market settled; redeemed: no shares left, and some were redeemed, also for nothing; closed: no shares left otherwise. Default all.';
/** undefined: any. */
export const statusParam = v3
  .choice('status', statusNames, STATUS_DESCRIPTION, ', ')
  .transform((name) => (name === 'all' ? undefined : name))
  .meta({ type: 'string', enum: [...statusNames], description: STATUS_DESCRIPTION })
  .optional();

const sorts = ['realized_pnl', 'pnl', 'amount', 'size', 'volume', 'total_bought', 'avg_price', 'recent'] as const;
const sortColumns: Readonly<Record<(typeof sorts)[number], WalletSort>> = {
  realized_pnl: 'realized_pnl',
  pnl: 'realized_pnl',
  amount: 'size',
  size: 'size',
  volume: 'total_bought',
  total_bought: 'total_bought',
  avg_price: 'avg_price',
  recent: 'last_at',
};

/** Which positions can have the status and the minimum value. */
function sharesOf({ status, min_size }: { readonly status?: Status; readonly min_size?: bigint }) {
  if (status === 'redeemed' || status === 'closed') return status;
  return status !== undefined || (min_size ?? 0n) > 0n ? 'held' : null;
}

/** GET /v3/wallets/{address}/positions: open and closed positions of a wallet. */
export function createWalletPositionsRoute({ walletPositionPages, fills }: Readers): Route {
  return defineRoute({
    ...v3Route,
    tag: 'Wallets',
    path: '/v3/wallets/{address}/positions',
    reads: ['positions', 'catalog'],
    summary: 'Positions of a wallet, open and closed',
    description:
      '`next_cursor` continues after the last row: positions whose sort key does not change are listed exactly once. With `include_combos` combo positions follow the others; their amounts are text. Of more than 20,000 positions of a wallet that a filter may select, the first in the order are searched.',
    params: z.object({ address: v3.address }),
    query: z.object({
      status: statusParam,
      sort: v3
        .choice(
          'sort',
          sorts,
          'Default realized_pnl. `pnl` is realized_pnl, `size` is amount, `volume` is total_bought.',
          ', ',
        )
        .default('realized_pnl'),
      order: v3.choice('order', ['asc', 'desc'], 'Default desc.').default('desc'),
      condition_id: v3.conditionId.optional(),
      market_slug: v3.slugOf('market_slug', 'Market slug.'),
      min_size: usdParam({
        description: 'Minimum value of the position, USD at the current price.',
        invalid: 'invalid min_size: use a decimal number, 0 or more',
      }).optional(),
      include_combos: v3.flag('include_combos', 'Add combo positions.'),
      ...paging,
    }),
    aliases: { ...marketAliases('market_slug'), ...minSizeAlias },
    cacheS: POSITIONS_CACHE_S,
    success: {
      description: 'A page of positions',
      schema: z.object({
        address: z.string(),
        positions: z.array(z.union([positionSchema, comboPositionSchema])),
        ...pageFields,
        next_offset: z.int().nullable(),
      }),
      example: {
        address: exampleOpenPosition.wallet,
        positions: [positionFrom(exampleOpenPosition, exampleOpenPosition.metadata)],
        ...examplePaging,
        next_cursor: null,
        next_offset: 1,
      },
    },
    async handler({ params: { address }, query }, context) {
      const named = await fills.tokens({ conditionId: query.condition_id, marketSlug: query.market_slug });
      const among = named === null ? null : new Set(named);
      const matches = (position: FilterablePosition): boolean =>
        (query.status === undefined || statusOf(position) === query.status) &&
        (among === null || among.has(position.tokenId)) &&
        (query.min_size === undefined || position.currentValue >= query.min_size);
      const shares = sharesOf(query);
      const cached = await walletPositionPages.page(
        {
          wallet: address,
          sort: sortColumns[query.sort],
          order: query.order,
          combos: query.include_combos,
          selection: { tokens: named, shares },
          // The others have no shares, or are not chosen by value.
          usesPrices: shares === 'held',
          predicate: query.status === undefined && among === null && query.min_size === undefined ? null : matches,
          endpoint: context.endpoint,
          offset: query.offset,
          limit: query.limit,
          cursor: query.cursor,
        },
        POSITIONS_CACHE_S * 1000,
      );
      const page = cached.value;
      return {
        body: {
          address,
          positions: page.rows.map((position) =>
            isComboPosition(position.tokenId) ? comboPositionFrom(position) : positionFrom(position, position.metadata),
          ),
          ...pagingOf(query, page, context),
          next_offset: page.cursor !== null && query.cursor === undefined ? query.offset + page.rows.length : null,
        },
        cache: cached,
      };
    },
  });
}
