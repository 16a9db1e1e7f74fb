import { canonicalDecimal, isDecimal, priceUnits } from './decimal.js';

export type BookSide = 'BUY' | 'SELL';

/** A price level with the texts as the venue sent them. */
export interface BookLevel {
  readonly price: string;
  readonly size: string;
}

/** Levels of one side at most; the venue has 10,000 ticks. */
export const MAX_LEVELS_PER_SIDE = 10_000;

/** A change of a level: its new size as text, null if it was removed. */
export interface LevelChange {
  readonly side: BookSide;
  readonly price: string;
  readonly size: string | null;
}

export interface OrderBook {
  /** Replaces all levels. Returns false, and changes nothing, if a level is invalid, repeated or there are too many. */
  replace(bids: readonly BookLevel[], asks: readonly BookLevel[]): boolean;
  /** Sets the size of a level; a size of zero removes it. `null`: nothing changed; `invalid`: no price or size. */
  set(side: BookSide, price: string, size: string): LevelChange | null | 'invalid';
  /** Best first: bids descending. */
  bids(): readonly BookLevel[];
  /** Best first: asks ascending. */
  asks(): readonly BookLevel[];
  bestBid(): BookLevel | null;
  bestAsk(): BookLevel | null;
  isEmpty(): boolean;
}

interface Entry extends BookLevel {
  readonly units: number;
}

/** Position of the price in a list in ascending order, or where it belongs. */
function search(levels: readonly Entry[], units: number): number {
  let [low, high] = [0, levels.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((levels[middle] as Entry).units < units) low = middle + 1;
    else high = middle;
  }
  return low;
}

function sorted(levels: readonly BookLevel[]): Entry[] | null {
  if (levels.length > MAX_LEVELS_PER_SIDE) return null;
  const entries: Entry[] = [];
  for (const { price, size } of levels) {
    const units = priceUnits(price);
    if (units === null || !isDecimal(size)) return null;
    if (canonicalDecimal(size) !== '0') entries.push({ price, size, units });
  }
  entries.sort((a, b) => a.units - b.units);
  return entries.some(({ units }, i) => i > 0 && entries[i - 1]?.units === units) ? null : entries;
}

/** The book of one token. Both sides are lists in ascending order of price. */
export function createOrderBook(): OrderBook {
  let [bids, asks]: [Entry[], Entry[]] = [[], []];
  return {
    replace(newBids, newAsks) {
      const [first, second] = [sorted(newBids), sorted(newAsks)];
      if (first === null || second === null) return false;
      [bids, asks] = [first, second];
      return true;
    },
    set(side, price, size) {
      const units = priceUnits(price);
      if (units === null || !isDecimal(size)) return 'invalid';
      const levels = side === 'BUY' ? bids : asks;
      const at = search(levels, units);
      const present = levels[at]?.units === units ? levels[at] : undefined;
      if (canonicalDecimal(size) === '0') {
        if (present === undefined) return null;
        levels.splice(at, 1);
        return { side, price, size: null };
      }
      if (present !== undefined) {
        if (present.size === size && present.price === price) return null;
        levels[at] = { price, size, units };
        return canonicalDecimal(present.size) === canonicalDecimal(size) ? null : { side, price, size };
      }
      if (levels.length >= MAX_LEVELS_PER_SIDE) return 'invalid';
      levels.splice(at, 0, { price, size, units });
      return { side, price, size };
    },
    bids: () => bids.map(({ price, size }) => ({ price, size })).reverse(),
    asks: () => asks.map(({ price, size }) => ({ price, size })),
    bestBid: () => bids.at(-1) ?? null,
    bestAsk: () => asks[0] ?? null,
    isEmpty: () => bids.length === 0 && asks.length === 0,
  };
}
