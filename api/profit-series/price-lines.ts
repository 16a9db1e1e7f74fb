import type { Changes } from '../catalogue/changes.js';
import type { Facts } from '../catalogue/facts.js';
import { oppositeOf } from '../positions/outcomes.js';
import type { ClosesReader } from './closes.js';
import { type Frame, hourOf, newestOf } from './frame.js';
import { marksOf, settlementOf } from './marks.js';
import type { Turn } from './pace.js';

/** What a token was worth at the slots of a frame. */
export interface PriceLine {
  /** A slot and the price from it on, 1e-6 USD, in turn; null where it was not asked for, as the token had been settled before. */
  readonly marks: readonly number[] | null;
  /** From which slot on it is settled, and what it pays, 1e-6 USD; null while it is open at the newest slot. */
  readonly settled: { readonly slot: number; readonly price: bigint } | null;
}

/** Lines of tokens. `heldFrom`: tokens, and the slot from which their prices count; `turn`: awaited after each line that is put together. */
export type PriceLines = (
  frame: Frame,
  heldFrom: ReadonlyMap<string, number>,
  turn: Turn,
) => Promise<ReadonlyMap<string, PriceLine>>;

/** Frames of which lines are held: of the periods that are asked for, in this hour and the one before. */
const MAX_FRAMES = 4;
/** Of the lines of all frames: some 10 MB. */
const MAX_NUMBERS = 1_200_000;
/** What a line takes besides its marks, in numbers. */
const LINE_NUMBERS = 24;

interface Held {
  readonly frame: Frame;
  readonly lines: Map<string, PriceLine>;
  numbers: number;
}

/**
 * Shared between wallets, and held while their frame serves: putting a line together takes ten times as long as following it. Lines of a frame into which
 * a trade or a settlement came late are put together anew. Those of a wallet's own frame are held with its series alone.
 */
export function createPriceLines(deps: { facts: Facts; closesOf: ClosesReader; changes: Changes }): PriceLines {
  const { facts } = deps;
  /** The one used last comes last. */
  const frames = new Map<string, Held>();
  deps.changes.on(['fills', 'resolutions'], (ids, _source, sinceS) => {
    for (const [name, { frame }] of frames) if (ids === null || sinceS <= newestOf(frame)) frames.delete(name);
  });

  const heldOf = (frame: Frame): Held => {
    const name = Object.values(frame).join(' ');
    const held = frames.get(name) ?? { frame, lines: new Map<string, PriceLine>(), numbers: 0 };
    if (frame.own) return held;
    frames.delete(name);
    frames.set(name, held);
    while (frames.size > MAX_FRAMES) frames.delete(frames.keys().next().value as string);
    return held;
  };
  /** Frames of earlier hours make way. */
  const hasRoom = (frame: Frame): boolean => {
    for (;;) {
      let numbers = 0;
      for (const held of frames.values()) numbers += held.numbers;
      if (numbers < MAX_NUMBERS) return true;
      const earlier = [...frames].find(([, held]) => hourOf(held.frame) < hourOf(frame));
      if (earlier === undefined) return false;
      frames.delete(earlier[0]);
    }
  };

  const read = async (...[frame, heldFrom, turn]: Parameters<PriceLines>): Promise<Map<string, PriceLine>> => {
    const abouts = await facts.tokensOf([...heldFrom.keys()]);
    const conditions = [...abouts.values()].flatMap((about) => (about === null ? [] : [about.conditionId]));
    const [markets, resolutions] = await Promise.all([facts.marketsOf(conditions), facts.resolutionsOf(conditions)]);
    const settled = new Map<string, NonNullable<PriceLine['settled']>>();
    const priced = new Set<string>();
    const otherOf = new Map<string, string>();
    for (const [token, about] of abouts) {
      await turn();
      const resolution = about === null ? null : (resolutions.get(about.conditionId) ?? null);
      const settlement = settlementOf(about, resolution, frame);
      if (settlement !== null) {
        settled.set(token, settlement);
        // What was settled before it is first seen held needs no other price.
        if (settlement.slot <= (heldFrom.get(token) ?? 0)) continue;
      }
      priced.add(token);
      if (about === null) continue;
      const tokenIds = markets.get(about.conditionId)?.tokenIds ?? [];
      const { outcomeIndex } = about;
      const other = about.otherTokenId ?? oppositeOf({ outcomeIndex, tokenIds });
      if (other !== null) otherOf.set(token, other);
    }
    const closes = await deps.closesOf([...new Set([...priced, ...otherOf.values()])], frame.startS);
    const lineOf = (token: string): PriceLine => {
      const other = otherOf.get(token);
      return {
        marks: priced.has(token) ? marksOf(frame, closes(token), other === undefined ? [] : closes(other)) : null,
        settled: settled.get(token) ?? null,
      };
    };
    const lines = new Map<string, PriceLine>();
    for (const token of heldFrom.keys()) {
      lines.set(token, lineOf(token));
      await turn();
    }
    return lines;
  };

  return async (frame, heldFrom, turn) => {
    await deps.changes.current();
    const held = heldOf(frame);
    const found = new Map<string, PriceLine>();
    const missing = new Map<string, number>();
    for (const [token, slot] of heldFrom) {
      const line = held.lines.get(token);
      const serves =
        line !== undefined && (line.marks !== null || (line.settled !== null && line.settled.slot <= slot));
      if (serves) found.set(token, line);
      else missing.set(token, slot);
    }
    if (missing.size === 0) return found;
    const isRoom = frame.own || hasRoom(frame);
    for (const [token, line] of await read(frame, missing, turn)) {
      found.set(token, line);
      if (!isRoom) continue;
      held.lines.set(token, line);
      held.numbers += LINE_NUMBERS + (line.marks?.length ?? 0);
    }
    return found;
  };
}
