import type { Facts } from '../catalogue/facts.js';
import type { Lookup } from '../catalogue/held-lookup.js';
import type { ClosesReader } from './closes.js';
import { marksOf, settlementOf } from './marks.js';
import type { Price } from './position.js';
import { type Grid, momentOf } from './series.sql.js';

/** What a token was worth at the moments of a grid, and is now. */
export interface PriceLine {
  /** A moment and the price from it on, 1e-6 USD, in turn; null where it was not asked for, as the token had been settled before. */
  readonly marks: readonly number[] | null;
  /** Unix seconds, and what it pays since, 1e-6 USD; null while it is open at the end of the grid. */
  readonly settled: { readonly atS: number; readonly price: bigint } | null;
  /** null where nothing is known. */
  readonly now: bigint | null;
}

/** Lines of tokens. `heldFrom`: tokens, and the moment of the grid from which their prices count. Nothing in a line is older than LINES_S. */
export type PriceLines = (grid: Grid, heldFrom: ReadonlyMap<string, number>) => Promise<ReadonlyMap<string, PriceLine>>;

/** How long a line is held, in seconds. */
export const LINES_S = 15;
const HOUR_S = 3_600;
/** Grids of one hour, spacing and length, of which lines are held: the periods that are asked for. */
const MAX_GRIDS = 3;
/** Of the lines of a grid: some 10 MB. */
const MAX_NUMBERS = 1_200_000;
/** What a line takes besides its marks, in numbers. */
const LINE_NUMBERS = 16;

interface Held {
  readonly untilMs: number;
  readonly lines: Map<string, PriceLine>;
  numbers: number;
}

/**
 * Hours are closed on the hour, so that the marks of all grids that begin within one are the same: wallets share them. Putting a line together takes ten times as
 * long as following it.
 */
export function createPriceLines(deps: {
  facts: Facts;
  prices: Lookup<Price>;
  closesOf: ClosesReader;
  nowMs: () => number;
}): PriceLines {
  const { facts } = deps;
  const grids = new Map<string, Held>();

  const heldOf = (grid: Grid): Held => {
    const name = [Math.floor(grid.startS / HOUR_S), grid.stepS, grid.points].join(' ');
    const nowMs = deps.nowMs();
    const known = grids.get(name);
    if (known !== undefined && nowMs < known.untilMs && nowMs >= known.untilMs - LINES_S * 1000) return known;
    grids.delete(name);
    while (grids.size >= MAX_GRIDS) grids.delete(grids.keys().next().value as string);
    const held = { untilMs: nowMs + LINES_S * 1000, lines: new Map<string, PriceLine>(), numbers: 0 };
    grids.set(name, held);
    return held;
  };

  const read = async (grid: Grid, heldFrom: ReadonlyMap<string, number>): Promise<Map<string, PriceLine>> => {
    const abouts = await facts.tokensOf([...heldFrom.keys()]);
    const conditions = [...abouts.values()].flatMap((about) => (about === null ? [] : [about.conditionId]));
    const [markets, resolutions] = await Promise.all([facts.marketsOf(conditions), facts.resolutionsOf(conditions)]);
    const settled = new Map<string, NonNullable<PriceLine['settled']>>();
    const priced = new Set<string>();
    const otherOf = new Map<string, string>();
    for (const [token, about] of abouts) {
      const resolution = about === null ? null : (resolutions.get(about.conditionId) ?? null);
      const settlement = settlementOf(about, resolution, grid);
      if (settlement !== null && resolution !== null) {
        settled.set(token, { atS: resolution.resolvedAtS, price: settlement.price });
        // What was settled before it is first seen held needs no other price.
        if (settlement.i <= (heldFrom.get(token) ?? 0)) continue;
      }
      priced.add(token);
      const tokenIds = about === null ? [] : (markets.get(about.conditionId)?.tokenIds ?? []);
      const other = tokenIds.length === 2 && tokenIds.includes(token) ? tokenIds.find((id) => id !== token) : undefined;
      if (other !== undefined) otherOf.set(token, other);
    }
    const [closes, now] = await Promise.all([
      deps.closesOf([...new Set([...priced, ...otherOf.values()])], grid.startS),
      deps.prices([...heldFrom.keys()]),
    ]);
    const lineOf = (token: string): PriceLine => {
      const other = otherOf.get(token);
      const marks = priced.has(token) ? marksOf(grid, closes(token), other === undefined ? [] : closes(other)) : null;
      return {
        marks: marks === null ? null : marks.flatMap(({ i, price }) => [i, price]),
        settled: settled.get(token) ?? null,
        now: now.get(token)?.usd ?? null,
      };
    };
    return new Map([...heldFrom.keys()].map((token) => [token, lineOf(token)]));
  };

  return async (grid, heldFrom) => {
    const held = heldOf(grid);
    const found = new Map<string, PriceLine>();
    const missing = new Map<string, number>();
    for (const [token, i] of heldFrom) {
      const line = held.lines.get(token);
      const serves =
        line !== undefined && (line.marks !== null || (line.settled !== null && momentOf(grid, line.settled.atS) <= i));
      if (serves) found.set(token, line);
      else missing.set(token, i);
    }
    if (missing.size === 0) return found;
    for (const [token, line] of await read(grid, missing)) {
      found.set(token, line);
      if (held.numbers > MAX_NUMBERS) continue;
      held.lines.set(token, line);
      held.numbers += LINE_NUMBERS + (line.marks?.length ?? 0);
    }
    return found;
  };
}
