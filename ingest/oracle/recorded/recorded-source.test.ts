import { describe, expect, it } from 'vitest';
import type { RecordedTick } from '../../shared/recorded/types.js';
import type { OracleLiveEvent, OraclePrice } from '../source.js';
import { createRecordedOracleSource } from './recorded-source.js';

const DAY = 86_400_000;
const dayStart = Date.UTC(2026, 6, 24);
/** A tick each 10 minutes, but none between 02:00 and 03:00; received 1.5 s later. */
const ticks: RecordedTick[] = Array.from({ length: 144 }, (_, n) => dayStart + n * 600_000)
  .filter((ms) => ms < dayStart + 7_200_000 || ms >= dayStart + 10_800_000)
  .map((timestampMs, n) => ({
    timestampMs,
    priceE18: BigInt(n + 1),
    serverMs: timestampMs + 1200,
    receivedMs: timestampMs + 1500,
  }));
const recording = {
  meta: {
    format: 1,
    sources: [],
    day: { from_ms: dayStart, markets: 0 },
    tail: { from_s: 0, history_until_s: 0 },
    counts: {},
  },
  ticks: () => ticks,
};
const at = (days: number, hour: number, minute = 0, second = 0) =>
  dayStart + days * DAY + ((hour * 60 + minute) * 60 + second) * 1000;

/** The prices delivered up to now, without waiting for the next. */
async function upToNow(source: ReturnType<typeof createRecordedOracleSource>, resume = new Map<string, number>()) {
  const stop = new AbortController();
  const prices: OraclePrice[] = [];
  const live: AsyncIterator<OracleLiveEvent> = source.live(resume, stop.signal)[Symbol.asyncIterator]();
  setTimeout(() => stop.abort(), 30);
  for (;;) {
    const next = await live.next();
    if (next.done === true) return prices;
    if (next.value.type === 'prices') prices.push(...next.value.prices);
  }
}
const times = (prices: readonly OraclePrice[]) => prices.map((price) => price.timestampMs);

describe('createRecordedOracleSource', () => {
  it('delivers the day at its recorded times, from the end of the log', async () => {
    const source = createRecordedOracleSource({ recording, nowMs: () => at(100, 12) });
    expect(source.shiftDays).toBe(100);
    expect(source.historyTotal(new Map())).toBe(ticks.length);
    const resume = new Map([['BTC/USD', at(0, 23, 30)]]);
    expect(source.historyTotal(resume)).toBe(2);
    const batches: OraclePrice[][] = [];
    for await (const batch of source.history(resume, new AbortController().signal)) batches.push([...batch]);
    expect(batches.map(times)).toEqual([[at(0, 23, 40), at(0, 23, 50)]]);
    expect(batches[0]?.[0]).toMatchObject({ feed: 'BTC/USD', windowS: null, receivedMs: at(0, 23, 40) + 1500 });
  });

  it('starts an empty log with the last three hours; the recorded gap remains', async () => {
    const source = createRecordedOracleSource({ recording, nowMs: () => at(100, 3, 10, 1) });
    const prices = await upToNow(source);
    const expected = [at(100, 0, 20), at(100, 0, 30), at(100, 0, 40), at(100, 0, 50)];
    for (let minute = 0; minute < 60; minute += 10) expected.push(at(100, 1, minute));
    // 03:10:00 is received at 03:10:01.5, half a second from now.
    expect(times(prices)).toEqual([...expected, at(100, 3, 0)]);
    const again = ticks.find((tick) => tick.timestampMs === at(0, 3, 0));
    expect(prices.at(-1)).toMatchObject({ priceE18: again?.priceE18, receivedMs: at(100, 3) + 1500 });
  });

  it('repeats the day after midnight', async () => {
    const source = createRecordedOracleSource({ recording, warmUpMs: 1_500_000, nowMs: () => at(101, 0, 10, 2) });
    expect(times(await upToNow(source))).toEqual([at(100, 23, 50), at(101, 0, 0), at(101, 0, 10)]);
    expect(source.shiftDays).toBe(101);
  });

  it('resumes after the last tick in the log, at most a day back', async () => {
    const source = createRecordedOracleSource({ recording, nowMs: () => at(100, 12, 0, 5) });
    expect(times(await upToNow(source, new Map([['BTC/USD', at(100, 11, 30)]])))).toEqual([
      at(100, 11, 40),
      at(100, 11, 50),
      at(100, 12, 0),
    ]);
    expect(times(await upToNow(source, new Map([['BTC/USD', at(100, 12)]])))).toEqual([]);
    const old = times(await upToNow(source, new Map([['BTC/USD', at(90, 11, 30)]])));
    expect([old.length, old[0], old.at(-1)]).toEqual([ticks.length, at(99, 12, 10), at(100, 12, 0)]);
  });

  it('never plays the recorded day at its own date', async () => {
    const source = createRecordedOracleSource({ recording, nowMs: () => at(1, 0, 30, 5) });
    expect(times(await upToNow(source))).toEqual([at(1, 0), at(1, 0, 10), at(1, 0, 20), at(1, 0, 30)]);
  });

  it('delivers each tick when the clock reaches its receipt', async () => {
    let now = at(100, 12, 0, 0);
    const source = createRecordedOracleSource({ recording, warmUpMs: 0, nowMs: () => now });
    const stop = new AbortController();
    const live = source.live(new Map(), stop.signal)[Symbol.asyncIterator]();
    expect((await live.next()).value).toMatchObject({ type: 'connected', connected: true });
    const pending = live.next();
    now = at(100, 12, 10, 1.499);
    const early = await Promise.race([pending, new Promise((resolve) => setTimeout(() => resolve('nothing yet'), 50))]);
    expect(early).toBe('nothing yet');
    now = at(100, 12, 10, 1.5);
    expect((await pending).value).toMatchObject({ type: 'prices', prices: [{ timestampMs: at(100, 12, 10) }] });
    stop.abort();
    expect((await live.next()).done).toBe(true);
  });

  it('has no live feed in history-only mode, and is not reported as disconnected', async () => {
    const source = createRecordedOracleSource({ recording, historyOnly: true, nowMs: () => at(100, 12) });
    expect(await upToNow(source)).toEqual([]);
    const events = [];
    for await (const event of source.live(new Map(), new AbortController().signal)) events.push(event);
    expect(events).toEqual([{ type: 'connected', connected: true, detail: 'at its end' }]);
  });
});
