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

/** What is known of so many is looked up at one go: in some milliseconds, where it is held in memory. */
const TOKEN_BATCH = 1_000;
/** Changes of a large wallet that are read at once. */
const CHANGE_BATCH = 5_000;

/** What happened to a position up to a slot of the frame. Base units. */
interface PositionChange {
  readonly bucketIndex: number;
  /** See ChangeRow. */
  cash: bigint;
  size: bigint;
  cost: bigint;
}

const NONE: readonly never[] = [];
/** Of what is never held at a slot. */
const EMPTY_HISTORY: PriceHistory = { priceSteps: NONE, settled: null };
const bucketIndexAt = (rows: readonly { readonly bucketIndex: number }[], at: number): number =>
  rows[at]?.bucketIndex ?? Number.POSITIVE_INFINITY;

/** Tells `add` what the changes of one position, and of its prices, are worth at the slots in which they happen. */
function addPosition(
  history: PriceHistory,
  inflows: readonly InflowStep[],
  changes: readonly PositionChange[],
  add: (slot: number, value: bigint) => void,
): void {
  const marks = history.priceSteps ?? NONE;
  const settledFrom = history.settled?.bucketIndex ?? Number.POSITIVE_INFINITY;
  let [size, cost, inflow, value] = [0n, 0n, 0n, 0n];
  let price: bigint | null = null;
  let [nextChange, nextInflow, nextPriceStep] = [0, 0, 0];
  const priceStepAt = (at: number): number => marks[at] ?? Number.POSITIVE_INFINITY;
  for (let slot = bucketIndexAt(changes, 0); slot !== Number.POSITIVE_INFINITY; ) {
    for (; bucketIndexAt(changes, nextChange) <= slot; nextChange++) {
      const change = changes[nextChange] as PositionChange;
      add(slot, change.cash);
      size = change.size;
      cost = change.cost;
    }
    for (; bucketIndexAt(inflows, nextInflow) <= slot; nextInflow++) inflow = (inflows[nextInflow] as InflowStep).value;
    for (; priceStepAt(nextPriceStep) <= slot; nextPriceStep += 2) price = BigInt(marks[nextPriceStep + 1] as number);
    // After a settlement only what it pays counts.
    if (history.settled !== null && settledFrom <= slot) price = history.settled.price;
    const next = price === null ? cost : valueAtPrice(size - inflow, price);
    if (next !== value) add(slot, next - value);
    value = next;
    const isOver = size === 0n && bucketIndexAt(changes, nextChange) === Number.POSITIVE_INFINITY;
    if (isOver) return;
    slot = Math.min(
      bucketIndexAt(changes, nextChange),
      bucketIndexAt(inflows, nextInflow),
      settledFrom <= slot ? Number.POSITIVE_INFINITY : Math.min(priceStepAt(nextPriceStep), settledFrom),
    );
  }
}

export interface SeriesDeps {
  readonly tables: Tables;
  readonly readPriceHistory: PriceHistoryReader;
}

/** Tokens with their changes in their order. */
type TokenChanges = readonly [token: string, changes: readonly PositionChange[]];

/** What is known of a wallet up to the newest slot of a frame. */
export interface CachedSeries {
  readonly steps: CumulativeSteps;
  /** See versionSql; of before anything else was read. */
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
    if (first !== undefined) heldFrom.set(token, first.bucketIndex);
  }
  return heldFrom;
}

/**
 * Cash in less cash out, less fees, plus what is held at its price of each moment; what no price is known of counts at its cost, gifts count
 * nothing, and what was given away counts as sold at its cost. Adds to what is added at each slot and stays.
 */
async function addPositions(
  deps: SeriesDeps,
  frame: TimeGrid,
  tokens: Iterator<TokenChanges>,
  { gifts, feeCosts }: UnclearParts,
  added: Map<number, bigint>,
  yieldIfDue: YieldIfDue,
): Promise<void> {
  const add = (slot: number, value: bigint) => added.set(slot, (added.get(slot) ?? 0n) + value);
  for (;;) {
    const some: TokenChanges[] = [];
    for (let next = tokens.next(); next.done !== true; next = tokens.next()) {
      some.push(next.value);
      if (some.length === TOKEN_BATCH) break;
    }
    if (some.length === 0) return;
    const lines = await deps.readPriceHistory(frame, firstHeldBuckets(some), yieldIfDue);
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

/** A wallet's profit over its whole life at the slots of a frame, by all its changes. */
export async function computeSeriesFromEvents(
  deps: SeriesDeps,
  wallet: string,
  frame: TimeGrid,
  events: readonly EventRow[],
  pace: YieldPolicy = yieldToEventLoop,
): Promise<CachedSeries> {
  const newestS = newestTimeOf(frame);
  const changes = new Map<string, PositionChange[]>();
  let given = false;
  let feeShares = false;
  for (const event of events) {
    // Times only rise.
    if (Number(event.at) > newestS) break;
    const bucketIndex = bucketIndexOf(frame, Number(event.at));
    given ||= isUntrackedInflow(event);
    feeShares ||= event.fee_shares !== '0';
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
  const gifts = given ? await readUntrackedInflow(deps, wallet, frame) : new Map();
  const feeCosts = feeShares ? await readFeeCosts(deps, wallet, frame) : new Map();
  await addPositions(deps, frame, changes.entries(), { gifts, feeCosts }, added, createYieldIfDue(pace));
  return { steps: stepsOf(added), version: versionOf(events, frame) };
}

/** Rows stand together by token. */
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

/** The same of a wallet with any number of changes: the tables put them together by slots, and tell them of some of its tokens at a time. */
export async function computeSeriesFromBuckets(
  deps: SeriesDeps,
  wallet: string,
  frame: TimeGrid,
  pace: YieldPolicy = yieldToEventLoop,
): Promise<CachedSeries> {
  const { tables } = deps;
  const yieldIfDue = createYieldIfDue(pace);
  const { version, changes } = await readVersion(tables, wallet, frame);
  const times = Math.ceil(changes / CHANGE_BATCH);
  const added = new Map<number, bigint>();
  let gifts: UnclearParts['gifts'] = new Map();
  let feeCosts: UnclearParts['feeCosts'] = new Map();
  for (let share = 0; share < times; share++) {
    const rows = await tables.rows<ChangeRow>(changesSql(wallet, frame, { share, of: times }));
    if (gifts.size === 0 && rows.some((change) => boolFrom(change.gifts)))
      gifts = await readUntrackedInflow(deps, wallet, frame);
    if (feeCosts.size === 0 && rows.some((change) => boolFrom(change.fee_shares)))
      feeCosts = await readFeeCosts(deps, wallet, frame);
    await yieldIfDue();
    await addPositions(deps, frame, changesByToken(rows), { gifts, feeCosts }, added, yieldIfDue);
  }
  return { steps: stepsOf(added), version };
}

/** Of a wallet's changes up to the newest slot of a frame, see VersionRow. */
export async function readVersion(
  tables: Tables,
  wallet: string,
  frame: TimeGrid,
): Promise<{ readonly version: string; readonly changes: number }> {
  const [row] = await tables.rows<VersionRow>(versionSql(wallet, frame));
  return { version: row?.version ?? '0', changes: Number(row?.changes ?? 0) };
}
