import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiHarness, startApi } from '../support/api.js';
import { fillRow, hex32, insertFills } from '../support/rows.js';

const HOUR_S = 3_600;
/** A full hour. */
const START_S = 1_789_999_200;
const hour = (n: number) => START_S + n * HOUR_S;

let api: ApiHarness;
let key: string;
beforeAll(async () => {
  api = await startApi({ nowMs: hour(1_000) * 1000 });
  key = await api.key('enterprise');
});
afterAll(() => api.stop());

/** A trade by the number of its hour and its price in cents. */
type Trade = readonly [hour: number, cents: number];
let tokens = 0;
/** Inserts trades of a new token, oldest first, half an hour after the full hour. */
async function tokenWith(trades: readonly Trade[]): Promise<string> {
  tokens += 1;
  const tokenId = String(70_000 + tokens);
  await insertFills(
    api.clickhouse,
    trades.map(([n, cents], index) =>
      fillRow({
        block: tokens * 1_000 + index,
        logIndex: 1,
        timestampS: hour(n) + HOUR_S / 2,
        orderHash: hex32(tokens * 1_000 + index),
        txHash: hex32(tokens * 1_000 + index),
        side: 'BUY',
        tokenId,
        usdc: BigInt(cents) * 10_000n,
        shares: 1_000_000n,
      }),
    ),
  );
  return tokenId;
}

interface Page {
  readonly candles: readonly { time: number; close: number; gap_filled: boolean }[];
  readonly pagination: {
    readonly older_end_ts: number | null;
    readonly newer_start_ts: number | null;
    readonly has_more: boolean;
    readonly has_older: boolean;
  };
}
const read = (tokenId: string, query: string) => api.ok<Page>(`/v3/markets/${tokenId}/candles?${query}`, key);

type Direction = 'before' | 'after';
/** Candles of all pages in a direction, oldest first, as hour and close in cents. */
async function walk(tokenId: string, direction: Direction, query: string, anchorS: number): Promise<number[][]> {
  const listed: number[][] = [];
  for (let anchor: number | null = anchorS; anchor !== null; ) {
    const { candles, pagination } = await read(tokenId, `${query}&direction=${direction}&anchor_ts=${anchor}`);
    const rows = candles.map(({ time, close }) => [(time - START_S) / HOUR_S, Math.round(close * 100)]);
    listed.splice(direction === 'after' ? listed.length : 0, 0, ...rows);
    anchor = direction === 'after' ? pagination.newer_start_ts : pagination.older_end_ts;
    expect(pagination.has_more).toBe(anchor !== null);
  }
  return listed;
}
const hours = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, n) => first + n);

describe('/v3 candles with gap_fill', () => {
  it.each([
    ['after', 0],
    ['before', 1_000],
  ] as const)('list every hour once, %s the anchor, where a page ends in a gap', async (direction, anchor) => {
    const tokenId = await tokenWith([
      [0, 40],
      [150, 50],
      [200, 60],
    ]);
    const listed = await walk(tokenId, direction, 'limit=120&gap_fill=1', hour(anchor));
    expect(listed).toEqual(hours(0, 200).map((n) => [n, n < 150 ? 40 : n < 200 ? 50 : 60]));
  });

  it('repeat the close before a range without trades, unless no trade came before or after it', async () => {
    const tokenId = await tokenWith([
      [0, 40],
      [30, 50],
    ]);
    const range = (from: number, to: number) => read(tokenId, `gap_fill=1&start=${hour(from)}&end=${hour(to)}`);
    const page = await range(10, 20);
    expect(page.candles.map(({ time, close, gap_filled }) => [time, close, gap_filled])).toEqual(
      hours(10, 20).map((n) => [hour(n), 0.4, true]),
    );
    expect(page.pagination).toMatchObject({ has_older: true, has_more: false, older_end_ts: null });
    expect((await range(31, 40)).candles).toEqual([]);
    expect((await range(-20, -10)).candles).toEqual([]);
    for (const gapFill of [0, 1]) {
      const { pagination } = await read(tokenId, `gap_fill=${gapFill}&direction=after&anchor_ts=${hour(31)}`);
      expect(pagination).toMatchObject({ has_more: false, has_older: true, newer_start_ts: null });
      expect(pagination.older_end_ts).toBe(hour(31) - 1);
    }
  });
});

describe('/v3 candles of a range', () => {
  it.each([
    ['after', 0],
    ['before', 2],
  ] as const)('announce no page outside of it, %s', async (direction, anchor) => {
    const tokenId = await tokenWith([
      [-9, 30],
      [0, 40],
      [2, 50],
      [30, 60],
    ]);
    // The range ends in the middle of an hour, or hours after its last trade.
    for (const rest of [0, 60, 5 * HOUR_S]) {
      const [start, end] = [hour(0) - rest, hour(2) + rest];
      const { candles, pagination } = await read(
        tokenId,
        `direction=${direction}&anchor_ts=${hour(anchor)}&start=${start}&end=${end}`,
      );
      expect(candles.map(({ time }) => time)).toEqual([hour(0), hour(2)]);
      expect(pagination).toMatchObject({
        has_more: false,
        [direction === 'after' ? 'newer_start_ts' : 'older_end_ts']: null,
        has_older: true,
        has_newer: true,
      });
    }
  });
});

it('pages of /v3 candles together list every candle of the range once, in both directions', async () => {
  const trade = fc.tuple(fc.integer({ min: 0, max: 60 }), fc.integer({ min: 1, max: 99 }));
  const property = fc.asyncProperty(
    fc.array(trade, { minLength: 1, maxLength: 12 }),
    fc.integer({ min: 3, max: 20 }),
    fc.integer({ min: -5, max: 65 }),
    fc.integer({ min: 0, max: 70 }),
    async (found, limit, first, length) => {
      const trades = found.toSorted(([a], [b]) => a - b);
      const tokenId = await tokenWith(trades);
      const closes = new Map(trades);
      const last = first + length;
      const oldest = trades[0]?.[0] as number;
      const newest = trades.at(-1)?.[0] as number;
      const every = hours(oldest, newest)
        .map((n) => [n, trades.findLast(([at]) => at <= n)?.[1] as number])
        .filter(([n]) => (n as number) >= first && (n as number) <= last);
      for (const gapFill of [0, 1]) {
        const expected = every.filter(([n]) => gapFill === 1 || closes.has(n as number));
        const query = `limit=${limit}&gap_fill=${gapFill}&start=${hour(first)}&end=${hour(last)}`;
        expect(await walk(tokenId, 'after', query, hour(first))).toEqual(expected);
        expect(await walk(tokenId, 'before', query, hour(last))).toEqual(expected);
      }
      api.clock.nowMs += 60_000;
    },
  );
  await fc.assert(property, { numRuns: 20 });
});
