import { z } from 'zod';
import { isoFrom } from '../tables/values.js';
import { type OrderBookView, staleReasons } from './reader.js';

const decimal = (description: string) => z.string().nullable().meta({ description });

/** Response fields that say how far a book can be trusted. */
export const bookStateFields = {
  verified: z.boolean().meta({
    description: "The book has the venue's own SHA-1 of the whole book. false: do not rely on it; see reason.",
  }),
  verified_since: z.string().meta({ description: 'Since when verified has its value, ISO 8601 UTC.' }),
  reason: z.string().nullable().meta({
    description:
      'Why the book is not verified (e.g. hash_mismatch, silent, records_missing), or why it was requested from the venue again.',
  }),
  stale: z.boolean().meta({ description: 'The book may have changed since updated_at.' }),
  stale_reason: z.enum(staleReasons).nullable().meta({
    description:
      'not_followed: its market is no longer read, or no record for five minutes. feed_*: state of the order book source; feed_silent also if it was restarted and has not sent the book yet. table_behind: the table lacks what the source has received in the last 15 seconds or more.',
  }),
  synthetic: z
    .boolean()
    .meta({ description: 'Made around recorded trades, because no venue is configured: not a book of the venue.' }),
  updated_at: z.string().meta({ description: "The venue's time of the newest change, ISO 8601 UTC." }),
  age_seconds: z.number().meta({ description: 'Seconds since updated_at.' }),
};

export const bookPriceFields = {
  best_bid: decimal('USD per share; null without bids.'),
  best_ask: decimal('USD per share; null without asks.'),
  mid: decimal('Middle of best_bid and best_ask; null unless both exist and the bid is lower.'),
  spread: decimal('best_ask minus best_bid; null where mid is.'),
};

export const bookLevels = z
  .array(
    z.object({
      price: z.string().meta({ description: 'Tick at which the orders of the level rest, USD per share.' }),
      size: z.string().meta({ description: 'Shares on offer.' }),
    }),
  )
  .meta({ description: 'Price in USD per share and shares, as decimal text; best price first.' });

export const bookStateOf = (book: OrderBookView, nowMs: number) => ({
  verified: book.verified,
  verified_since: isoFrom(book.verifiedSinceMs) as string,
  reason: book.reason,
  stale: book.stale !== null,
  stale_reason: book.stale,
  synthetic: book.synthetic,
  updated_at: isoFrom(book.updatedMs) as string,
  age_seconds: Math.max(0, Math.round((nowMs - book.updatedMs) / 100) / 10),
});
export const bookPricesOf = ({ bestBid, bestAsk, mid, spread }: OrderBookView) => ({
  best_bid: bestBid,
  best_ask: bestAsk,
  mid,
  spread,
});

/** Examples of the OpenAPI document. */
export const exampleBookState = {
  verified: true,
  verified_since: '2026-09-21T14:02:11.402Z',
  reason: null,
  stale: false,
  stale_reason: null,
  synthetic: false,
  updated_at: '2026-09-21T14:15:22.981Z',
  age_seconds: 1.4,
};
export const exampleBookPrices = { best_bid: '0.41', best_ask: '0.43', mid: '0.42', spread: '0.02' };
export const exampleLevels = {
  bids: [
    { price: '0.41', size: '1200' },
    { price: '0.4', size: '350.5' },
  ],
  asks: [{ price: '0.43', size: '800' }],
};
