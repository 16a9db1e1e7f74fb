import type { Tables } from '../tables/port.js';
import { marked, priceFrom } from './position.js';
import { type PriceRow, walletPricesSql } from './positions.sql.js';
import {
  type ChangeRow,
  changesSql,
  firstMomentSql,
  type GiftRow,
  type Grid,
  giftsSql,
  type MarkRow,
  marksSql,
  settledMarksSql,
} from './series.sql.js';

/** A wallet's total profit at a moment: base units, Unix seconds. */
export interface ProfitPoint {
  readonly atS: number;
  readonly pnl: bigint;
}

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

export interface SeriesRows {
  readonly changes: readonly ChangeRow[];
  readonly gifts: readonly GiftRow[];
  readonly marks: readonly MarkRow[];
  readonly settled: readonly MarkRow[];
  /** Prices now: of the last moment. */
  readonly now: readonly PriceRow[];
}

/**
 * Cash in less cash out, less fees, plus what is held at its price of each moment; what no price is known of counts at its cost, gifts count
 * nothing, and what was given away counts as sold at its cost.
 */
export function profitSeries(grid: Grid, rows: SeriesRows): ProfitPoint[] {
  // What is added at each moment and stays.
  const added: bigint[] = Array.from({ length: grid.points }, () => 0n);
  const add = (i: number, value: bigint) => {
    if (i < grid.points) added[i] = (added[i] ?? 0n) + value;
  };
  const last = grid.points - 1;
  const marks = byToken(rows.marks);
  const settled = byToken(rows.settled);
  const gifts = giftsOf(rows.gifts);
  const prices = new Map(rows.now.map((row) => [row.token, priceFrom(row).usd]));
  for (const [token, changes] of byToken(rows.changes)) {
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
    const settledFrom = Number(settled.get(token)?.[0]?.i ?? grid.points);
    for (const mark of marks.get(token) ?? [])
      if (Number(mark.i) < settledFrom) at(Number(mark.i)).price = BigInt(mark.price);
    for (const mark of settled.get(token) ?? []) at(Number(mark.i)).price = BigInt(mark.price);
    at(last).price = prices.get(token) ?? null;
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

/** The profit of a wallet over its whole life at the moments of a grid; null for a wallet that never did anything. */
export async function readProfitSeries(
  tables: Tables,
  wallet: string,
  gridFrom: (firstS: number) => Grid,
): Promise<readonly ProfitPoint[] | null> {
  const [begun] = await tables.rows<{ first: number | string }>(firstMomentSql(wallet));
  if (begun === undefined) return null;
  const grid = gridFrom(Number(begun.first));
  const [changes, gifts, marks, settled, now] = await Promise.all([
    tables.rows<ChangeRow>(changesSql(wallet, grid)),
    tables.rows<GiftRow>(giftsSql(wallet, grid)),
    tables.rows<MarkRow>(marksSql(wallet, grid)),
    tables.rows<MarkRow>(settledMarksSql(wallet, grid)),
    tables.rows<PriceRow>(walletPricesSql(wallet)),
  ]);
  return profitSeries(grid, { changes, gifts, marks, settled, now });
}
