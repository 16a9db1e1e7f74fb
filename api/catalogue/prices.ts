import { moneyToNumber, ratio } from '../../schemas/primitives/money.js';
import type { Tables } from '../tables/port.js';
import { boolFrom } from '../tables/values.js';
import type { Condition } from './conditions.js';
import type { Lookup } from './held-lookup.js';
import { type LastPriceRow, lastPricesSql, type MarketRow } from './markets.sql.js';

export type PriceSource = 'settlement' | 'clob_mid' | 'v1_condition' | 'last_fill';

export interface TokenPrice {
  /** USD per share; 0 where nothing is known. */
  readonly price: number;
  readonly resolved: boolean;
  readonly source: PriceSource | null;
  /** Of a settlement or fill; the catalogue does not tell when its prices are of. */
  readonly updatedAtS: number | null;
}

const unpriced: TokenPrice = { price: 0, resolved: false, source: null, updatedAtS: null };
const PLACES = 1e6;
const rounded = (price: number): number => Math.round(price * PLACES) / PLACES;

/** A price the catalogue states for an outcome; null where it states none. */
function stated(market: MarketRow, index: number): Omit<TokenPrice, 'resolved' | 'updatedAtS'> | null {
  const { best_bid: bid, best_ask: ask } = market;
  if (!boolFrom(market.closed) && bid !== null && ask !== null && bid > 0 && ask >= bid) {
    // Quotes are of the first outcome; the second is its complement.
    const mid = (bid + ask) / 2;
    return { price: rounded(index === 0 ? mid : 1 - mid), source: 'clob_mid' };
  }
  const text = market.outcome_prices[index];
  const price = text === undefined || text === '' ? Number.NaN : Number(text);
  return Number.isFinite(price) ? { price: rounded(price), source: 'v1_condition' } : null;
}

/** Settlement first, then the middle of the book, then the catalogue's price, then the newest fill. */
export function priceOf(
  place: { readonly market: MarketRow | null; readonly index: number },
  condition: Condition | null,
  lastFill: LastPriceRow | undefined,
): TokenPrice {
  const resolution = condition?.resolution ?? null;
  const payout = resolution?.payouts[place.index];
  if (resolution !== null && payout !== undefined) {
    const price = ratio(payout, resolution.denominator, 6);
    if (price !== null) {
      return {
        price: moneyToNumber(price),
        resolved: true,
        source: 'settlement',
        updatedAtS: resolution.resolvedAtS,
      };
    }
  }
  const catalogued = place.market === null ? null : stated(place.market, place.index);
  if (catalogued !== null) return { ...catalogued, resolved: false, updatedAtS: null };
  const price = lastFill === undefined ? null : ratio(BigInt(lastFill.usdc), BigInt(lastFill.shares), 6);
  if (lastFill === undefined || price === null) return unpriced;
  return { price: moneyToNumber(price), resolved: false, source: 'last_fill', updatedAtS: Number(lastFill.at) };
}

/** The price of one token, given its market. */
export async function readPrice(
  deps: { readonly tables: Tables; readonly conditionsOf: Lookup<Condition> },
  tokenId: string,
  market: MarketRow | null,
): Promise<TokenPrice> {
  const conditions = market === null ? null : await deps.conditionsOf([market.condition_id]);
  const condition = market === null ? null : (conditions?.get(market.condition_id) ?? null);
  const place = { market, index: market === null ? 0 : market.tokens.indexOf(tokenId) };
  const known = priceOf(place, condition, undefined);
  if (known.source !== null) return known;
  const [lastFill] = await deps.tables.rows<LastPriceRow>(lastPricesSql([tokenId]));
  return priceOf(place, condition, lastFill);
}
