import type { RecordedMarket } from '../../shared/recorded/types.js';

/** Says when a market's catalogue entry changes by itself: when it appears and when it is over. */
export interface Schedule {
  /** Plan the changes of a market that lie after `nowMs`. */
  add(market: RecordedMarket, nowMs: number): void;
  /** Markets with a change that is due, each once, in the order of their changes; they are taken out. */
  due(nowMs: number): RecordedMarket[];
  /** Time of the next change; null when nothing is planned. */
  nextMs(): number | null;
}

interface Entry {
  readonly atMs: number;
  readonly market: RecordedMarket;
}

/** The catalogue follows the chain's resolution; where the recording has none, the end of the window. */
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
