import { z } from 'zod';
import { MAX_LEVELS_PER_SIDE } from '../../../schemas/order-book/book.js';
import { notFound } from '../../errors/failure.js';
import { tokenIdParam } from '../../http/chain-params.js';
import { integerParam } from '../../http/params.js';
import { defineRoute, notFoundResponse, type Route } from '../../http/route.js';
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
import type { OrderBookReader, OrderBookView } from '../../order-books/reader.js';
import type { Readers } from '../../readers.js';
import { v1Route } from '../v1-route.js';
import { exampleFill, exampleTitle } from '../v3/trades/examples.js';

const common = {
  ...v1Route,
  tag: 'Order books',
  otherResponses: notFoundResponse('No book of this token was read within the last day', 'No order book of this token'),
} as const;
const params = z.object({ token: tokenIdParam({ invalid: 'Invalid token id. Use 1 to 78 digits, below 2^256' }) });
const depth = integerParam({
  description: `Levels per side, best first. Default and maximum ${MAX_LEVELS_PER_SIDE}: the whole book.`,
  invalid: `Invalid depth. Use a whole number, 1 to ${MAX_LEVELS_PER_SIDE}`,
  min: 1,
  max: MAX_LEVELS_PER_SIDE,
}).default(MAX_LEVELS_PER_SIDE);
const TRUST =
  'Books are read from the venue for its most active open markets, and compared after every change with the hash that the venue sends of the whole book.';

const bookSchema = z.object({
  market: z.string().nullable().meta({ description: 'Condition id.' }),
  asset_id: z.string().meta({ description: 'Token id, decimal.' }),
  slug: z.string().nullable(),
  question: z.string().nullable(),
  outcome: z.string().nullable(),
  timestamp: z.string().meta({ description: 'updated_at in Unix milliseconds, as text.' }),
  hash: z.string().nullable().meta({ description: "The venue's hash of the book; null if it sent none." }),
  bids: bookLevels,
  asks: bookLevels,
  bid_levels: z.int().meta({ description: 'Levels of the whole book.' }),
  ask_levels: z.int().meta({ description: 'Levels of the whole book.' }),
  tick_size: z.string().nullable(),
  last_trade_price: z.string().nullable().meta({
    description: 'Price of the newest fill that the venue reported, on its tick; null before the first one seen.',
  }),
  ...bookPriceFields,
  ...bookStateFields,
});

/** GET /v1/orderbook, /v1/midpoint and /v1/spread of an outcome token, in the field names of the venue with the state of the book added. */
export function createOrderBookRoutes({ titleOf }: Readers, orderBooks: OrderBookReader): readonly Route[] {
  const read = async (token: string, levels: number): Promise<OrderBookView> => {
    const book = await orderBooks(token, levels);
    if (book === null) throw notFound('No order book of this token');
    return book;
  };

  const orderBook = defineRoute({
    ...common,
    path: '/v1/orderbook/{token}',
    summary: 'Order book of an outcome token',
    description: `${TRUST} Levels are about three seconds behind the venue.`,
    params,
    query: z.object({ depth }),
    success: {
      description: 'The newest book',
      schema: bookSchema,
      example: {
        market: exampleTitle.conditionId,
        asset_id: exampleFill.token_id,
        slug: exampleTitle.slug,
        question: exampleTitle.market,
        outcome: exampleTitle.outcome,
        timestamp: '1790000122981',
        hash: 'c2d5f5e8e0c1ff6bd1c1d0a2b7b0c7b1f0f3a2d1',
        ...exampleLevels,
        bid_levels: 2,
        ask_levels: 1,
        tick_size: '0.01',
        last_trade_price: '0.42',
        ...exampleBookPrices,
        ...exampleBookState,
      },
    },
    async handler({ params: { token }, query }, { nowMs }) {
      const [book, title] = await Promise.all([read(token, query.depth), titleOf(token)]);
      return {
        body: {
          market: book.conditionId === '' ? title.conditionId : book.conditionId,
          asset_id: book.tokenId,
          slug: title.slug,
          question: title.market,
          outcome: title.outcome,
          timestamp: String(book.updatedMs),
          hash: book.hash,
          bids: [...book.bids],
          asks: [...book.asks],
          bid_levels: book.bidCount,
          ask_levels: book.askCount,
          tick_size: book.tickSize,
          last_trade_price: book.lastTradePrice,
          ...bookPricesOf(book),
          ...bookStateOf(book, nowMs),
        },
      };
    },
  });

  const number = (path: '/v1/midpoint/{token}' | '/v1/spread/{token}', field: 'mid' | 'spread', summary: string) =>
    defineRoute({
      ...common,
      path,
      summary,
      description: `${TRUST} null where the book has no level on a side.`,
      params,
      success: {
        description: summary,
        schema: z.object({ [field]: bookPriceFields[field], token_id: z.string(), ...bookStateFields }),
        example: { [field]: exampleBookPrices[field], token_id: exampleFill.token_id, ...exampleBookState },
      },
      async handler({ params: { token } }, { nowMs }) {
        const book = await read(token, 0);
        return { body: { [field]: book[field], token_id: book.tokenId, ...bookStateOf(book, nowMs) } as never };
      },
    });

  return [
    orderBook,
    number('/v1/midpoint/{token}', 'mid', 'Middle of best bid and best ask'),
    number('/v1/spread/{token}', 'spread', 'Best ask minus best bid'),
  ];
}
