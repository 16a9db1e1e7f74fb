import { setImmediate as others } from 'node:timers/promises';
import { marked } from '../positions/position.js';
import type { Tables } from '../tables/port.js';
import { boolFrom } from '../tables/values.js';
import { type Frame, type Steps, stepsOf } from './frame.js';
import { type GiftStep, giftsOf } from './gifts.js';
import type { PriceLine, PriceLines } from './price-lines.js';
import { type ChangeRow, changesSql, type GiftRow, giftsSql } from './series.sql.js';

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
/** Of what is never held at a slot. */
const NO_LINE: PriceLine = { marks: NONE, settled: null };
const slotAt = (rows: readonly { readonly slot: number | string }[], at: number): number =>
  Number(rows[at]?.slot ?? Number.POSITIVE_INFINITY);

/** Tells `add` what the changes of one position, and of its prices, are worth at the slots in which they happen. */
function addPosition(
  line: PriceLine,
  given: readonly GiftStep[],
  changes: readonly ChangeRow[],
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
      const change = changes[nextChange] as ChangeRow;
      add(slot, BigInt(change.cash));
      size = BigInt(change.size);
      cost = BigInt(change.cost);
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

/** Tokens that are held at a slot of the frame, and the first such slot. */
function heldFromOf(changes: readonly ChangeRow[]): ReadonlyMap<string, number> {
  const heldFrom = new Map<string, number>();
  for (const { token, slot, size } of changes)
    if (size !== '0') heldFrom.set(token, Math.min(Number(slot), heldFrom.get(token) ?? Number(slot)));
  return heldFrom;
}

/**
 * A wallet's profit over its whole life at the slots of a frame. `most`: 'more' for a wallet with more changes than these, of which nothing further
 * is read.
 *
 * Cash in less cash out, less fees, plus what is held at its price of each moment; what no price is known of counts at its cost, gifts count
 * nothing, and what was given away counts as sold at its cost.
 */
export async function readPart(deps: PartDeps, wallet: string, frame: Frame, most: null): Promise<Steps>;
export async function readPart(deps: PartDeps, wallet: string, frame: Frame, most: number): Promise<Steps | 'more'>;
export async function readPart(
  deps: PartDeps,
  wallet: string,
  frame: Frame,
  most: number | null,
): Promise<Steps | 'more'> {
  const { tables } = deps;
  const changes = await tables.rows<ChangeRow>(changesSql(wallet, frame, most));
  if (most !== null && changes.length > most) return 'more';
  const given = changes.some((change) => boolFrom(change.gifts));
  const gifts = giftsOf(given ? await tables.rows<GiftRow>(giftsSql(wallet, frame)) : []);
  // What is added at each slot and stays.
  const added = new Map<number, bigint>();
  const add = (slot: number, value: bigint) => added.set(slot, (added.get(slot) ?? 0n) + value);
  let turnMs = performance.now();
  for (let from = 0, to = 0; from < changes.length; from = to) {
    while (to < changes.length && to - from < CHANGES_AT_ONCE) to = endOfToken(changes, to);
    const lines = await deps.priceLines(frame, heldFromOf(changes.slice(from, to)));
    for (let at = from, end = at; at < to; at = end) {
      end = endOfToken(changes, at);
      const { token } = changes[at] as ChangeRow;
      addPosition(lines.get(token) ?? NO_LINE, gifts.get(token) ?? NONE, changes.slice(at, end), add);
      if (performance.now() - turnMs < TURN_MS) continue;
      await others();
      turnMs = performance.now();
    }
  }
  return stepsOf(added);
}
