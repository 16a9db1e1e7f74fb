import pLimit from 'p-limit';
import type { Changes } from '../catalogue/changes.js';
import type { Lookup } from '../catalogue/held-lookup.js';
import type { Price } from '../positions/position.js';
import { isGift, readEvents, versionOf } from './events.js';
import { covers, type Frame, frameOf, type Grid, isOld, newestOf, sumAt } from './frame.js';
import { atRest, type Pace, promptly } from './pace.js';
import { makeSmallPart, type PartDeps, readLargePart, readVersion, type WalletPart } from './parts.js';
import { type ProfitByPositions, profitByEvents, profitBySum } from './profit-now.js';
import { type EventRow, firstMomentSql } from './series.sql.js';

/** A wallet's total profit at a moment: base units, Unix seconds. */
export interface ProfitPoint {
  readonly atS: number;
  readonly pnl: bigint;
}

/** Moments counted back from the minute of now, `stepS` apart; null: as many as the wallet is old. */
export interface Period {
  readonly stepS: number;
  readonly points: number | null;
}

export interface ProfitSeries {
  /** The profit of a wallet over its whole life at the moments of a period, the newest at the prices of now; null for a wallet that never did anything. */
  readonly of: (wallet: string, period: Period) => Promise<readonly ProfitPoint[] | null>;
  /** Puts together what is over of a series, so that who asks for it need not wait; nothing where that is held. */
  readonly hold: (wallet: string, period: Period) => Promise<void>;
}

const MINUTE_S = 60;
/** Series put together at once. */
const AT_ONCE = 4;
/** Changes of positions. With 100,000 positions a series takes some 100 MB while it is put together: those of large wallets are made one by one. */
const MANY = 3_000;
/** Where what is over of a series is held, so many are read for what the wallet made up to now; of more, what the tables make of them, which takes less. */
const FEW = 1_000;
/** Steps of all parts together: some 16 MB. */
const MAX_STEPS = 1_000_000;
/** What a part takes besides its steps, in steps. */
const PART_STEPS = 40;

/** All changes of a wallet; null where they are many, undefined where they are to be read when they are needed. */
type Events = readonly EventRow[] | null | undefined;

interface Moments {
  readonly grid: Grid;
  /** Of a grid that goes back to the wallet's first moment. */
  readonly sinceS: number | null;
}

/** A part that is being made. */
interface Making {
  readonly frame: Frame;
  readonly made: Promise<Part>;
  /** Whether something came in that it may lack. */
  isLate: boolean;
  /** Whether it was begun beside the answers. */
  readonly isAhead: boolean;
  /** Whether an answer waits for it. */
  isAwaited: boolean;
}

/** What is over of a wallet's series. */
interface Part extends WalletPart {
  readonly frame: Frame;
  /** Of the wallet; infinite where they are many. */
  readonly changes: number;
}

/**
 * What is over of a series stays as it is while its frame serves, for an hour or two, unless something older comes in late: it is held, and an answer reads what
 * the wallet has now and nothing else. In the last hour of a part the next one is made beside the answers.
 */
export function createProfitSeries(
  deps: PartDeps & {
    profitByPositions: ProfitByPositions;
    prices: Lookup<Price>;
    changes: Changes;
    nowMs: () => number;
  },
): ProfitSeries {
  const { tables } = deps;
  const turn = pLimit(AT_ONCE);
  const largeTurn = pLimit(1);
  /** What is made ahead of questions: answers do not wait behind it. */
  const aheadTurn = pLimit(1);
  /** By wallet and period; the one used last comes last. */
  const parts = new Map<string, Part>();
  const making = new Map<string, Making>();
  let held = 0;

  const weightOf = ({ steps }: Part): number => PART_STEPS + steps.slots.length;
  const drop = (name: string) => {
    const part = parts.get(name);
    if (part !== undefined) held -= weightOf(part);
    parts.delete(name);
  };
  const put = (name: string, part: Part) => {
    drop(name);
    parts.set(name, part);
    held += weightOf(part);
    while (held > MAX_STEPS) drop(parts.keys().next().value as string);
  };
  deps.changes.on(['fills', 'resolutions'], (ids, _source, sinceS) => {
    const isLate = (frame: Frame) => ids === null || sinceS <= newestOf(frame);
    for (const [name, { frame }] of parts) if (isLate(frame)) drop(name);
    for (const one of making.values()) one.isLate ||= isLate(one.frame);
  });

  /** What is made ahead is made one by one: who waits for the last of them waits for all. */
  const isHasty = () => [...making.values()].some(({ isAhead, isAwaited }) => isAhead && isAwaited);
  const make = async (wallet: string, frame: Frame, known: Events, pace: Pace): Promise<Part> => {
    const events = known === undefined ? await readEvents(tables, wallet, MANY) : known;
    const made = await (events === null
      ? readLargePart(deps, wallet, frame, pace)
      : makeSmallPart(deps, wallet, frame, events, pace));
    return { frame, ...made, changes: events?.length ?? Number.POSITIVE_INFINITY };
  };
  /** The part that is being made, begun here where there is none. */
  const made = (name: string, wallet: string, frame: Frame, events: Events, isAhead: boolean): Promise<Part> => {
    const running = making.get(name);
    if (running !== undefined && newestOf(running.frame) === newestOf(frame)) {
      running.isAwaited ||= !isAhead;
      return running.made;
    }
    const limit = isAhead ? aheadTurn : events === null ? largeTurn : turn;
    const pace = isAhead ? atRest(isHasty) : promptly;
    const one: Making = {
      frame,
      made: limit(() => make(wallet, frame, events, pace)),
      isLate: false,
      isAhead,
      isAwaited: !isAhead,
    };
    making.set(name, one);
    return one.made
      .then((part) => {
        if (!one.isLate) put(name, part);
        return part;
      })
      .finally(() => {
        if (making.get(name) === one) making.delete(name);
      });
  };
  /** null for a wallet that never did anything. */
  const momentsOf = async (wallet: string, { stepS, points }: Period): Promise<Moments | null> => {
    const endS = Math.floor(deps.nowMs() / 1000 / MINUTE_S) * MINUTE_S;
    if (points !== null) return { grid: { startS: endS - (points - 1) * stepS, stepS, points }, sinceS: null };
    const [row] = await tables.rows<{ first: number | string }>(firstMomentSql(wallet));
    if (row === undefined) return null;
    const sinceS = Number(row.first);
    const count = Math.max(0, Math.floor((endS - sinceS) / stepS)) + 1;
    return { grid: { startS: endS - (count - 1) * stepS, stepS, points: count }, sinceS };
  };
  const nameOf = (wallet: string, { stepS, points }: Period): string => `${wallet} ${stepS} ${points}`;
  const heldFor = (name: string, grid: Grid): Part | null => {
    const part = parts.get(name);
    if (part === undefined || !covers(part.frame, grid)) return null;
    parts.delete(name);
    parts.set(name, part);
    return part;
  };

  const isLarge = (part: Part | null | undefined): boolean => part?.changes === Number.POSITIVE_INFINITY;
  const eventsOf = async (name: string, wallet: string): Promise<readonly EventRow[] | null> =>
    isLarge(parts.get(name)) ? null : turn(() => readEvents(tables, wallet, MANY));
  /** As `read` has it, where what is over is held and nothing came in late; undefined where something did. */
  const readHeld = async (name: string, wallet: string, next: Frame, grid: Grid, part: Part) => {
    const [now, version] = await (isLarge(part)
      ? Promise.all([
          deps.profitByPositions(wallet),
          readVersion(tables, wallet, part.frame).then(({ version }) => version),
        ])
      : profitBySum(deps, wallet, part.frame).then(
          async ({ pnl, version }) => [pnl ?? (await deps.profitByPositions(wallet)), version] as const,
        ));
    if (now === null) return null;
    if (part.version !== version) return undefined;
    // Whoever asks when this one no longer serves hears of a failure.
    if (isOld(part.frame, grid) && !making.has(name))
      made(name, wallet, next, isLarge(part) ? null : undefined, true).catch(() => undefined);
    return { part, now };
  };
  /** What is over of a wallet's series at the moments of a grid, and what it made up to now; null for a wallet that never did anything. */
  const read = async (wallet: string, period: Period, { grid, sinceS }: Moments) => {
    const name = nameOf(wallet, period);
    await deps.changes.current();
    const next = frameOf(grid, sinceS);
    const known = heldFor(name, grid);
    if (known !== null && known.changes > FEW) {
      const found = await readHeld(name, wallet, next, grid, known);
      if (found !== undefined) return found;
    }
    const events = await eventsOf(name, wallet);
    if (events?.length === 0) return null;
    const isSmall = events !== null && !events.some(isGift);
    const now = await (isSmall ? profitByEvents(events, deps.prices) : deps.profitByPositions(wallet));
    if (now === null) return null;
    if (known === null || events === null || known.version !== versionOf(events, known.frame))
      return { part: await made(name, wallet, next, events, false), now };
    // Changes that are few are at hand: they are not kept until others are done.
    if (isOld(known.frame, grid) && !making.has(name)) made(name, wallet, next, events, false).catch(() => undefined);
    return { part: known, now };
  };

  return {
    async of(wallet, period) {
      const moments = await momentsOf(wallet, period);
      const found = moments === null ? null : await read(wallet, period, moments);
      if (moments === null || found === null) return null;
      const { grid } = moments;
      const { part, now } = found;
      return Array.from({ length: grid.points }, (_, i) => {
        const atS = grid.startS + i * grid.stepS;
        return { atS, pnl: i === grid.points - 1 ? now : sumAt(part.steps, part.frame, atS) };
      });
    },
    async hold(wallet, period) {
      const moments = await momentsOf(wallet, period);
      if (moments === null) return;
      const name = nameOf(wallet, period);
      await deps.changes.current();
      const known = heldFor(name, moments.grid);
      if (known !== null && !isOld(known.frame, moments.grid)) return;
      const running = making.get(name);
      if (running !== undefined) {
        await running.made;
        return;
      }
      const frame = frameOf(moments.grid, moments.sinceS);
      const isMany = isLarge(known) || (await readVersion(tables, wallet, frame)).changes > MANY;
      await made(name, wallet, frame, isMany ? null : await eventsOf(name, wallet), true);
    },
  };
}
