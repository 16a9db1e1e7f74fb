import { yieldToEventLoop } from '../../infra/event-loop.js';
import { valueAtPrice } from '../positions/position.js';
import type { Tables } from '../tables/port.js';
import { boolFrom } from '../tables/values.js';
import { createYieldIfDue, type YieldIfDue, type YieldPolicy } from './background-throttle.js';
import { bookedCashOf, isUntrackedInflow, versionOf } from './events.js';
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
/** For tokens without shares in any bucket. */
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

/** Parts of PnL that need the whole history of a position, by token. */
interface HistoryTerms {
  readonly inflows: ReadonlyMap<string, readonly InflowStep[]>;
  readonly feeCosts: ReadonlyMap<string, readonly FeeCost[]>;
}

/** First bucket in which the position of each token is open; tokens that are never open are left out. */
function firstBucketsWithShares(tokens: readonly TokenChanges[]): ReadonlyMap<string, number> {
  const firstBuckets = new Map<string, number>();
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
  { inflows, feeCosts }: HistoryTerms,
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
      addPosition(histories.get(token) ?? EMPTY_HISTORY, inflows.get(token) ?? NONE, changes, add);
      for (const { bucketIndex, value } of feeCosts.get(token) ?? NONE) add(bucketIndex, -value);
      await yieldIfDue();
    }
  }
}
const readFeeCosts = async ({ tables }: SeriesDeps, wallet: string, timeGrid: TimeGrid) =>
  feeCostsOf(await tables.rows<FeeShareRow>(feeSharesSql(wallet, timeGrid)));
const readUntrackedInflow = async ({ tables }: SeriesDeps, wallet: string, timeGrid: TimeGrid) =>
  untrackedInflowOf(await tables.rows<UntrackedInflowRow>(untrackedInflowSql(wallet, timeGrid)));

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
  let hasInflow = false;
  let hasFeeShares = false;
  for (const event of events) {
    // Events are in time order.
    if (Number(event.at) > newestS) break;
    const bucketIndex = bucketIndexOf(timeGrid, Number(event.at));
    hasInflow ||= isUntrackedInflow(event);
    hasFeeShares ||= event.fee_shares !== '0';
    const list = changes.get(event.token_id) ?? [];
    if (list.length === 0) changes.set(event.token_id, list);
    let change = list.at(-1);
    if (change?.bucketIndex !== bucketIndex) {
      change = { bucketIndex, cash: 0n, size: 0n, cost: 0n };
      list.push(change);
    }
    change.cash += bookedCashOf(event);
    change.size = BigInt(event.size_after);
    change.cost = BigInt(event.cost_after);
  }
  const added = new Map<number, bigint>();
  const inflows = hasInflow ? await readUntrackedInflow(deps, wallet, timeGrid) : new Map();
  const feeCosts = hasFeeShares ? await readFeeCosts(deps, wallet, timeGrid) : new Map();
  await addPositions(deps, timeGrid, changes.entries(), { inflows, feeCosts }, added, createYieldIfDue(policy));
  return { steps: stepsOf(added), version: versionOf(events, timeGrid) };
}

/** Groups rows by token; rows of a token are adjacent. */
function* changesByToken(rows: readonly ChangeRow[]): Generator<TokenChanges> {
  for (let at = 0; at < rows.length; ) {
    const token = (rows[at] as ChangeRow).token;
    const changes: PositionChange[] = [];
    for (; rows[at]?.token === token; at++) {
      const { bucket, cash, size, cost } = rows[at] as ChangeRow;
      changes.push({ bucketIndex: Number(bucket), cash: BigInt(cash), size: BigInt(size), cost: BigInt(cost) });
    }
    yield [token, changes];
  }
}

/** The same for any number of events: sums per bucket from the tables, for a share of the tokens at a time. */
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
  let inflows: HistoryTerms['inflows'] = new Map();
  let feeCosts: HistoryTerms['feeCosts'] = new Map();
  for (let share = 0; share < times; share++) {
    const rows = await tables.rows<ChangeRow>(changesSql(wallet, timeGrid, { share, of: times }));
    if (inflows.size === 0 && rows.some((change) => boolFrom(change.has_inflow)))
      inflows = await readUntrackedInflow(deps, wallet, timeGrid);
    if (feeCosts.size === 0 && rows.some((change) => boolFrom(change.fee_shares)))
      feeCosts = await readFeeCosts(deps, wallet, timeGrid);
    await yieldIfDue();
    await addPositions(deps, timeGrid, changesByToken(rows), { inflows, feeCosts }, added, yieldIfDue);
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
