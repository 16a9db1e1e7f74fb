import { z } from 'zod';
import { formatMoney } from '../../../schemas/primitives/money.js';
import { sideDocs } from '../../http/field-docs.js';
import { defineRoute, type Route } from '../../http/route.js';
import {
  bookLevels,
  bookPriceFields,
  bookPricesOf,
  bookStateFields,
  bookStateOf,
  exampleBookPrices,
  exampleBookState,
  exampleLevels,
} from '../../order-books/fields.js';
import type { OrderBookReader } from '../../order-books/reader.js';
import type { Readers } from '../../readers.js';
import { exampleVolume } from '../../volumes/examples.js';
import { readTokenVolume, type TokenVolume } from '../../volumes/reader.js';
import { exampleFill, exampleTitle } from '../v3/trades/examples.js';
import { clob, common } from './params.js';
import { amountText, FIRST_VERSION, SOURCE, titleFields, titleOf } from './serialize.js';

const count = z.string().meta({ description: 'Whole number, as text.' });
const decimal = z.string().meta({ description: 'Decimal text.' });
const baseUnits = z.string().meta({ description: 'USDC in base units (6 decimals).' });
/** Levels per side; /v1/orderbook has the whole book. */
const LEVELS = 50;
/** The sums appear twice: under the names of this API group and under those of the venue's public index. */
const rollupSchema = z.object({
  total_trades: count,
  buys: count.describe(`${sideDocs.buys} Whole number, as text.`),
  sells: count.describe(`${sideDocs.sells} Whole number, as text.`),
  volume_usdc: decimal,
  buy_volume_usdc: decimal.describe(`${sideDocs.buyUsd} Decimal text.`),
  sell_volume_usdc: decimal.describe(`${sideDocs.sellUsd} Decimal text.`),
  volume_shares: decimal,
  trades_quantity: count,
  buys_quantity: count.describe(`${sideDocs.buys} Whole number, as text.`),
  sells_quantity: count.describe(`${sideDocs.sells} Whole number, as text.`),
  collateral_volume: baseUnits,
  scaled_collateral_volume: decimal,
  collateral_buy_volume: baseUnits.describe(sideDocs.buyUnits),
  scaled_collateral_buy_volume: decimal.describe(`${sideDocs.buyUsd} Decimal text.`),
  collateral_sell_volume: baseUnits.describe(sideDocs.sellUnits),
  scaled_collateral_sell_volume: decimal.describe(`${sideDocs.sellUsd} Decimal text.`),
  ...titleFields,
  order_book: z
    .object({ bids: bookLevels, asks: bookLevels, ...bookPriceFields, ...bookStateFields })
    .nullable()
    .meta({ description: `The best ${LEVELS} levels per side of the newest book.` }),
});

const sumsFrom = (sums: TokenVolume) => ({
  total_trades: String(sums.trades),
  buys: String(sums.buys),
  sells: String(sums.sells),
  volume_usdc: amountText(sums.usdc),
  buy_volume_usdc: amountText(sums.buyUsdc),
  sell_volume_usdc: amountText(sums.sellUsdc),
  volume_shares: amountText(sums.shares),
  trades_quantity: String(sums.trades),
  buys_quantity: String(sums.buys),
  sells_quantity: String(sums.sells),
  collateral_volume: sums.usdc.toString(),
  scaled_collateral_volume: formatMoney(sums.usdc),
  collateral_buy_volume: sums.buyUsdc.toString(),
  scaled_collateral_buy_volume: formatMoney(sums.buyUsdc),
  collateral_sell_volume: sums.sellUsdc.toString(),
  scaled_collateral_sell_volume: formatMoney(sums.sellUsdc),
});

/** GET /clobv2/markets/{token_id}/orderbook: volume sums of a token's matches, and its live book. */
export function createClobOrderbook(readers: Readers, orderBooks: OrderBookReader): Route {
  return defineRoute({
    ...common,
    path: '/clobv2/markets/{token_id}/orderbook',
    summary: 'Matched volume and order book of an outcome token',
    description:
      'Volume sums as text. Each match counts once, by the side of its maker. Every sum also has the field name of the venue’s public index. `order_book` has the best levels of the live book, null for a token whose book is not read.',
    params: z.object({ token_id: clob.tokenId }),
    success: {
      description: 'The sums; only `token_id`, `source` and `found: false` for an unknown token',
      schema: rollupSchema.partial().extend({
        token_id: z.string(),
        source: z.literal(SOURCE),
        found: z.boolean(),
      }),
      example: {
        token_id: exampleFill.token_id,
        source: SOURCE,
        found: true,
        ...sumsFrom(exampleVolume),
        ...titleOf(exampleTitle),
        order_book: { ...exampleLevels, ...exampleBookPrices, ...exampleBookState },
      },
    },
    async handler({ params: { token_id } }, { nowMs }) {
      const [sums, book] = await Promise.all([
        readTokenVolume(readers.tables, token_id, FIRST_VERSION),
        orderBooks(token_id, LEVELS),
      ]);
      const found = sums.trades > 0 || book !== null;
      const common = { token_id, source: SOURCE, found };
      if (!found) return { body: common };
      const title = await readers.titleOf(token_id);
      const order_book =
        book === null
          ? null
          : { bids: [...book.bids], asks: [...book.asks], ...bookPricesOf(book), ...bookStateOf(book, nowMs) };
      return { body: { ...common, ...sumsFrom(sums), ...titleOf(title), order_book } };
    },
  });
}
