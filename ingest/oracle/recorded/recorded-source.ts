import { pause } from '../../shared/pause.js';
import { shiftDaysFor } from '../../shared/recorded/index.js';
import type { RecordedTick, Recording } from '../../shared/recorded/types.js';
import type { OraclePrice, OracleSource } from '../source.js';

const FEED = 'BTC/USD';
const DAY_MS = 86_400_000;
const BATCH_TICKS = 5000;
/** Longest wait before the clock is read again, because the clock may be set during a wait. */
const CLOCK_POLL_MS = 1000;

/** Parts of a recording that this source plays. */
export type RecordedDay = Pick<Recording, 'meta' | 'ticks'>;

/**
 * Plays the recorded day of BTC/USD ticks. History: the day at its recorded times. Live: the same day repeatedly, each tick at its recorded
 * time of day, shifted by whole days, delivered when the clock reaches its shifted time of receipt; seconds that the recording lacks stay
 * missing. An empty log first receives the shifted ticks of the last `warmUpMs`, so that candles and open windows are complete; later starts
 * resume after the last tick in the log, at most `maxGapMs` back.
 */
export function createRecordedOracleSource(options: {
  recording: RecordedDay;
  /** true: no live feed. */
  historyOnly?: boolean;
  warmUpMs?: number;
  maxGapMs?: number;
  nowMs?: () => number;
}): OracleSource {
  const { recording, historyOnly = false, warmUpMs = 3 * 3_600_000, maxGapMs = DAY_MS, nowMs = Date.now } = options;
  const dayStartMs = recording.meta.day.from_ms;
  const ticks: readonly RecordedTick[] = [...recording.ticks()];
  const lastMs = ticks.at(-1)?.timestampMs ?? dayStartMs;
  const shiftDays = () => shiftDaysFor(Math.floor(nowMs() / 1000), dayStartMs / 1000);

  /** Index of the first tick after a recorded time. */
  const firstAfter = (ms: number): number => {
    let low = 0;
    let high = ticks.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (ticks[middle]!.timestampMs <= ms) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  const priceOf = (tick: RecordedTick, shiftMs: number): OraclePrice => ({
    feed: FEED,
    isTwap: false,
    windowS: null,
    timestampMs: tick.timestampMs + shiftMs,
    priceE18: tick.priceE18,
    bidE18: null,
    askE18: null,
    receivedMs: tick.receivedMs + shiftMs,
    source: 'recorded',
  });
  const historyFrom = (resume: ReadonlyMap<string, number>) => firstAfter(resume.get(FEED) ?? 0);

  /** Endless sequence of ticks after `fromMs` on the shifted timeline, which starts with the day after the recorded day. */
  function* moved(fromMs: number): Generator<OraclePrice> {
    let days = Math.max(1, Math.floor((fromMs - dayStartMs) / DAY_MS));
    let index = firstAfter(fromMs - days * DAY_MS);
    if (ticks.length === 0) return;
    for (;;) {
      const tick = ticks[index];
      if (tick === undefined) {
        days++;
        index = 0;
      } else {
        yield priceOf(tick, days * DAY_MS);
        index++;
      }
    }
  }

  return {
    mode: 'recorded',
    description: `recorded BTC/USD ticks of ${new Date(dayStartMs).toISOString().slice(0, 10)}, played ${shiftDays()} days later`,
    get shiftDays() {
      return shiftDays();
    },
    recordedFromMs: dayStartMs,
    historyTotal: (resume) => ticks.length - historyFrom(resume),
    async *history(resume, signal) {
      for (let from = historyFrom(resume); from < ticks.length && !signal.aborted; from += BATCH_TICKS) {
        yield ticks.slice(from, from + BATCH_TICKS).map((tick) => priceOf(tick, 0));
      }
    },
    async *live(resume, signal) {
      yield {
        type: 'connected',
        connected: true,
        detail: historyOnly ? 'at its end' : `${shiftDays()} days after the recording`,
      };
      if (historyOnly) return;
      const newest = resume.get(FEED) ?? 0;
      const now = nowMs();
      const fromMs = newest > lastMs ? Math.max(newest, now - maxGapMs) : Math.max(lastMs, now - warmUpMs);
      let ready: OraclePrice[] = [];
      for (const price of moved(fromMs)) {
        while (price.receivedMs > nowMs() && !signal.aborted) {
          if (ready.length > 0) {
            yield { type: 'prices', prices: ready };
            ready = [];
          }
          await pause(Math.min(CLOCK_POLL_MS, Math.max(1, price.receivedMs - nowMs())), signal);
        }
        if (signal.aborted) return;
        ready.push(price);
        if (ready.length >= BATCH_TICKS) {
          yield { type: 'prices', prices: ready };
          ready = [];
        }
      }
    },
  };
}
