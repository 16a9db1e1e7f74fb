import { z } from 'zod';
import { isComboPosition } from '../../../../schemas/primitives/combo-ids.js';
import type { Rankings } from '../../../catalogue/rankings.js';
import type { FillReader } from '../../../fills/reader.js';
import { walkName } from '../../../fills/walks.js';
import { usdParam } from '../../../http/chain-params.js';
import { choiceParam, slugParam } from '../../../http/params.js';
import { cacheOf } from '../../../http/replies.js';
import { defineRoute, type Route } from '../../../http/route.js';
import { exampleHeld } from '../../../positions/examples.js';
import type { Position } from '../../../positions/position.js';
import type { PositionReader } from '../../../positions/reader.js';
import { pageFields, pagingOf } from '../envelope.js';
import { v3 } from '../params.js';
import { examplePaging } from '../trades/examples.js';
import {
  comboPositionFrom,
  comboPositionSchema,
  positionFrom,
  positionSchema,
  statuses,
  statusOf,
} from './serialize.js';

/** Oldest copy of a wallet's positions that is shown. */
const POSITIONS_S = 5;
export const statusParam = choiceParam({
  description: 'Default all of them.',
  invalid: `invalid status: use ${statuses.join(', ')}`,
  values: statuses,
}).optional();

const sorts = ['realized_pnl', 'pnl', 'amount', 'size', 'volume', 'total_bought', 'avg_price', 'recent'] as const;
const measures: Readonly<Record<(typeof sorts)[number], (position: Position) => bigint>> = {
  realized_pnl: (position) => position.realizedPnl,
  pnl: (position) => position.realizedPnl,
  amount: (position) => position.size,
  size: (position) => position.size,
  volume: (position) => position.totalBought,
  total_bought: (position) => position.totalBought,
  avg_price: (position) => position.avgPrice,
  recent: (position) => BigInt(position.lastAtS),
};

/** Tokens in the order of a measure, ties by token; what `last` says comes after the others. */
export function inOrder(
  positions: readonly Position[],
  measure: (position: Position) => bigint,
  order: 'asc' | 'desc',
  last: (position: Position) => boolean = () => false,
): string[] {
  const sign = order === 'asc' ? 1 : -1;
  const compare = (a: Position, b: Position): number => {
    const [lastA, lastB] = [last(a), last(b)];
    if (lastA !== lastB) return lastA ? 1 : -1;
    const [x, y] = [measure(a), measure(b)];
    if (x !== y) return x < y ? -sign : sign;
    return BigInt(a.tokenId) < BigInt(b.tokenId) ? -1 : 1;
  };
  return [...positions].sort(compare).map((position) => position.tokenId);
}

export interface WalletPositionsDeps {
  readonly positions: PositionReader;
  readonly fills: FillReader;
  readonly rankings: Rankings;
}

/** GET /v3/wallets/{address}/positions: everything a wallet holds or held. */
export function createWalletPositionsRoute(deps: WalletPositionsDeps): Route {
  const { positions, fills, rankings } = deps;
  return defineRoute({
    method: 'get',
    family: 'v3',
    tag: 'Wallets',
    auth: 'key',
    gate: 'v3',
    path: '/v3/wallets/{address}/positions',
    summary: 'Positions of a wallet, open and closed',
    description:
      'A walk by `offset` keeps the order of its first page for a quarter of an hour; the rows are as they are now. With `include_combos` positions in combos follow the others, their amounts as text.',
    params: z.object({ address: v3.address }),
    query: z.object({
      status: statusParam,
      sort: choiceParam({
        description: 'Default realized_pnl. `pnl` is realized_pnl, `size` is amount, `volume` is total_bought.',
        invalid: `invalid sort: use ${sorts.join(', ')}`,
        values: sorts,
      }).default('realized_pnl'),
      order: choiceParam({
        description: 'Default desc.',
        invalid: 'invalid order: use asc or desc',
        values: ['asc', 'desc'],
      }).default('desc'),
      condition_id: v3.conditionId.optional(),
      market_slug: slugParam({ description: 'Market slug.', invalid: 'invalid market_slug' }).optional(),
      min_size: usdParam({
        description: 'Smallest value of what is held, USD at the current price.',
        invalid: 'invalid min_size: use a decimal number, 0 or more',
      }).optional(),
      include_combos: v3.flag('include_combos', 'Add positions in combos.'),
      limit: v3.limit(),
      offset: v3.offset,
    }),
    cacheS: POSITIONS_S,
    success: {
      description: 'A page of positions',
      schema: z.object({
        address: z.string(),
        positions: z.array(z.union([positionSchema, comboPositionSchema])),
        ...pageFields,
        next_offset: z.int().nullable(),
      }),
      example: {
        address: exampleHeld.wallet,
        positions: [positionFrom(exampleHeld, exampleHeld.about)],
        ...examplePaging,
        next_cursor: null,
        next_offset: 1,
      },
    },
    async handler({ params: { address }, query }, context) {
      const [book, named] = await Promise.all([
        positions.ofWallet(address, POSITIONS_S * 1000),
        fills.tokens({ conditionId: query.condition_id, marketSlug: query.market_slug }),
      ]);
      const among = named === null ? null : new Set(named);
      const isCombo = (position: Position): boolean => isComboPosition(position.tokenId);
      const wanted = (position: Position): boolean =>
        (query.include_combos || !isCombo(position)) &&
        (query.status === undefined || statusOf(position) === query.status) &&
        (among === null || among.has(position.tokenId)) &&
        (query.min_size === undefined || position.currentValue >= query.min_size);
      const page = await rankings.page({
        walk: walkName(context.caller?.accountId, `/v3/wallets/${address}/positions`, { ...query }),
        ...query,
        load: async () => inOrder(book.value.filter(wanted), measures[query.sort], query.order, isCombo),
      });
      const held = new Map(book.value.map((position) => [position.tokenId, position]));
      const shown = page.ids.flatMap((id) => held.get(id) ?? []);
      return {
        body: {
          address,
          positions: shown.map((position) =>
            isCombo(position) ? comboPositionFrom(position) : positionFrom(position, position.about),
          ),
          ...pagingOf(query, { rows: shown.length, hasMore: page.hasMore, cursor: null, context }),
          next_offset: page.hasMore ? query.offset + shown.length : null,
        },
        cache: cacheOf(book, POSITIONS_S),
      };
    },
  });
}
