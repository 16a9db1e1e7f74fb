import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Candle, readCandles } from '../../api/candles/reader.js';
import { createClickHouseTables } from '../../api/tables/clickhouse-tables.js';
import type { Sql, Tables } from '../../api/tables/port.js';
import { startMigratedClickHouse, type TestClickHouse } from '../support/clickhouse.js';

const T = 1_790_000_000;
const TOKEN = '777';
/** Inserts that are not merged: each leaves separate rows in nearly every bucket. */
const INSERTS = 8;
const BLOCKS = 104;
/** Two blocks per hour. */
const BLOCK_S = 1_800;

interface Fill {
  readonly atS: number;
  readonly block: number;
  readonly logIndex: number;
  readonly side: 'BUY' | 'SELL';
  readonly usdc: number;
  readonly shares: number;
}

/** A number below `limit` that depends on all arguments. */
function mixed(limit: number, ...seeds: readonly number[]): number {
  let state = 17;
  for (const seed of seeds) state = Math.imul(state ^ (seed + 0x9e37), 0x85ebca6b) ^ (state >>> 13);
  return (state >>> 8) % limit;
}

/** A block has fills of most inserts, whose order is not that of their logs. */
const inserts: readonly (readonly Fill[])[] = Array.from({ length: INSERTS }, (_, n) =>
  Array.from({ length: BLOCKS }, (_, height) => height)
    .filter((height) => mixed(4, height, n, 0) > 0)
    .map((height) => ({
      atS: T + height * BLOCK_S,
      block: 1000 + height,
      logIndex: (n * 5 + height) % INSERTS,
      side: mixed(3, height, n, 1) === 0 ? 'SELL' : 'BUY',
      usdc: (1 + mixed(99, height, n, 2)) * 10_000,
      shares: (1 + mixed(7, height, n, 3)) * 300_000,
    })),
);

const inChainOrder = (a: Fill, b: Fill): number => a.block - b.block || a.logIndex - b.logIndex;
const sum = (amounts: readonly number[]): bigint => BigInt(amounts.reduce((total, one) => total + one, 0));
const placeOf = ({ atS, block, logIndex }: Fill) => ({ atS, block, logIndex });

/** The candles of all fills, from their definition. */
function naiveCandles(seconds: number): readonly Candle[] {
  const buckets = new Map<number, Fill[]>();
  for (const fill of inserts.flat().sort(inChainOrder)) {
    const startS = fill.atS - (fill.atS % seconds);
    buckets.set(startS, [...(buckets.get(startS) ?? []), fill]);
  }
  return [...buckets].map(([startS, own]) => {
    const prices = own.map(({ usdc, shares }) => BigInt(Math.round((usdc * 1_000_000) / shares)));
    const ascending = prices.toSorted((a, b) => (a < b ? -1 : 1));
    const [first, last] = [own[0] as Fill, own.at(-1) as Fill];
    return {
      startS,
      open: prices[0] as bigint,
      high: ascending.at(-1) as bigint,
      low: ascending[0] as bigint,
      close: prices.at(-1) as bigint,
      trades: own.length,
      usdc: sum(own.map(({ usdc }) => usdc)),
      buyUsdc: sum(own.filter(({ side }) => side === 'BUY').map(({ usdc }) => usdc)),
      shares: sum(own.map(({ shares }) => shares)),
      first: placeOf(first),
      last: placeOf(last),
    };
  });
}

let engine: TestClickHouse;
let tables: Tables;
/** Rows that readers received besides the first one of a bucket. */
let unmergedRows = 0;

beforeAll(async () => {
  engine = await startMigratedClickHouse();
  const { client } = engine;
  for (const table of ['token_candles_1m', 'token_candles_1h']) await client.command(`SYSTEM STOP MERGES ${table}`);
  for (const fills of inserts)
    await client.insertRows(
      'fills',
      fills.map(({ atS, block, logIndex, ...amounts }) => ({
        ...amounts,
        block_number: block,
        log_index: logIndex,
        timestamp: atS,
        maker: '0xa',
        taker: '0xb',
        is_taker_order: false,
        token_id: TOKEN,
      })),
    );
  const live = createClickHouseTables(client);
  tables = {
    ...live,
    async rows<Row>(sql: Sql) {
      const rows = await live.rows<Row>(sql);
      const starts = rows.map((row) => (row as { readonly bucket_s: number }).bucket_s);
      unmergedRows += starts.length - new Set(starts).size;
      return rows;
    },
  };
});
afterAll(() => engine.stop());

/** All candles by pages of `limit`, oldest first. */
async function walk(seconds: number, direction: 'before' | 'after', limit: number): Promise<readonly Candle[]> {
  const listed: Candle[] = [];
  for (let edge: number | null = null; ; ) {
    const page = await readCandles(tables, {
      tokenId: TOKEN,
      seconds,
      direction,
      gapFill: false,
      limit,
      fromS: direction === 'after' ? edge : null,
      toS: direction === 'before' ? edge : null,
    });
    expect(page.candles.length).toBeLessThanOrEqual(limit);
    listed.splice(direction === 'after' ? listed.length : 0, 0, ...page.candles);
    edge = direction === 'after' ? page.newerStartS : page.olderEndS;
    if (edge === null) return listed;
  }
}

const cases = [
  [3_600, 'before'],
  [3_600, 'after'],
  [60, 'before'],
  [60, 'after'],
] as const;
async function expectAllPages(seconds: number, direction: 'before' | 'after'): Promise<void> {
  const expected = naiveCandles(seconds);
  expect(expected).toHaveLength(seconds === 60 ? BLOCKS : BLOCKS / 2);
  for (const limit of [1, 2, 7, 40, 1_000]) {
    const listed = await walk(seconds, direction, limit);
    expect(listed, `limit ${limit}`).toEqual(expected);
  }
  const query = { tokenId: TOKEN, seconds, direction, gapFill: true, limit: 5_000, fromS: null, toS: null };
  const { candles } = await readCandles(tables, query);
  expect(candles.filter(({ trades }) => trades > 0)).toEqual(expected);
}

describe('readCandles', () => {
  it.each(cases)(
    'lists the candles of all fills by pages of %i s, %s, from unmerged rows',
    async (seconds, direction) => {
      unmergedRows = 0;
      await expectAllPages(seconds, direction);
      expect(unmergedRows).toBeGreaterThan(100);
    },
  );

  it.each([
    [60, false],
    [300, false],
    [3_600, false],
    [3_600, true],
  ] as const)(
    'names the trades on both sides of an empty range, buckets of %i s, gap filling %s',
    async (seconds, gapFill) => {
      const starts = naiveCandles(seconds).map(({ startS }) => startS);
      const [oldest, newest] = [starts[0] as number, starts.at(-1) as number];
      const page = async (direction: 'before' | 'after', fromS: number | null, toS: number | null) => {
        const { candles, ...edges } = await readCandles(tables, {
          tokenId: TOKEN,
          seconds,
          limit: 10,
          direction,
          fromS,
          toS,
          gapFill,
        });
        expect(candles).toEqual([]);
        return edges;
      };
      const none = { olderEndS: null, newerStartS: null, hasMore: false };
      const olderOnly = { ...none, olderEndS: newest + seconds - 1 };
      const newerOnly = { ...none, newerStartS: oldest };
      for (const direction of ['before', 'after'] as const) {
        expect(await page(direction, newest + seconds, null)).toEqual(olderOnly);
        expect(await page(direction, newest + 9 * seconds, newest + 20 * seconds)).toEqual(olderOnly);
        expect(await page(direction, null, oldest - 1)).toEqual(newerOnly);
        expect(await page(direction, oldest - 20 * seconds, oldest - seconds)).toEqual(newerOnly);
        // A range that ends before it begins has no neighbours.
        expect(await page(direction, newest + seconds, newest - seconds)).toEqual(none);
      }
      if (seconds >= BLOCK_S || gapFill) return;
      // Between two blocks.
      expect(await page('before', oldest + seconds, oldest + BLOCK_S - seconds)).toEqual({
        ...none,
        olderEndS: oldest + seconds - 1,
        newerStartS: starts[1] as number,
      });
    },
  );

  describe('after a merge', () => {
    beforeAll(async () => {
      for (const table of ['token_candles_1m', 'token_candles_1h']) {
        await engine.client.command(`SYSTEM START MERGES ${table}`);
        await engine.client.command(`OPTIMIZE TABLE ${table} FINAL`);
      }
    });

    it.each(cases)('lists the same candles by pages of %i s, %s', async (seconds, direction) => {
      unmergedRows = 0;
      await expectAllPages(seconds, direction);
      expect(unmergedRows).toBe(0);
    });
  });
});
