import { z } from 'zod';
import { divide, moneyToNumber, priceNumber } from '../../../schemas/primitives/money.js';
import { badParameter } from '../../errors/failure.js';
import { counterpartyField, counterpartyFlag } from '../../fills/counterparty.js';
import type { FillGroupRow, FillRow } from '../../fills/fills.sql.js';
import { allFills, type FillFilter, type Page, timeRangeOf } from '../../fills/filter.js';
import { directionOf, signedRoleOf } from '../../fills/legs.js';
import { formatCursor, type LogPosition, type LogPositionRow, parseCursor } from '../../fills/log-position.js';
import { type RowPage, readSnapshotPage } from '../../fills/read-page.js';
import type { TokenTitle } from '../../fills/titles.js';
import { marketAliases, timeRangeAliases } from '../../http/aliases.js';
import { usdParam } from '../../http/chain-params.js';
import { priceDocs } from '../../http/field-docs.js';
import { named } from '../../http/named-params.js';
import { parsedText } from '../../http/params.js';
import { defineRoute, type Route } from '../../http/route.js';
import type { SnapshotOffset } from '../../pagination/cursor.js';
import type { Readers } from '../../readers.js';
import { exampleFill, exampleTitle } from '../v3/trades/examples.js';
import { common, selectors, tokensOfMarket, v2 } from './params.js';
import { direction, outcomeFields, outcomeFieldsFrom, role } from './serialize.js';

const GROUPED_SOURCE = 'onchain-v2-grouped' as const;
const DAY_S = 86_400;
const MAX_ROWS = 500;
const text = z.string().nullable();

/** Start of a page: after a fill; or, for rows without chain order, an offset into the list as of a fill. */
type PageStart = { readonly beyond: LogPosition } | SnapshotOffset;

const pageKey = parsedText<PageStart>(
  {
    parse(given) {
      const [cursor = '', offset] = given.split('~');
      const position = parseCursor(cursor);
      if (position === null) return undefined;
      if (offset === undefined) return { beyond: position };
      return /^\d{1,7}$/.test(offset) ? { atMost: position, offset: Number(offset) } : undefined;
    },
    invalid: 'Invalid pagination_key',
  },
  { type: 'string', description: '`pagination.pagination_key` of the previous page. Opaque.' },
);

const byOrder = (name: string, description: string) => named.choice(name, ['order_hash'], description).optional();

const query = z.object({
  ...selectors,
  start_time: v2.time('start_time', 'Start of the range, Unix seconds.').optional(),
  end_time: v2.time('end_time', 'End of the range, Unix seconds.').optional(),
  min_total: usdParam({ description: 'Minimum USD amount of a fill.', invalid: 'Invalid min_total' }).optional(),
  limit: v2.limit(MAX_ROWS),
  order: v2.order,
  sort_by: byOrder('sort_by', 'Fills of one order next to each other.'),
  group_by: byOrder('group_by', 'One row per order.'),
  pagination_key: pageKey.optional(),
});

const titleFields = {
  market: text,
  market_slug: text,
  outcome: text,
  image: text,
  ...outcomeFields,
};
const titleOf = (row: FillRow, title: TokenTitle) => ({
  market: title.market,
  market_slug: title.slug,
  outcome: title.outcome,
  image: title.image,
  ...outcomeFieldsFrom(row, title),
});

const tradeSchema = z.object({
  timestamp: z.int(),
  tx_hash: z.string(),
  order_hash: z.string(),
  maker: z.string(),
  taker: z.string(),
  token_id: z.string(),
  price: z.number().describe(priceDocs.fill),
  amount_usd: z.number().meta({ description: '2 decimals.' }),
  fee_usd: z.number().meta({ description: '2 decimals.' }),
  shares: z.number(),
  side: role,
  direction,
  counterparty: counterpartyField,
  ...titleFields,
});
const orderSchema = z.object({
  order_hash: z.string(),
  fill_count: z.int(),
  total_amount_usd: z.number(),
  total_shares: z.number(),
  avg_price: z.number().describe(priceDocs.order),
  total_fee_usd: z.number(),
  first_fill_at: z.int(),
  last_fill_at: z.int(),
  timestamp: z.int(),
  token_id: z.string(),
  maker: z.string(),
  side: role,
  direction,
  ...titleFields,
  tx_hashes: z.array(z.string()),
});
const pagination = z.object({ limit: z.int(), has_more: z.boolean(), pagination_key: z.string().optional() });

const CENT = 10_000n;
/** USD of base units, rounded to cents. */
const cents = (units: string): number => moneyToNumber(divide(BigInt(units), CENT, 'half_up'), 2);

function tradeFrom(row: FillRow, title: TokenTitle): z.input<typeof tradeSchema> {
  return {
    timestamp: Number(row.timestamp),
    tx_hash: row.tx_hash,
    order_hash: row.order_hash,
    maker: row.maker,
    taker: row.taker,
    token_id: row.token_id,
    price: priceNumber(BigInt(row.usdc), BigInt(row.shares)) ?? 0,
    amount_usd: cents(row.usdc),
    fee_usd: cents(row.fee),
    shares: moneyToNumber(BigInt(row.shares)),
    side: row.role,
    direction: directionOf(row),
    ...counterpartyFlag(row),
    ...titleOf(row, title),
  };
}

function orderFrom(row: FillGroupRow, title: TokenTitle, ofWallet: boolean): z.input<typeof orderSchema> {
  return {
    order_hash: row.order_hash,
    fill_count: Number(row.fill_count),
    total_amount_usd: cents(row.usdc),
    total_shares: moneyToNumber(BigInt(row.shares)),
    avg_price: priceNumber(BigInt(row.usdc), BigInt(row.shares)) ?? 0,
    total_fee_usd: cents(row.fee),
    first_fill_at: Number(row.first_fill_at),
    last_fill_at: Number(row.timestamp),
    timestamp: Number(row.timestamp),
    token_id: row.token_id,
    maker: row.maker,
    // The rows are those of the wallet's own orders, with the role of their signer.
    side: ofWallet ? signedRoleOf(row) : row.role,
    direction: directionOf(row),
    ...titleOf(row, title),
    tx_hashes: [...row.tx_hashes],
  };
}

/** GET /v2/onchain/trades: fills by any filter. */
export function createOnchainTradesRoute(readers: Readers): Route {
  const { fills, withTitles } = readers;

  const filterOf = async (given: z.output<typeof query>, nowMs: number): Promise<FillFilter> => {
    const selected = [given.wallet, given.market_slug, given.condition_id, given.token_id].some(
      (value) => value !== undefined,
    );
    const timed = given.start_time !== undefined || given.end_time !== undefined;
    const filtered = selected || timed || given.min_total !== undefined;
    if (given.order === 'asc' && !filtered) throw badParameter('order=asc requires at least one filter');
    const lists = [
      given.token_id === undefined ? null : [given.token_id],
      await tokensOfMarket(readers, 'market_slug', given),
      await tokensOfMarket(readers, 'condition_id', given),
    ].filter((list) => list !== null);
    const [first, ...rest] = lists;
    return {
      ...allFills,
      wallets: given.wallet === undefined ? null : [given.wallet],
      role: given.wallet !== undefined && given.group_by !== undefined ? 'maker' : null,
      tokenIds: first === undefined ? null : first.filter((id) => rest.every((list) => list.includes(id))),
      ...timeRangeOf(given.start_time, given.end_time),
      ...(filtered ? {} : { afterS: Math.floor(nowMs / 1000) - DAY_S }),
      minUsdc: given.min_total ?? null,
    };
  };

  return defineRoute({
    ...common,
    path: '/v2/onchain/trades',
    reads: ['fills', 'catalog'],
    summary: 'Fills by any filter',
    description:
      'Without a filter: the last 24 hours. The subject of `side` and `direction` is the wallet if given, else the maker. New rows do not shift the pages of `pagination_key`.',
    query,
    aliases: { ...timeRangeAliases('start_time', 'end_time'), ...marketAliases('market_slug'), min_usd: 'min_total' },
    success: {
      description: 'A page of fills, or of orders when grouped',
      schema: z.union([
        z.object({ count: z.int(), source: z.literal(GROUPED_SOURCE), pagination, trades: z.array(orderSchema) }),
        z.object({ count: z.int(), pagination, trades: z.array(tradeSchema) }),
      ]),
      example: {
        count: 1,
        pagination: { limit: 1, has_more: true, pagination_key: '91000001-77' },
        trades: [tradeFrom(exampleFill, exampleTitle)],
      },
    },
    async handler({ query: given }, context) {
      const key = given.pagination_key;
      const open = await filterOf(given, context.nowMs);
      const ordered = given.sort_by === undefined && given.group_by === undefined;
      if (key !== undefined && 'beyond' in key !== ordered) throw badParameter('Invalid pagination_key');
      const page = { order: given.order, limit: given.limit, offset: 0 };
      const envelope = (rows: number, next: string | null) => ({
        count: rows,
        pagination: {
          limit: given.limit,
          has_more: next !== null,
          ...(next === null ? {} : { pagination_key: next }),
        },
      });
      if (ordered) {
        const filter = { ...open, beyond: key !== undefined && 'beyond' in key ? key.beyond : null };
        const { rows, next } = await fills.fills(filter, page);
        return {
          body: {
            ...envelope(rows.length, next === null ? null : formatCursor(next)),
            trades: await withTitles(rows, tradeFrom),
          },
        };
      }
      const start = key !== undefined && 'atMost' in key ? key : null;
      const snapshotPage = async <Row extends LogPositionRow>(
        load: (filter: FillFilter, at: Page) => Promise<RowPage<Row>>,
      ) => {
        const { rows, next } = await readSnapshotPage({ fills, filter: open, page, start, load });
        const nextKey = next === null ? null : `${formatCursor(next.atMost)}~${next.offset}`;
        return { rows, fields: envelope(rows.length, nextKey) };
      };
      if (given.group_by === undefined) {
        const { rows, fields } = await snapshotPage(fills.fillsByOrder);
        return { body: { ...fields, trades: await withTitles(rows, tradeFrom) } };
      }
      const { rows, fields } = await snapshotPage((filter, at) => fills.groups(filter, at, 'order_hash'));
      const trades = await withTitles(rows, (row, title) => orderFrom(row, title, given.wallet !== undefined));
      return { body: { ...fields, source: GROUPED_SOURCE, trades } };
    },
  });
}
