import { createHash } from 'node:crypto';
import type { OrderBook } from './book.js';

/** Keys that the venue's hash covers besides the six of 2024: the set grew, and not strictly by date. */
export const hashKeySets = ['ten', 'nine', 'six'] as const;
export type HashKeySet = (typeof hashKeySets)[number];

/** What a book says about itself besides its levels, with the venue's own texts. */
export interface HashFacts {
  readonly market: string;
  readonly assetId: string;
  /** Unix milliseconds as text, of the message with the hash. */
  readonly timestamp: string;
  readonly minOrderSize: string;
  readonly tickSize: string;
  readonly negRisk: boolean;
  /** Empty before the first trade. The complementary token has the same text. */
  readonly lastTradePrice: string;
}

/**
 * The venue's hash of a whole book: SHA-1, in hexadecimal, of compact JSON with its keys in this order. Bids and asks end with the best level, as the venue
 * sends them.
 */
export function venueHash(book: Pick<OrderBook, 'bids' | 'asks'>, facts: HashFacts, keySet: HashKeySet): string {
  const text = JSON.stringify({
    market: facts.market,
    asset_id: facts.assetId,
    timestamp: facts.timestamp,
    hash: '',
    bids: [...book.bids()].reverse(),
    asks: [...book.asks()].reverse(),
    ...(keySet === 'six'
      ? {}
      : { min_order_size: facts.minOrderSize, tick_size: facts.tickSize, neg_risk: facts.negRisk }),
    ...(keySet === 'ten' ? { last_trade_price: facts.lastTradePrice } : {}),
  });
  return createHash('sha1').update(text, 'utf8').digest('hex');
}

/** Facts that are not certain, most likely value first. */
export interface UncertainFacts {
  readonly minOrderSizes: readonly string[];
  readonly tickSizes: readonly string[];
  readonly negRisks: readonly boolean[];
  readonly lastTradePrices: readonly string[];
}

/** A combination of facts under which a hash agreed. */
export interface HashVariant {
  readonly keySet: HashKeySet;
  readonly minOrderSize: string;
  readonly tickSize: string;
  readonly negRisk: boolean;
  readonly lastTradePrice: string;
}

/** Trade prices that are combined with all other facts; the rest only with what agreed before. */
const COMBINED_PRICES = 2;

const distinct = <T>(values: readonly T[]): readonly T[] => [...new Set(values)];

/** All combinations that differ in what the key set covers, most likely first. */
function* variants(facts: UncertainFacts): Generator<HashVariant> {
  const [minOrderSize = '', tickSize = ''] = [facts.minOrderSizes[0], facts.tickSizes[0]];
  const [negRisk = false] = facts.negRisks;
  const prices = distinct([...facts.lastTradePrices.slice(0, COMBINED_PRICES), '']);
  for (const keySet of hashKeySets) {
    if (keySet === 'six') {
      yield { keySet, minOrderSize, tickSize, negRisk, lastTradePrice: '' };
      continue;
    }
    for (const size of distinct(facts.minOrderSizes))
      for (const tick of distinct(facts.tickSizes))
        for (const risk of distinct(facts.negRisks))
          for (const price of keySet === 'ten' ? prices : [''])
            yield { keySet, minOrderSize: size, tickSize: tick, negRisk: risk, lastTradePrice: price };
  }
}

/**
 * The combination of facts under which the book has the expected hash, or null: the book then differs from the venue's. `remembered`: what agreed before for this
 * market, tried first with the possible last trade prices.
 */
export function verifyVenueHash(
  book: Pick<OrderBook, 'bids' | 'asks'>,
  of: { readonly market: string; readonly assetId: string; readonly timestamp: string; readonly hash: string },
  facts: UncertainFacts,
  remembered: HashVariant | null,
  /** `remembered`: nothing else is tried, for a book that probably differs: all combinations cost over 100 hashes. */
  search: 'all' | 'remembered' = 'all',
): HashVariant | null {
  const agrees = (variant: HashVariant) => venueHash(book, { ...of, ...variant }, variant.keySet) === of.hash;
  if (remembered !== null) {
    const prices = distinct([...facts.lastTradePrices, remembered.lastTradePrice]);
    for (const tickSize of distinct([remembered.tickSize, ...facts.tickSizes]))
      for (const lastTradePrice of tickSize === remembered.tickSize ? prices : prices.slice(0, COMBINED_PRICES)) {
        const variant = { ...remembered, lastTradePrice, tickSize };
        if (agrees(variant)) return variant;
      }
  }
  if (search === 'remembered') return null;
  for (const variant of variants(facts)) if (agrees(variant)) return variant;
  return null;
}
