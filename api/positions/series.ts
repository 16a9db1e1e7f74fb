import { setImmediate as others } from 'node:timers/promises';
import { divide } from '../../schemas/primitives/money.js';
import type { Facts, Resolution, TokenFact } from '../catalogue/facts.js';
import type { Lookup } from '../catalogue/held-lookup.js';
import type { Tables } from '../tables/port.js';
import { boolFrom } from '../tables/values.js';
import type { Close, ClosesReader } from './closes.js';
import { marked, type Price } from './position.js';
import {
  type ChangeRow,
  changesSql,
  endOf,
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

/** Some milliseconds of work; then other requests have their turn. */
const TOKENS_PER_TURN = 250;

const UNKNOWN_QUESTIONS = 'questions of the market unknown';
const smaller = (a: bigint, b: bigint): bigint => (a < b ? a : b);

interface Step {
  readonly i: number;
  readonly value: bigint;
}

/**
 * Shares of each position that came without a cost, as they changed. A gift goes out first where shares are given away, last where they are sold; of
 * a conversion only as many sets have a cost as there are NO shares with one, whatever else comes of it is a gift.
 */
function giftsOf(rows: readonly GiftRow[]): ReadonlyMap<string, readonly Step[]> {
  const gifts = new Map<string, bigint>();
  const steps = new Map<string, Step[]>();
  const put = (row: GiftRow, value: bigint) => {
    gifts.set(row.token, value);
    const list = steps.get(row.token) ?? [];
    list.push({ i: Number(row.i), value });
    steps.set(row.token, list);
  };
  const before = (row: GiftRow) => {
    const gift = gifts.get(row.token) ?? 0n;
    return { gift, tracked: BigInt(row.size_after) - BigInt(row.shares) - gift };
  };
  const sell = (row: GiftRow) => {
    const { gift, tracked } = before(row);
    const out = -BigInt(row.shares);
    put(row, gift - (out - smaller(out, tracked)));
  };
  const giveAway = (row: GiftRow) => {
    const { gift } = before(row);
    put(row, gift - smaller(-BigInt(row.shares), gift));
  };
  const convert = (legs: readonly GiftRow[]) => {
    const given = legs.filter((leg) => BigInt(leg.shares) <= 0n);
    const sets = given
      .map((leg) => smaller(before(leg).tracked, BigInt(leg.untracked) - BigInt(leg.shares)))
      .reduce((least, one) => (least === null ? one : smaller(least, one)), null as bigint | null);
    for (const leg of legs) {
      if (BigInt(leg.shares) <= 0n) sell(leg);
      else put(leg, before(leg).gift + BigInt(leg.shares) - (sets ?? 0n));
    }
  };
  for (let at = 0; at < rows.length; at++) {
    const row = rows[at] as GiftRow;
    if (row.action === 'CONVERT' && row.problem !== '' && row.problem !== UNKNOWN_QUESTIONS) {
      const legs = [row];
      while (rows[at + 1]?.id === row.id) legs.push(rows[++at] as GiftRow);
      convert(legs);
    } else if (row.action === 'RECEIVE') put(row, before(row).gift + BigInt(row.shares));
    else if (row.action === 'SEND' || row.problem !== '') giveAway(row);
    else sell(row);
  }
  return steps;
}

const byToken = <Row extends { readonly token: string }>(rows: readonly Row[]): ReadonlyMap<string, Row[]> => {
  const found = new Map<string, Row[]>();
  for (const row of rows) {
    const list = found.get(row.token);
    if (list === undefined) found.set(row.token, [row]);
    else list.push(row);
  }
  return found;
};

/** A price from a moment of the grid on, 1e-6 USD. */
export interface Mark {
  readonly i: number;
  readonly price: bigint;
}

export interface SeriesFacts {
  readonly changes: readonly ChangeRow[];
  readonly gifts: readonly GiftRow[];
  /** Of a token, in the order of the moments. */
  readonly marksOf: (tokenId: string) => readonly Mark[];
  /** What settled tokens pay, from the moment they were settled. */
  readonly settled: ReadonlyMap<string, Mark>;
  /** Prices now: of the last moment. */
  readonly now: ReadonlyMap<string, Price>;
}

/**
 * Cash in less cash out, less fees, plus what is held at its price of each moment; what no price is known of counts at its cost, gifts count
 * nothing, and what was given away counts as sold at its cost.
 */
export async function profitSeries(grid: Grid, facts: SeriesFacts): Promise<ProfitPoint[]> {
  // What is added at each moment and stays.
  const added: bigint[] = Array.from({ length: grid.points }, () => 0n);
  const add = (i: number, value: bigint) => {
    if (i < grid.points) added[i] = (added[i] ?? 0n) + value;
  };
  const last = grid.points - 1;
  const gifts = giftsOf(facts.gifts);
  let done = 0;
  for (const [token, changes] of byToken(facts.changes)) {
    if (++done % TOKENS_PER_TURN === 0) await others();
    for (const change of changes) add(Number(change.i), BigInt(change.cash));
    const moments = new Map<number, { size?: bigint; cost?: bigint; gift?: bigint; price?: bigint | null }>();
    const at = (i: number) => {
      const found = moments.get(i) ?? {};
      moments.set(i, found);
      return found;
    };
    for (const change of changes)
      Object.assign(at(Number(change.i)), { size: BigInt(change.size), cost: BigInt(change.cost) });
    for (const { i, value } of gifts.get(token) ?? []) at(i).gift = value;
    const settled = facts.settled.get(token);
    for (const mark of facts.marksOf(token))
      if (settled === undefined || mark.i < settled.i) at(mark.i).price = mark.price;
    if (settled !== undefined) at(settled.i).price = settled.price;
    at(last).price = facts.now.get(token)?.usd ?? null;
    let state: { size: bigint; cost: bigint; gift: bigint; price: bigint | null } = {
      size: 0n,
      cost: 0n,
      gift: 0n,
      price: null,
    };
    let value = 0n;
    for (const [i, change] of [...moments].sort(([a], [b]) => a - b)) {
      state = { ...state, ...change };
      const next = state.price === null ? state.cost : marked(state.size - state.gift, state.price);
      add(i, next - value);
      value = next;
    }
  }
  let pnl = 0n;
  return added.map((one, i) => {
    pnl += one;
    return { atS: grid.startS + i * grid.stepS, pnl };
  });
}

const ONE_USD = 1_000_000n;

/**
 * Last traded prices of a token before each moment: its own or, where that was later, of the other outcome of a market of two, whose complement it is. An
 * hour that is not over at the end of the grid tells nothing yet.
 */
export function marksOf(grid: Grid, own: readonly Close[], other: readonly Close[]): readonly Mark[] {
  const endS = endOf(grid);
  const newest = new Map<number, Close>();
  const put = (close: Close) => {
    const i = momentOf(grid, close.endS);
    const known = newest.get(i);
    if (close.endS <= endS && (known === undefined || close.place > known.place)) newest.set(i, close);
  };
  for (const close of own) put(close);
  for (const close of other) put({ ...close, price: close.price < ONE_USD ? ONE_USD - close.price : 0n });
  return [...newest].map(([i, { price }]) => ({ i, price })).sort((a, b) => a.i - b.i);
}

/** What a token pays once its condition is settled; null while it is open at the end of the grid. */
function settlementOf(token: TokenFact | null, resolution: Resolution | null, grid: Grid): Mark | null {
  const payout = token === null ? undefined : resolution?.payouts[token.outcomeIndex];
  if (resolution === null || payout === undefined || resolution.denominator === 0n) return null;
  if (resolution.resolvedAtS > endOf(grid)) return null;
  return {
    i: momentOf(grid, resolution.resolvedAtS),
    price: divide(payout * ONE_USD, resolution.denominator, 'half_up'),
  };
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

/** The profit of a wallet over its whole life at the moments of a grid; null for a wallet that did nothing up to its end. */
export async function readProfitSeries(
  deps: ProfitSeriesDeps,
  wallet: string,
  grid: Grid,
): Promise<readonly ProfitPoint[] | null> {
  const { tables, facts } = deps;
  const changes = await tables.rows<ChangeRow>(changesSql(wallet, grid));
  if (changes.length === 0) return null;
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
  const [gifts, closes, now] = await Promise.all([
    changes.some((change) => boolFrom(change.gifts)) ? tables.rows<GiftRow>(giftsSql(wallet, grid)) : [],
    deps.closesOf([...new Set([...priced, ...otherOf.values()])], grid.startS),
    deps.prices([...heldFrom.keys()]),
  ]);
  return profitSeries(grid, {
    changes,
    gifts,
    marksOf: (token) => {
      if (!priced.has(token)) return [];
      const other = otherOf.get(token);
      return marksOf(grid, closes(token), other === undefined ? [] : closes(other));
    },
    settled,
    now,
  });
}
