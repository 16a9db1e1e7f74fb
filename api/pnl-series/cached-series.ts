import { yieldToEventLoop } from '../../infra/event-loop.js';
import { valueAtPrice } from '../positions/position.js';
import type { Tables } from '../tables/port.js';
import { boolFrom } from '../tables/values.js';
import { createYieldIfDue, type YieldIfDue, type YieldPolicy } from './background-throttle.js';
import { cashOf, isUnclearEnd, isUntrackedInflow, versionOf } from './events.js';
import { type FeeCost, feeCostsOf } from './fee-shares.js';
import type { PriceHistory, PriceHistoryReader } from './price-history.js';
import {
  type ChangeRow,
  changesSql,
  type EventRow,
  type FeeShareRow,
  feeSharesSql,
  type UntrackedInflowRow,
  untrackedInflowSql,
  type VersionRow,
  versionSql,
} from './series.sql.js';
import { bucketIndexOf, type CumulativeSteps, newestTimeOf, stepsOf, type TimeGrid } from './time-grid.js';
import { type InflowStep, untrackedInflowOf } from './untracked-inflow.js';

/** Tokens whose price histories are read at once: a few milliseconds if they are cached. */
const TOKEN_BATCH = 1_000;
/** Events of a large wallet that are summed per statement. */
const CHANGE_BATCH = 5_000;

/** Sum of a position's events up to a bucket of the grid. Base units. */
interface PositionChange {
  readonly bucketIndex: number;
  /** See ChangeRow. */
  cash: bigint;
  size: bigint;
  cost: bigint;
}

const NONE: readonly never[] = [];
/** For tokens that no bucket has in its position. */
const EMPTY_HISTORY: PriceHistory = { priceSteps: NONE, settled: null };
const bucketIndexAt = (rows: readonly { readonly bucketIndex: number }[], at: number): number =>
  rows[at]?.bucketIndex ?? Number.POSITIVE_INFINITY;

/** Calls `add` with the changes of a position's value (cash and market value) per bucket. */
function addPosition(
  history: PriceHistory,
  inflows: readonly InflowStep[],
  changes: readonly PositionChange[],
  add: (bucketIndex: number, value: bigint) => void,
): void {
  const priceSteps = history.priceSteps ?? NONE;
  const settledFrom = history.settled?.bucketIndex ?? Number.POSITIVE_INFINITY;
  let [size, cost, inflow, value] = [0n, 0n, 0n, 0n];
  let price: bigint | null = null;
  let [nextChange, nextInflow, nextPriceStep] = [0, 0, 0];
  const priceStepAt = (at: number): number => priceSteps[at] ?? Number.POSITIVE_INFINITY;
  for (let bucketIndex = bucketIndexAt(changes, 0); bucketIndex !== Number.POSITIVE_INFINITY; ) {
    for (; bucketIndexAt(changes, nextChange) <= bucketIndex; nextChange++) {
      const change = changes[nextChange] as PositionChange;
      add(bucketIndex, change.cash);
      size = change.size;
      cost = change.cost;
    }
    for (; bucketIndexAt(inflows, nextInflow) <= bucketIndex; nextInflow++)
      inflow = (inflows[nextInflow] as InflowStep).value;
    for (; priceStepAt(nextPriceStep) <= bucketIndex; nextPriceStep += 2)
      price = BigInt(priceSteps[nextPriceStep + 1] as number);
    // After the settlement the price is its payout.
    if (history.settled !== null && settledFrom <= bucketIndex) price = history.settled.price;
    const next = price === null ? cost : valueAtPrice(size - inflow, price);
    if (next !== value) add(bucketIndex, next - value);
    value = next;
    const isOver = size === 0n && bucketIndexAt(changes, nextChange) === Number.POSITIVE_INFINITY;
    if (isOver) return;
    bucketIndex = Math.min(
      bucketIndexAt(changes, nextChange),
      bucketIndexAt(inflows, nextInflow),
      settledFrom <= bucketIndex ? Number.POSITIVE_INFINITY : Math.min(priceStepAt(nextPriceStep), settledFrom),
    );
  }
}

export interface SeriesDeps {
  readonly tables: Tables;
  readonly readPriceHistory: PriceHistoryReader;
}

/** Tokens with their changes in bucket order. */
type TokenChanges = readonly [token: string, changes: readonly PositionChange[]];

/** PnL of a wallet in the closed buckets of a grid. */
export interface CachedSeries {
  readonly steps: CumulativeSteps;
  /** See versionSql; read before everything else. */
  readonly version: string;
}

/** What the changes of positions do not tell by themselves, by token. */
interface UnclearParts {
  readonly gifts: ReadonlyMap<string, readonly InflowStep[]>;
  readonly feeCosts: ReadonlyMap<string, readonly FeeCost[]>;
}

/** Tokens that are held at a slot of the frame, and the first such slot. */
function firstHeldBuckets(tokens: readonly TokenChanges[]): ReadonlyMap<string, number> {
  const heldFrom = new Map<string, number>();
  for (const [token, changes] of tokens) {
    const first = changes.find(({ size }) => size !== 0n);
    if (first !== undefined) firstBuckets.set(token, first.bucketIndex);
  }
  return firstBuckets;
}

/**
 * Adds the changes of PnL per bucket to `added`. PnL: cash received minus cash paid minus fees, plus positions at the prices of each bucket. A token without a
 * price counts at its cost, untracked inflows count 0, and shares sent away count as sold at their cost.
 */
async function addPositions(
  deps: SeriesDeps,
  timeGrid: TimeGrid,
  tokens: Iterator<TokenChanges>,
  { gifts, feeCosts }: UnclearParts,
  added: Map<number, bigint>,
  yieldIfDue: YieldIfDue,
): Promise<void> {
  const add = (bucketIndex: number, value: bigint) => added.set(bucketIndex, (added.get(bucketIndex) ?? 0n) + value);
  for (;;) {
    const some: TokenChanges[] = [];
    for (let next = tokens.next(); next.done !== true; next = tokens.next()) {
      some.push(next.value);
      if (some.length === TOKEN_BATCH) break;
    }
    if (some.length === 0) return;
    const histories = await deps.readPriceHistory(timeGrid, firstBucketsWithShares(some), yieldIfDue);
    for (const [token, changes] of some) {
      addPosition(lines.get(token) ?? EMPTY_HISTORY, gifts.get(token) ?? NONE, changes, add);
      for (const { bucketIndex, value } of feeCosts.get(token) ?? NONE) add(bucketIndex, -value);
      await yieldIfDue();
    }
  }
}
const readFeeCosts = async ({ tables }: SeriesDeps, wallet: string, frame: TimeGrid) =>
  feeCostsOf(await tables.rows<FeeShareRow>(feeSharesSql(wallet, frame)));
const readUntrackedInflow = async ({ tables }: SeriesDeps, wallet: string, frame: TimeGrid) =>
  untrackedInflowOf(await tables.rows<UntrackedInflowRow>(untrackedInflowSql(wallet, frame)));

/** PnL of a wallet since its first event in the buckets of a grid, computed from single events. */
export async function computeSeriesFromEvents(
  deps: SeriesDeps,
  wallet: string,
  timeGrid: TimeGrid,
  events: readonly EventRow[],
  policy: YieldPolicy = yieldToEventLoop,
): Promise<CachedSeries> {
  const newestS = newestTimeOf(timeGrid);
  const changes = new Map<string, PositionChange[]>();
  let given = false;
  let unclear = false;
  for (const event of events) {
    // Events are in time order.
    if (Number(event.at) > newestS) break;
    const bucketIndex = bucketIndexOf(frame, Number(event.at));
    given ||= isUntrackedInflow(event);
    unclear ||= isUnclearEnd(event);
    const list = changes.get(event.token_id) ?? [];
    if (list.length === 0) changes.set(event.token_id, list);
    let change = list.at(-1);
    if (change?.bucketIndex !== bucketIndex) {
      change = { bucketIndex, cash: 0n, size: 0n, cost: 0n };
      list.push(change);
    }
    change.cash += cashOf(event);
    change.size = BigInt(event.size_after);
    change.cost = BigInt(event.cost_after);
  }
  const added = new Map<number, bigint>();
  const gifts = given ? await readUntrackedInflow(deps, wallet, frame) : new Map();
  const feeCosts = unclear ? await readFeeCosts(deps, wallet, frame) : new Map();
  await addPositions(deps, frame, changes.entries(), { gifts, feeCosts }, added, createYieldIfDue(pace));
  return { steps: stepsOf(added), version: versionOf(events, frame) };
}

/** Groups rows by token; rows of a token are adjacent. */
function* changesByToken(rows: readonly ChangeRow[]): Generator<TokenChanges> {
  for (let at = 0; at < rows.length; ) {
    const token = (rows[at] as ChangeRow).token;
    const changes: PositionChange[] = [];
    for (; rows[at]?.token === token; at++) {
      const { slot, cash, size, cost } = rows[at] as ChangeRow;
      changes.push({ bucketIndex: Number(slot), cash: BigInt(cash), size: BigInt(size), cost: BigInt(cost) });
    }
    yield [token, changes];
  }
}

/** The same for any number of events: sums per bucket from the tables, for part of the tokens at a time. */
export async function computeSeriesFromBuckets(
  deps: SeriesDeps,
  wallet: string,
  timeGrid: TimeGrid,
  policy: YieldPolicy = yieldToEventLoop,
): Promise<CachedSeries> {
  const { tables } = deps;
  const yieldIfDue = createYieldIfDue(policy);
  const { version, changes } = await readVersion(tables, wallet, timeGrid);
  const times = Math.ceil(changes / CHANGE_BATCH);
  const added = new Map<number, bigint>();
  let gifts: UnclearParts['gifts'] = new Map();
  let feeCosts: UnclearParts['feeCosts'] = new Map();
  for (let share = 0; share < times; share++) {
    const rows = await tables.rows<ChangeRow>(changesSql(wallet, frame, { share, of: times }));
    if (gifts.size === 0 && rows.some((change) => boolFrom(change.gifts)))
      gifts = await readUntrackedInflow(deps, wallet, frame);
    if (feeCosts.size === 0 && rows.some((change) => boolFrom(change.unclear)))
      feeCosts = await readFeeCosts(deps, wallet, frame);
    await yieldIfDue();
    await addPositions(deps, frame, changesByToken(rows), { gifts, feeCosts }, added, yieldIfDue);
  }
  return { steps: stepsOf(added), version };
}

/** Version of a wallet's events in the closed buckets of a grid, see VersionRow. */
export async function readVersion(
  tables: Tables,
  wallet: string,
  timeGrid: TimeGrid,
): Promise<{ readonly version: string; readonly changes: number }> {
  const [row] = await tables.rows<VersionRow>(versionSql(wallet, timeGrid));
  return { version: row?.version ?? '0', changes: Number(row?.changes ?? 0) };
}
