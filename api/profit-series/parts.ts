import { marked } from '../positions/position.js';
import type { Tables } from '../tables/port.js';
import { boolFrom } from '../tables/values.js';
import { cashOf, isGift, versionOf } from './events.js';
import { type Frame, newestOf, type Steps, slotOf, stepsOf } from './frame.js';
import { type GiftStep, giftsOf } from './gifts.js';
import { inPieces, type Pace, promptly, type Turn } from './pace.js';
import type { PriceLine, PriceLines } from './price-lines.js';
import {
  type ChangeRow,
  changesSql,
  type EventRow,
  type GiftRow,
  giftsSql,
  type VersionRow,
  versionSql,
} from './series.sql.js';

/** What is known of so many is looked up at one go: in some milliseconds, where it is held in memory. */
const TOKENS_AT_ONCE = 1_000;
/** Changes of a large wallet that are read at once. */
const CHANGES_AT_ONCE = 5_000;

/** What happened to a position up to a slot of the frame. Base units. */
interface Change {
  readonly slot: number;
  /** See ChangeRow. */
  cash: bigint;
  size: bigint;
  cost: bigint;
}

const NONE: readonly never[] = [];
/** Of what is never held at a slot. */
const NO_LINE: PriceLine = { marks: NONE, settled: null };
const slotAt = (rows: readonly { readonly slot: number }[], at: number): number =>
  rows[at]?.slot ?? Number.POSITIVE_INFINITY;

/** Tells `add` what the changes of one position, and of its prices, are worth at the slots in which they happen. */
function addPosition(
  line: PriceLine,
  given: readonly GiftStep[],
  changes: readonly Change[],
  add: (slot: number, value: bigint) => void,
): void {
  const marks = line.marks ?? NONE;
  const settledFrom = line.settled?.slot ?? Number.POSITIVE_INFINITY;
  let [size, cost, gift, value] = [0n, 0n, 0n, 0n];
  let price: bigint | null = null;
  let [nextChange, nextGift, nextMark] = [0, 0, 0];
  const markAt = (at: number): number => marks[at] ?? Number.POSITIVE_INFINITY;
  for (let slot = slotAt(changes, 0); slot !== Number.POSITIVE_INFINITY; ) {
    for (; slotAt(changes, nextChange) <= slot; nextChange++) {
      const change = changes[nextChange] as Change;
      add(slot, change.cash);
      size = change.size;
      cost = change.cost;
    }
    for (; slotAt(given, nextGift) <= slot; nextGift++) gift = (given[nextGift] as GiftStep).value;
    for (; markAt(nextMark) <= slot; nextMark += 2) price = BigInt(marks[nextMark + 1] as number);
    // After a settlement only what it pays counts.
    if (line.settled !== null && settledFrom <= slot) price = line.settled.price;
    const next = price === null ? cost : marked(size - gift, price);
    if (next !== value) add(slot, next - value);
    value = next;
    const isOver = size === 0n && slotAt(changes, nextChange) === Number.POSITIVE_INFINITY;
    if (isOver) return;
    slot = Math.min(
      slotAt(changes, nextChange),
      slotAt(given, nextGift),
      settledFrom <= slot ? Number.POSITIVE_INFINITY : Math.min(markAt(nextMark), settledFrom),
    );
  }
}

export interface PartDeps {
  readonly tables: Tables;
  readonly priceLines: PriceLines;
}

/** Tokens with their changes in their order. */
type Changed = readonly [token: string, changes: readonly Change[]];

/** What is known of a wallet up to the newest slot of a frame. */
export interface WalletPart {
  readonly steps: Steps;
  /** See versionSql; of before anything else was read. */
  readonly version: string;
}

/** Tokens that are held at a slot of the frame, and the first such slot. */
function heldFromOf(tokens: readonly Changed[]): ReadonlyMap<string, number> {
  const heldFrom = new Map<string, number>();
  for (const [token, changes] of tokens) {
    const first = changes.find(({ size }) => size !== 0n);
    if (first !== undefined) heldFrom.set(token, first.slot);
  }
  return heldFrom;
}

/**
 * Cash in less cash out, less fees, plus what is held at its price of each moment; what no price is known of counts at its cost, gifts count
 * nothing, and what was given away counts as sold at its cost. Adds to what is added at each slot and stays.
 */
async function addAll(
  deps: PartDeps,
  frame: Frame,
  tokens: Iterator<Changed>,
  gifts: ReadonlyMap<string, readonly GiftStep[]>,
  added: Map<number, bigint>,
  turn: Turn,
): Promise<void> {
  const add = (slot: number, value: bigint) => added.set(slot, (added.get(slot) ?? 0n) + value);
  for (;;) {
    const some: Changed[] = [];
    for (let next = tokens.next(); next.done !== true; next = tokens.next()) {
      some.push(next.value);
      if (some.length === TOKENS_AT_ONCE) break;
    }
    if (some.length === 0) return;
    const lines = await deps.priceLines(frame, heldFromOf(some), turn);
    for (const [token, changes] of some) {
      addPosition(lines.get(token) ?? NO_LINE, gifts.get(token) ?? NONE, changes, add);
      await turn();
    }
  }
}
const readGifts = async ({ tables }: PartDeps, wallet: string, frame: Frame) =>
  giftsOf(await tables.rows<GiftRow>(giftsSql(wallet, frame)));

/** A wallet's profit over its whole life at the slots of a frame, by all its changes. */
export async function makeSmallPart(
  deps: PartDeps,
  wallet: string,
  frame: Frame,
  events: readonly EventRow[],
  pace: Pace = promptly,
): Promise<WalletPart> {
  const newestS = newestOf(frame);
  const changes = new Map<string, Change[]>();
  let given = false;
  for (const event of events) {
    // Times only rise.
    if (Number(event.at) > newestS) break;
    const slot = slotOf(frame, Number(event.at));
    given ||= isGift(event);
    const list = changes.get(event.token_id) ?? [];
    if (list.length === 0) changes.set(event.token_id, list);
    let change = list.at(-1);
    if (change?.slot !== slot) {
      change = { slot, cash: 0n, size: 0n, cost: 0n };
      list.push(change);
    }
    change.cash += cashOf(event);
    change.size = BigInt(event.size_after);
    change.cost = BigInt(event.cost_after);
  }
  const added = new Map<number, bigint>();
  const gifts = given ? await readGifts(deps, wallet, frame) : new Map();
  await addAll(deps, frame, changes.entries(), gifts, added, inPieces(pace));
  return { steps: stepsOf(added), version: versionOf(events, frame) };
}

/** Rows stand together by token. */
function* changedOf(rows: readonly ChangeRow[]): Generator<Changed> {
  for (let at = 0; at < rows.length; ) {
    const token = (rows[at] as ChangeRow).token;
    const changes: Change[] = [];
    for (; rows[at]?.token === token; at++) {
      const { slot, cash, size, cost } = rows[at] as ChangeRow;
      changes.push({ slot: Number(slot), cash: BigInt(cash), size: BigInt(size), cost: BigInt(cost) });
    }
    yield [token, changes];
  }
}

/** The same of a wallet with any number of changes: the tables put them together by slots, and tell them of some of its tokens at a time. */
export async function readLargePart(
  deps: PartDeps,
  wallet: string,
  frame: Frame,
  pace: Pace = promptly,
): Promise<WalletPart> {
  const { tables } = deps;
  const turn = inPieces(pace);
  const { version, changes } = await readVersion(tables, wallet, frame);
  const times = Math.ceil(changes / CHANGES_AT_ONCE);
  const added = new Map<number, bigint>();
  let gifts: Awaited<ReturnType<typeof readGifts>> = new Map();
  for (let share = 0; share < times; share++) {
    const rows = await tables.rows<ChangeRow>(changesSql(wallet, frame, { share, of: times }));
    if (gifts.size === 0 && rows.some((change) => boolFrom(change.gifts))) gifts = await readGifts(deps, wallet, frame);
    await turn();
    await addAll(deps, frame, changedOf(rows), gifts, added, turn);
  }
  return { steps: stepsOf(added), version };
}

/** Of a wallet's changes up to the newest slot of a frame, see VersionRow. */
export async function readVersion(
  tables: Tables,
  wallet: string,
  frame: Frame,
): Promise<{ readonly version: string; readonly changes: number }> {
  const [row] = await tables.rows<VersionRow>(versionSql(wallet, frame));
  return { version: row?.version ?? '0', changes: Number(row?.changes ?? 0) };
}
