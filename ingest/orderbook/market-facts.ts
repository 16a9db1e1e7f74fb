import type { HashVariant, UncertainFacts } from '../../schemas/order-book/venue-hash.js';

/** What the venue's hash covers besides the levels, as far as it is known; texts as the venue sends them. Shared by the tokens of a market. */
export interface MarketFacts {
  readonly market: string;
  minOrderSize: string | null;
  tickSize: string | null;
  /** Time of the message that named it. */
  tickSizeMs: number;
  /** Before the last change. */
  previousTickSize: string | null;
  negRisk: boolean | null;
  /** Newest first; empty before the first trade. Several trades may pass before a group of changes ends whose hash has the price of the first. */
  tradePrices: readonly string[];
  /** What agreed last. */
  remembered: HashVariant | null;
}

/** Prices of trades that are tried for a hash. */
const MAX_TRADE_PRICES = 16;
const COMMON_MIN_ORDER_SIZES = ['5', '1', '15'];
const TICK_SIZES = ['0.01', '0.001', '0.0001', '0.1'];

export function createMarketFacts(
  market: string,
  known: { readonly minOrderSize?: number | null; readonly tickSize?: number | null; readonly negRisk?: boolean } = {},
): MarketFacts {
  const text = (value: number | null | undefined) => (value === null || value === undefined ? null : String(value));
  return {
    market,
    minOrderSize: text(known.minOrderSize),
    tickSize: text(known.tickSize),
    tickSizeMs: 0,
    previousTickSize: null,
    negRisk: known.negRisk ?? null,
    tradePrices: [],
    remembered: null,
  };
}

const known = <T>(value: T | null): readonly T[] => (value === null ? [] : [value]);

/** All values that each fact may have, most likely first. */
export function possibleFacts(facts: MarketFacts): UncertainFacts {
  const negRisk = facts.negRisk ?? false;
  return {
    minOrderSizes: [...known(facts.minOrderSize), ...COMMON_MIN_ORDER_SIZES],
    tickSizes: [...known(facts.tickSize), ...known(facts.previousTickSize), ...TICK_SIZES],
    negRisks: [negRisk, !negRisk],
    lastTradePrices: [...facts.tradePrices, ''],
  };
}

export function recordTradePrice(facts: MarketFacts, price: string): void {
  if (price === facts.tradePrices[0]) return;
  facts.tradePrices = [price, ...facts.tradePrices.filter((one) => one !== price)].slice(0, MAX_TRADE_PRICES);
}

/** A fetched book may be older than a change of the tick size that has come meanwhile. */
export function recordTickSize(facts: MarketFacts, tickSize: string, timestampMs: number): void {
  if (timestampMs < facts.tickSizeMs) return;
  facts.tickSizeMs = timestampMs;
  if (tickSize === facts.tickSize) return;
  facts.previousTickSize = facts.tickSize;
  facts.tickSize = tickSize;
}
