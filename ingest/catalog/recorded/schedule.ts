import type { RecordedMarket } from '../../shared/recorded/types.js';

/** Schedule of changes of catalog entries: when a market appears and when it ends. */
export interface Schedule {
  /** Schedules the changes of a market after `nowMs`. */
  add(market: RecordedMarket, nowMs: number): void;
  /** Removes and returns the markets with a due change, each once, in order of their changes. */
  due(nowMs: number): RecordedMarket[];
  /** Time of the next change; null when none is scheduled. */
  nextMs(): number | null;
}

interface Entry {
  readonly atMs: number;
  readonly market: RecordedMarket;
}

/** The catalog closes a market at its resolution on chain; without a recorded resolution, at the end of the window. */
function changeTimesMs(market: RecordedMarket): number[] {
  const times = [market.createdS, market.resolvedS ?? market.endS];
  return times.flatMap((timeS) => (timeS === null ? [] : [timeS * 1000]));
}

export function createSchedule(): Schedule {
  const entries: Entry[] = [];
  let sorted = true;
  const sort = () => {
    if (!sorted) entries.sort((a, b) => b.atMs - a.atMs);
    sorted = true;
  };
  return {
    add(market, nowMs) {
      for (const atMs of changeTimesMs(market)) {
        if (atMs <= nowMs) continue;
        entries.push({ atMs, market });
        sorted = false;
      }
    },
    due(nowMs) {
      sort();
      const markets = new Set<RecordedMarket>();
      for (let last = entries.at(-1); last !== undefined && last.atMs <= nowMs; last = entries.at(-1)) {
        markets.add(last.market);
        entries.pop();
      }
      return [...markets];
    },
    nextMs() {
      sort();
      return entries.at(-1)?.atMs ?? null;
    },
  };
}
