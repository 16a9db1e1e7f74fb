import { setImmediate as others } from 'node:timers/promises';
import type { Tables } from '../tables/port.js';
import { boolFrom } from '../tables/values.js';
import { type GiftStep, giftsOf } from './gifts.js';
import { marked } from './position.js';
import type { PriceLine, PriceLines } from './price-lines.js';
import {
  type ChangeRow,
  changesSql,
  firstMomentSql,
  type GiftRow,
  type Grid,
  giftsSql,
  momentOf,
} from './series.sql.js';

/** A wallet's total profit at a moment: base units, Unix seconds. */
export interface ProfitPoint {
  readonly atS: number;
  readonly pnl: bigint;
}

/** What is known of so many at once is held in memory, and looked up at one go, in some milliseconds. */
const CHANGES_AT_ONCE = 1_000;
/** After so much work other requests have their turn: each takes several rounds of the event loop, and waits for a whole turn in each. */
const TURN_MS = 3;

/** Where the rows of a token end; rows stand together by token. */
function endOfToken(rows: readonly ChangeRow[], from: number): number {
  const token = rows[from]?.token;
  let at = from + 1;
  while (at < rows.length && rows[at]?.token === token) at++;
  return at;
}

const NONE: readonly never[] = [];
/** Of what is never held at a moment. */
const NO_LINE: PriceLine = { marks: NONE, settled: null, now: null };
const momentAt = (rows: readonly { readonly i: number | string }[], at: number): number =>
  Number(rows[at]?.i ?? Number.POSITIVE_INFINITY);

/** Tells `add` what the changes of one position, and of its prices, are worth at the moments they happen. */
function addPosition(
  grid: Grid,
  line: PriceLine,
  given: readonly GiftStep[],
  changes: readonly ChangeRow[],
  add: (i: number, value: bigint) => void,
): void {
  const marks = line.marks ?? NONE;
  const settledFrom = line.settled === null ? Number.POSITIVE_INFINITY : momentOf(grid, line.settled.atS);
  const last = grid.points - 1;
  let [size, cost, gift, value] = [0n, 0n, 0n, 0n];
  let price: bigint | null = null;
  let [nextChange, nextGift, nextMark] = [0, 0, 0];
  const markAt = (at: number): number => marks[at] ?? Number.POSITIVE_INFINITY;
  for (let i = 0; ; ) {
    for (; momentAt(changes, nextChange) <= i; nextChange++) {
      const change = changes[nextChange] as ChangeRow;
      add(i, BigInt(change.cash));
      size = BigInt(change.size);
      cost = BigInt(change.cost);
    }
    for (; momentAt(given, nextGift) <= i; nextGift++) gift = (given[nextGift] as GiftStep).value;
    for (; markAt(nextMark) <= i; nextMark += 2) price = BigInt(marks[nextMark + 1] as number);
    // After a settlement only the price of now counts.
    if (line.settled !== null && settledFrom <= i) price = line.settled.price;
    if (i === last) price = line.now;
    const next = price === null ? cost : marked(size - gift, price);
    if (next !== value) add(i, next - value);
    value = next;
    if (i === last) return;
    const upcoming = Math.min(momentAt(changes, nextChange), momentAt(given, nextGift), markAt(nextMark));
    i = Math.min(last, upcoming, settledFrom > i ? settledFrom : last);
  }
}

export interface ProfitSeriesDeps {
  readonly tables: Tables;
  readonly priceLines: PriceLines;
}

/** When a wallet did something for the first time, Unix seconds; null for one that never did anything. */
export async function firstMoment(tables: Tables, wallet: string): Promise<number | null> {
  const [row] = await tables.rows<{ first: number | string }>(firstMomentSql(wallet));
  return row === undefined ? null : Number(row.first);
}

/** Tokens that are held at a moment of the grid, and the first such moment. */
function heldFromOf(changes: readonly ChangeRow[]): ReadonlyMap<string, number> {
  const heldFrom = new Map<string, number>();
  for (const { token, i, size } of changes)
    if (size !== '0') heldFrom.set(token, Math.min(Number(i), heldFrom.get(token) ?? Number(i)));
  return heldFrom;
}

/**
 * The profit of a wallet over its whole life at the moments of a grid; null for a wallet that did nothing up to its end. `most`: 'more' for a wallet with more
 * changes than these, of which nothing further is read.
 *
 * Cash in less cash out, less fees, plus what is held at its price of each moment; what no price is known of counts at its cost, gifts count
 * nothing, and what was given away counts as sold at its cost.
 */
export async function readProfitSeries(
  deps: ProfitSeriesDeps,
  wallet: string,
  grid: Grid,
  most: null,
): Promise<readonly ProfitPoint[] | null>;
export async function readProfitSeries(
  deps: ProfitSeriesDeps,
  wallet: string,
  grid: Grid,
  most: number,
): Promise<readonly ProfitPoint[] | 'more' | null>;
export async function readProfitSeries(
  deps: ProfitSeriesDeps,
  wallet: string,
  grid: Grid,
  most: number | null,
): Promise<readonly ProfitPoint[] | 'more' | null> {
  const { tables } = deps;
  const changes = await tables.rows<ChangeRow>(changesSql(wallet, grid, most));
  if (changes.length === 0) return null;
  if (most !== null && changes.length > most) return 'more';
  const given = changes.some((change) => boolFrom(change.gifts));
  const gifts = giftsOf(given ? await tables.rows<GiftRow>(giftsSql(wallet, grid)) : []);
  // What is added at each moment and stays.
  const added: bigint[] = Array.from({ length: grid.points }, () => 0n);
  const add = (i: number, value: bigint) => {
    added[i] = (added[i] ?? 0n) + value;
  };
  let turnMs = performance.now();
  for (let from = 0, to = 0; from < changes.length; from = to) {
    while (to < changes.length && to - from < CHANGES_AT_ONCE) to = endOfToken(changes, to);
    const lines = await deps.priceLines(grid, heldFromOf(changes.slice(from, to)));
    for (let at = from, end = at; at < to; at = end) {
      end = endOfToken(changes, at);
      const { token } = changes[at] as ChangeRow;
      addPosition(grid, lines.get(token) ?? NO_LINE, gifts.get(token) ?? NONE, changes.slice(at, end), add);
      if (performance.now() - turnMs < TURN_MS) continue;
      await others();
      turnMs = performance.now();
    }
  }
  let pnl = 0n;
  return added.map((one, i) => {
    pnl += one;
    return { atS: grid.startS + i * grid.stepS, pnl };
  });
}
