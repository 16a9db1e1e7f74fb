import { setImmediate as others } from 'node:timers/promises';
import type { Facts } from '../catalogue/facts.js';
import type { Lookup } from '../catalogue/held-lookup.js';
import type { Tables } from '../tables/port.js';
import { boolFrom } from '../tables/values.js';
import type { ClosesReader } from './closes.js';
import { type GiftStep, giftsOf } from './gifts.js';
import { type Mark, marksOf, settlementOf } from './marks.js';
import { marked, type Price } from './position.js';
import { type ChangeRow, changesSql, firstMomentSql, type GiftRow, type Grid, giftsSql } from './series.sql.js';

/** A wallet's total profit at a moment: base units, Unix seconds. */
export interface ProfitPoint {
  readonly atS: number;
  readonly pnl: bigint;
}

/** What is known of so many at once is held in memory, and looked up at one go, in some milliseconds. */
const CHANGES_AT_ONCE = 1_000;
/** After so much work other requests have their turn: each takes several rounds of the event loop, and waits for a whole turn in each. */
const TURN_MS = 3;

/** What is known of the tokens of some changes. */
interface TokenFacts {
  /** In the order of the moments. */
  readonly marksOf: (tokenId: string) => readonly Mark[];
  /** What settled tokens pay, from the moment they were settled. */
  readonly settled: ReadonlyMap<string, Mark>;
  /** Prices now: of the last moment. */
  readonly now: ReadonlyMap<string, Price>;
}

/** Where the rows of a token end; rows stand together by token. */
function endOfToken(rows: readonly ChangeRow[], from: number): number {
  const token = rows[from]?.token;
  let at = from + 1;
  while (at < rows.length && rows[at]?.token === token) at++;
  return at;
}

const NONE: readonly never[] = [];
const momentAt = (rows: readonly { readonly i: number | string }[], at: number): number =>
  Number(rows[at]?.i ?? Number.POSITIVE_INFINITY);

/** Tells `add` what the changes of one position, and of its prices, are worth at the moments they happen. */
function addPosition(
  grid: Grid,
  facts: TokenFacts,
  gifts: ReadonlyMap<string, readonly GiftStep[]>,
  changes: readonly ChangeRow[],
  add: (i: number, value: bigint) => void,
): void {
  const token = (changes[0] as ChangeRow).token;
  const given = gifts.get(token) ?? NONE;
  const marks = facts.marksOf(token);
  const settled = facts.settled.get(token);
  const last = grid.points - 1;
  let [size, cost, gift, value] = [0n, 0n, 0n, 0n];
  let price: bigint | null = null;
  let [nextChange, nextGift, nextMark] = [0, 0, 0];
  for (let i = 0; ; ) {
    for (; momentAt(changes, nextChange) <= i; nextChange++) {
      const change = changes[nextChange] as ChangeRow;
      add(i, BigInt(change.cash));
      size = BigInt(change.size);
      cost = BigInt(change.cost);
    }
    for (; momentAt(given, nextGift) <= i; nextGift++) gift = (given[nextGift] as GiftStep).value;
    for (; momentAt(marks, nextMark) <= i; nextMark++) price = (marks[nextMark] as Mark).price;
    // After a settlement only the price of now counts.
    if (settled !== undefined && settled.i <= i) price = settled.price;
    if (i === last) price = facts.now.get(token)?.usd ?? null;
    const next = price === null ? cost : marked(size - gift, price);
    if (next !== value) add(i, next - value);
    value = next;
    if (i === last) return;
    const upcoming = Math.min(momentAt(changes, nextChange), momentAt(given, nextGift), momentAt(marks, nextMark));
    i = Math.min(last, upcoming, settled !== undefined && settled.i > i ? settled.i : last);
  }
}

export interface ProfitSeriesDeps {
  readonly tables: Tables;
  readonly facts: Facts;
  readonly prices: Lookup<Price>;
  readonly closesOf: ClosesReader;
}

/** When a wallet did something for the first time, Unix seconds; null for one that never did anything. */
export async function firstMoment(tables: Tables, wallet: string): Promise<number | null> {
  const [row] = await tables.rows<{ first: number | string }>(firstMomentSql(wallet));
  return row === undefined ? null : Number(row.first);
}

/** What is known of the tokens of changes: prices of those alone that are held while they are open. */
async function factsOf(deps: ProfitSeriesDeps, grid: Grid, changes: readonly ChangeRow[]): Promise<TokenFacts> {
  const { facts } = deps;
  /** Tokens held at a moment of the grid, and the first such moment. */
  const heldFrom = new Map<string, number>();
  for (const { token, i, size } of changes)
    if (size !== '0') heldFrom.set(token, Math.min(Number(i), heldFrom.get(token) ?? Number(i)));
  const abouts = await facts.tokensOf([...heldFrom.keys()]);
  const conditions = [...abouts.values()].flatMap((about) => (about === null ? [] : [about.conditionId]));
  const [markets, resolutions] = await Promise.all([facts.marketsOf(conditions), facts.resolutionsOf(conditions)]);
  const settled = new Map<string, Mark>();
  const priced = new Set<string>();
  const otherOf = new Map<string, string>();
  for (const [token, about] of abouts) {
    const settlement = settlementOf(about, about === null ? null : (resolutions.get(about.conditionId) ?? null), grid);
    if (settlement !== null) settled.set(token, settlement);
    // What was settled before it is first seen held needs no other price.
    if (settlement !== null && settlement.i <= (heldFrom.get(token) ?? 0)) continue;
    priced.add(token);
    const tokenIds = about === null ? [] : (markets.get(about.conditionId)?.tokenIds ?? []);
    const other = tokenIds.length === 2 && tokenIds.includes(token) ? tokenIds.find((id) => id !== token) : undefined;
    if (other !== undefined) otherOf.set(token, other);
  }
  const [closes, now] = await Promise.all([
    deps.closesOf([...new Set([...priced, ...otherOf.values()])], grid.startS),
    deps.prices([...heldFrom.keys()]),
  ]);
  return {
    settled,
    now,
    marksOf(token) {
      if (!priced.has(token)) return [];
      const other = otherOf.get(token);
      return marksOf(grid, closes(token), other === undefined ? [] : closes(other));
    },
  };
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
    const facts = await factsOf(deps, grid, changes.slice(from, to));
    for (let at = from, end = at; at < to; at = end) {
      end = endOfToken(changes, at);
      addPosition(grid, facts, gifts, changes.slice(at, end), add);
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
