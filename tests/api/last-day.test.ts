import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ApiHarness, startApi } from '../support/api.js';
import { address, type FillInput, fillRow, hex32, insertFills, marketRow, tokenRows } from '../support/rows.js';

const T = 1_790_000_000;
const HOUR_S = 3_600;
const [alice, bob, carol] = [address(0xa1), address(0xb2), address(0xc3)];

let api: ApiHarness;
let key: string;
type Row = Record<string, unknown>;
const list = async (path: string) => {
  const body = await api.ok<{ data?: Row[]; leaderboard?: Row[]; has_more: boolean }>(path, key);
  return { rows: body.data ?? body.leaderboard ?? [], hasMore: body.has_more };
};

let sequence = 0;
const fill = (ageH: number, tokenId: string, usd: number, parties: Partial<FillInput> = {}): FillInput => {
  sequence += 1;
  return {
    block: 1_000_000 - ageH * 100 + sequence,
    logIndex: sequence,
    timestampS: T - ageH * HOUR_S,
    orderHash: hex32(0xa00 + sequence),
    txHash: hex32(0x700 + sequence),
    side: 'BUY',
    tokenId,
    usdc: BigInt(usd * 1e6),
    shares: BigInt(usd * 2e6),
    maker: alice,
    taker: bob,
    ...parties,
  };
};

beforeAll(async () => {
  api = await startApi({ nowMs: T * 1000 });
  key = await api.key('starter');
  const market = (n: number, slug: string, endH: number, isClosed = false) => ({
    conditionId: hex32(0xc0 + n),
    id: `m${n}`,
    slug,
    question: `Market ${n}?`,
    tokenIds: [String(1_000_000 + 2 * n), String(1_000_001 + 2 * n)] as const,
    endMs: (T + endH * HOUR_S) * 1000,
    closed: isClosed,
  });
  const markets = [
    market(1, 'snow', 30),
    market(2, 'rain', 2),
    market(3, 'hail', 8 * 24),
    market(4, 'btc-updown-5m-1790000100', 0.1),
    market(5, 'past', -1),
    market(6, 'closed', 3, true),
  ];
  await api.clickhouse.insertRows('markets', markets.map(marketRow));
  await api.clickhouse.insertRows('tokens', markets.flatMap(tokenRows));
  await insertFills(
    api.clickhouse,
    [
      // Market 1: 30 + 20, on both outcomes; market 2: 40.5. Market 3 is older than a day.
      fill(1, '1000002', 30),
      fill(2, '1000003', 20, { maker: carol, taker: carol }),
      fill(23, '1000004', 40.5),
      fill(25, '1000006', 900),
      // The taker's own order repeats its matches; the catalogue does not list the last token.
      fill(1, '1000002', 30, { maker: bob, taker: address(0xe), takerOrder: true }),
      fill(1, '999', 5, { taker: carol }),
    ].map(fillRow),
  );
});
afterAll(() => api.stop());

it('/v3/markets/trending sums the matches of the last 24 hours per market, largest first', async () => {
  const { rows } = await list('/v3/markets/trending');
  expect(rows.map((row) => [row.slug, row.volume_24h, row.matches_24h])).toEqual([
    ['snow', '50', 2],
    ['rain', '40.5', 1],
  ]);
  const first = await list('/v3/markets/trending?limit=1');
  expect([first.rows.map((row) => row.slug), first.hasMore]).toEqual([['snow'], true]);
  expect((await list('/v3/markets/trending?limit=1&offset=1')).rows.map((row) => row.slug)).toEqual(['rain']);
});

it('/v3/leaderboard/day sums the matches of each party, and a match with itself once', async () => {
  const { rows } = await list('/v3/leaderboard/day');
  expect(rows).toEqual([
    { rank: 1, wallet: alice, volume_24h: '75.5', matches_24h: 3 },
    { rank: 2, wallet: bob, volume_24h: '70.5', matches_24h: 2 },
    { rank: 3, wallet: carol, volume_24h: '25', matches_24h: 2 },
  ]);
  expect((await list('/v3/leaderboard/day?limit=1&offset=2')).rows).toEqual([rows[2]]);
});

it('/v3/markets/ending lists open markets of the next week, the next one first, without short windows', async () => {
  expect((await list('/v3/markets/ending')).rows.map((row) => row.slug)).toEqual(['rain', 'snow']);
});

it('/v3/markets/trending counts an outcome of little volume, and ranks by the sum of both, among thousands of tokens', async () => {
  // After the minute for which the list is kept.
  api.clock.nowMs += 61_000;
  const markets = Array.from({ length: 1_500 }, (_, n) => ({
    conditionId: hex32(0x10_000 + n),
    id: `many${n}`,
    slug: `many-${n}`,
    question: `Many ${n}?`,
    tokenIds: [String(2_000_000 + 2 * n), String(2_000_001 + 2 * n)] as const,
    endMs: (T + HOUR_S) * 1000,
    closed: false,
  }));
  await api.clickhouse.insertRows('markets', markets.map(marketRow));
  await api.clickhouse.insertRows('tokens', markets.flatMap(tokenRows));
  // Two tokens of 1,000 each in 1,000 markets; 50,000 + 700 in one, 900 + 900 in another; one token of 1,001 in the other 498.
  const volumes = markets.map((_, n) =>
    n === 0 ? [50_000, 700] : n === 1 ? [900, 900] : n < 1_002 ? [1_000, 1_000] : [1_001],
  );
  const fills = volumes.flatMap((ofMarket, n) => ofMarket.map((usd, at) => fill(1, markets[n]!.tokenIds[at]!, usd)));
  await insertFills(api.clickhouse, fills.map(fillRow));
  const body = await api.ok<{ data: Row[] }>('/v3/markets/trending?limit=1', key);
  expect(body.data.map((row) => [row.slug, row.volume_24h, row.matches_24h])).toEqual([['many-0', '50700', 2]]);
  const later = await api.ok<{ data: Row[] }>('/v3/markets/trending?limit=1&offset=1001', key);
  expect(later.data.map((row) => [row.slug, row.volume_24h])).toEqual([['many-1', '1800']]);
});
