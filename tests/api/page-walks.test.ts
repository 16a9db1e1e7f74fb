import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { createMetrics } from '../../infra/telemetry/metrics.js';
import {
  createLeaderboardRefresher,
  type LeaderboardRefresher,
} from '../../processors/leaderboards/leaderboard-refresher.js';
import { type ApiHarness, startApi } from '../support/api.js';
import { pagesOf, walkPages } from '../support/page-walk.js';
import { activityOf, insertAccounts, insertVenueAccounts, tradeOf } from '../support/positions.js';
import {
  address,
  eventRow,
  type FillInput,
  fillRow,
  hex32,
  insertFills,
  marketRow,
  tokenRows,
  walletEventRow,
} from '../support/rows.js';
import { alice, bob, builder, fills, hail, insertVenue, snow, snowYes, walletEvents } from '../support/venue.js';

/** Snapshots expire by the engine's clock. */
const NOW_S = Math.floor(Date.now() / 1000);
const gina = address(0xf7);
const grace = address(0xf9);

let api: ApiHarness;
let keys: { readonly paid: string; readonly growth: string };
let refresher: LeaderboardRefresher;
let arrived = 0;

/** Both grow in chain order: numbers and times of blocks never decrease. */
const nextBlock = () => ({ block: 10_000 + arrived, timestampS: Math.floor(api.clock.nowMs / 1000) - 600 });
const later = () => {
  api.clock.nowMs += 61_000;
};
const comboToken = (n: number) =>
  (BigInt(`0x03${'e'.repeat(28)}${n.toString(16).padStart(4, '0')}0002${'0'.repeat(24)}`) << 8n).toString();

/** A new row for each list of Alice, of Gina's combos, of the Snow market and of the builder. */
async function historyGrows(): Promise<void> {
  const n = ++arrived;
  const { block, timestampS } = nextBlock();
  const at = { block, timestampS, txHash: hex32(0x90_0000 + n), orderHash: hex32(0x91_0000 + n) };
  const trades: FillInput[] = [
    { ...(fills[0] as FillInput), ...at, logIndex: 1, builder, fee: 1_000n },
    { ...(fills[8] as FillInput), ...at, logIndex: 2, txHash: hex32(0x92_0000 + n), orderHash: hex32(0x93_0000 + n) },
  ];
  await insertFills(api.clickhouse, trades.map(fillRow));
  const events = walletEvents.slice(0, 4).map((event, index) => ({ ...event, ...at, logIndex: 10 + index }));
  await api.clickhouse.insertRows('wallet_events', events.map(walletEventRow));
  const chainRow = { block_number: block, timestamp: timestampS, tx_hash: at.txHash, _offset: block };
  await api.clickhouse.insertRows('collateral_flows', [
    {
      ...chainRow,
      direction: 'deposit',
      amount: 1n,
      log_index: 1,
      wallet: alice,
      counterparty: bob,
      asset: address(1),
    },
  ]);
  await api.clickhouse.insertRows('resolutions', [
    {
      ...chainRow,
      condition_id: hex32(0x94_0000 + n),
      oracle: address(1),
      question_id: hex32(1),
      outcome_slot_count: 2,
      payout_numerators: ['1', '0'],
      log_index: 0,
    },
  ]);
  const combo = { wallet: gina, tokens: [comboToken(n)], amounts: [1_000_000n], usdc: 1_000_000n };
  await insertAccounts(api.clickhouse, [
    activityOf({ ...combo, block_number: block, action: 'BUY', exchange_version: 3 }),
    activityOf({ ...combo, block_number: block, log_index: 1, action: 'REDEEM' }),
  ]);
  later();
}

/** New markets, wallets, builders and positions that rank above and below those that exist. */
async function rankingsGrow(): Promise<void> {
  const n = ++arrived;
  const above = 1_000 + n;
  const below = 1 / (1_000 + n);
  const trade = (wallet: string, token: string, shares: number, action: 'BUY' | 'SELL' = 'BUY') =>
    tradeOf(wallet, 20_000 + n, action, token, shares, shares / 2);
  const tokens = [above, below].map((_, index) => String(5_000_000 + 2 * n + index * 1_000_000));
  await insertAccounts(api.clickhouse, [
    trade(address(0x5_0000 + n), snowYes, above),
    trade(address(0x6_0000 + n), snowYes, below),
    trade(bob, tokens[0] as string, above),
    trade(bob, tokens[1] as string, below),
    trade(grace, tokens[0] as string, above),
    { ...trade(grace, tokens[0] as string, above, 'SELL'), log_index: 1 },
  ]);
  const markets = [above, below].map((volume, index) => ({
    ...hail,
    conditionId: hex32(0xa0_0000 + 2 * n + index),
    id: `new ${n} ${index}`,
    slug: `new-${n}-${index}`,
    tokenIds: [String(7_000_000 + 4 * n + 2 * index), String(7_000_001 + 4 * n + 2 * index)] as const,
    tags: ['weather', `tag-${n}`],
    volume: volume * 1_000,
    endMs: api.clock.nowMs + 86_400_000 + n * 1_000,
  }));
  await api.clickhouse.insertRows('markets', markets.map(marketRow));
  await api.clickhouse.insertRows('tokens', markets.flatMap(tokenRows));
  await api.clickhouse.insertRows('events', [
    eventRow({
      id: `new ${n}`,
      slug: `new-${n}`,
      title: `New ${n}`,
      conditionIds: Array.from({ length: 1 + n }, (_, index) => hex32(0xb0_0000 + index)),
      negRiskMarketId: hex32(0xb1_0000 + n),
    }),
  ]);
  const traded = [above, below].map((usd, index) => ({
    ...(fills[0] as FillInput),
    ...nextBlock(),
    logIndex: index,
    txHash: hex32(0xc0_0000 + n),
    orderHash: hex32(0xc1_0000 + 2 * n + index),
    tokenId: markets[index]?.tokenIds[0] as string,
    usdc: BigInt(Math.round(usd * 1e6)),
    maker: address(0x7_0000 + 2 * n + index),
    taker: address(0x8_0000 + n),
    builder: hex32(0xd0_0000 + 2 * n + index),
  }));
  await insertFills(api.clickhouse, traded.map(fillRow));
  await insertAccounts(api.clickhouse, [
    activityOf({
      wallet: address(0x9_0000 + n),
      block_number: 30_000 + n,
      action: 'BUY',
      tokens: [comboToken(0x1000 + n)],
      amounts: [1_000_000n],
      usdc: 1_000_000n,
      exchange_version: 3,
    }),
  ]);
  later();
}

async function snapshotsAreTaken(): Promise<void> {
  await rankingsGrow();
  await refresher.refresh();
}

beforeAll(async () => {
  api = await startApi({ nowMs: NOW_S * 1000 });
  keys = { paid: await api.key('starter'), growth: await api.key('growth') };
  refresher = createLeaderboardRefresher({
    clickhouse: api.clickhouse,
    logger: silentLogger(),
    metrics: createMetrics({ process: 'test', defaults: false }),
    nowMs: () => api.clock.nowMs,
  });
  await insertVenue(api.clickhouse);
  await insertVenueAccounts(api.clickhouse);
  for (let n = 0; n < 4; n += 1) {
    await historyGrows();
    await rankingsGrow();
  }
  await refresher.refresh();
});
afterAll(() => api.stop());

/** What happens between the pages, and requests, by route. */
const lists: Readonly<Record<string, readonly [between: () => Promise<void>, ...requests: string[]]>> = {
  '/v1/wallets/{addr}/trades': [historyGrows, `/v1/wallets/${alice}/trades`],
  '/v1/markets/{id}/trades': [historyGrows, `/v1/markets/${snow.slug}/trades`],
  '/v1/wallets/{addr}/positions': [
    rankingsGrow,
    `/v1/wallets/${bob}/positions`,
    `/v1/wallets/${bob}/positions?sortBy=TITLE&sortDirection=ASC`,
  ],
  '/v1/markets/{id}/positions': [
    rankingsGrow,
    `/v1/markets/${snow.slug}/positions`,
    `/v1/markets/${snow.slug}/positions?sortBy=SIZE&sortDirection=ASC`,
  ],
  '/v2/wallets/{address}/closed-positions': [
    rankingsGrow,
    `/v2/wallets/${grace}/closed-positions`,
    `/v2/wallets/${grace}/closed-positions?sortBy=TITLE`,
  ],
  '/v2/onchain/wallets/{address}/trades': [historyGrows, `/v2/onchain/wallets/${alice}/trades`],
  '/v2/onchain/markets/{token_id}/trades': [historyGrows, `/v2/onchain/markets/${snowYes}/trades`],
  '/v2/onchain/wallets/{address}/redemptions': [historyGrows, `/v2/onchain/wallets/${alice}/redemptions`],
  '/v2/onchain/wallets/{address}/activity': [historyGrows, `/v2/onchain/wallets/${alice}/activity`],
  '/v2/onchain/trades': [
    historyGrows,
    `/v2/onchain/trades?wallet=${alice}`,
    `/v2/onchain/trades?token_id=${snowYes}&sort_by=order_hash`,
    `/v2/onchain/trades?token_id=${snowYes}&group_by=order_hash&order=asc`,
  ],
  '/v2/onchain/positions': [rankingsGrow, `/v2/onchain/positions?token_id=${snowYes}`],
  '/v3/trades': [
    historyGrows,
    '/v3/trades',
    '/v3/trades?order=asc',
    '/v3/trades?group_by=order_hash',
    '/v3/trades?sort_by=order_hash&order=asc',
  ],
  '/v3/wallets/{address}/trades': [
    historyGrows,
    `/v3/wallets/${alice}/trades`,
    `/v3/wallets/${alice}/trades?group_by=user_trade`,
  ],
  '/v3/markets/slug/{slug}/trades': [historyGrows, `/v3/markets/slug/${snow.slug}/trades`],
  '/v3/markets/{token_id}/trades': [historyGrows, `/v3/markets/${snowYes}/trades`],
  '/v3/builders/{code}/trades': [historyGrows, `/v3/builders/${builder}/trades`],
  '/v3/wallets/{address}/combos/trades': [historyGrows, `/v3/wallets/${alice}/combos/trades`],
  '/v3/wallets/{address}/splits': [historyGrows, `/v3/wallets/${alice}/splits`],
  '/v3/wallets/{address}/merges': [historyGrows, `/v3/wallets/${alice}/merges`],
  '/v3/wallets/{address}/nrc': [historyGrows, `/v3/wallets/${alice}/nrc`],
  '/v3/wallets/{address}/activity': [historyGrows, `/v3/wallets/${alice}/activity`],
  '/v3/wallets/{address}/redemptions': [historyGrows, `/v3/wallets/${alice}/redemptions`],
  '/v3/wallets/{address}/fees-paid': [historyGrows, `/v3/wallets/${alice}/fees-paid`],
  '/v3/wallets/{address}/polyusd-flows': [historyGrows, `/v3/wallets/${alice}/polyusd-flows`],
  '/v3/resolutions': [historyGrows, '/v3/resolutions'],
  '/v3/wallets/{address}/combos/positions': [historyGrows, `/v3/wallets/${gina}/combos/positions`],
  '/v3/wallets/{address}/combos/activity': [historyGrows, `/v3/wallets/${gina}/combos/activity`],
  '/v3/wallets/{address}/combos/redemptions': [historyGrows, `/v3/wallets/${gina}/combos/redemptions`],
  '/v3/combos/activity': [historyGrows, '/v3/combos/activity'],
  '/v3/combos/redemptions': [historyGrows, '/v3/combos/redemptions'],
  '/v3/combos/markets': [rankingsGrow, '/v3/combos/markets', '/v3/combos/markets?sort=volume'],
  '/v3/wallets/{address}/positions': [
    rankingsGrow,
    `/v3/wallets/${bob}/positions`,
    `/v3/wallets/${bob}/positions?sort=size`,
    `/v3/wallets/${bob}/positions?sort=avg_price&order=asc`,
    `/v3/wallets/${bob}/positions?status=open&sort=recent`,
  ],
  '/v3/positions': [
    snapshotsAreTaken,
    '/v3/positions',
    '/v3/positions?sort=size',
    `/v3/positions?token_id=${snowYes}&sort=size&order=asc`,
  ],
  '/v3/markets/condition/{condition_id}/positions': [
    rankingsGrow,
    `/v3/markets/condition/${snow.conditionId}/positions?sort=amount`,
  ],
  '/v3/markets/slug/{slug}/positions': [rankingsGrow, `/v3/markets/slug/${snow.slug}/positions`],
  '/v3/markets/{token_id}/positions': [rankingsGrow, `/v3/markets/${snowYes}/positions?sort=volume`],
  '/v3/markets/search': [rankingsGrow, '/v3/markets/search?q=hail', '/v3/markets/search?q=hail&sort=current'],
  '/v3/markets/trending': [rankingsGrow, '/v3/markets/trending'],
  '/v3/markets/ending': [rankingsGrow, '/v3/markets/ending'],
  '/v3/tags': [rankingsGrow, '/v3/tags'],
  '/v3/tags/{slug}': [rankingsGrow, '/v3/tags/weather', '/v3/tags/weather?sort=created_at'],
  '/v3/leaderboard': [snapshotsAreTaken, '/v3/leaderboard', `/v3/leaderboard?market_slug=${snow.slug}&sort=volume`],
  '/v3/tags/{slug}/leaderboard': [rankingsGrow, '/v3/tags/europe/leaderboard?sort=volume'],
  '/v3/leaderboard/day': [rankingsGrow, '/v3/leaderboard/day'],
  '/v3/builders': [rankingsGrow, '/v3/builders', '/v3/builders?sort=volume'],
  '/clobv2/trades': [historyGrows, '/clobv2/trades', '/clobv2/trades?order=asc'],
  '/clobv2/wallets/{address}/trades': [historyGrows, `/clobv2/wallets/${alice}/trades`],
  '/clobv2/markets/{token_id}/trades': [historyGrows, `/clobv2/markets/${snowYes}/trades`],
  '/clobv2/positions': [snapshotsAreTaken, '/clobv2/positions', `/clobv2/positions?token_id=${snowYes}&order=asc`],
  '/clobv2/neg-risk/events': [rankingsGrow, '/clobv2/neg-risk/events'],
};

/** Lists by offset alone: those of several wallets continue at the route of one; scores and overlaps are computed in the background. */
const byOffsetAlone = [
  '/v1/wallets/trades',
  '/v1/wallets/positions',
  '/v2/copy-pnl/leaderboard',
  '/api/datasets/sports-esports/wallets/overlap',
];

it('every route with an offset or a cursor is walked here', () => {
  const paged = api.service.routes.filter(({ query }) =>
    ['offset', 'cursor', 'pagination_key'].some((name) => name in (query?.shape ?? {})),
  );
  expect(paged.map(({ path }) => path).sort()).toEqual([...Object.keys(lists), ...byOffsetAlone].sort());
});

type Body = Readonly<Record<string, unknown>>;
const rowsOf = (body: Body): readonly Body[] => {
  const isRows = (value: unknown): value is readonly Body[] =>
    Array.isArray(value) && value.every((row) => typeof row === 'object');
  const outcomes = body.outcomes as readonly { readonly positions: readonly Body[] }[] | undefined;
  return outcomes?.flatMap(({ positions }) => positions) ?? Object.values(body).find(isRows) ?? [];
};
const ID_FIELDS = [
  'id',
  'log_index',
  'transaction_hash',
  'transactionHash',
  'tx_hash',
  'order_hash',
  'wallet',
  'user',
  'maker',
  'proxyWallet',
  'asset',
  'token_id',
  'position_id',
  'condition_id',
  'builder_code',
  'tag',
  'slug',
];
const idOf = (row: Body): string => JSON.stringify(ID_FIELDS.map((name) => row[name] ?? null));

const get = (path: string) =>
  api.ok<Body>(path, path.startsWith('/v2/onchain') || path.startsWith('/v2/wallets') ? keys.growth : keys.paid);

function idsOf(pages: readonly Body[]): string[] {
  const rows = pages.flatMap(rowsOf);
  // A page of several outcomes has rows of each.
  const isOf = (token: unknown) => (row: Body) => row.asset === token;
  const tokens = pages.some((page) => 'outcomes' in page) ? [...new Set(rows.map((row) => row.asset))].sort() : null;
  return (tokens === null ? rows : tokens.flatMap((token) => rows.filter(isOf(token)))).map(idOf);
}

interface Walk {
  readonly before: readonly string[];
  /** About four; rows arrived after the first and after the second. */
  readonly pages: Body[];
}

/** Walks lists in step, so that the same rows arrive between their pages: inserting them takes most of the time. A failed walk is its error. */
async function walkTogether(
  paths: readonly string[],
  between: () => Promise<void>,
): Promise<Map<string, Walk | Error>> {
  const walks = new Map<string, Walk | Error>();
  const iterators = new Map<string, AsyncGenerator<Body, void>>();
  const each = async (step: (path: string, walk: Walk | undefined) => Promise<void>) => {
    for (const path of paths) {
      const walk = walks.get(path);
      if (walk instanceof Error) continue;
      await step(path, walk).catch((error: unknown) => {
        walks.set(path, error instanceof Error ? error : new Error(String(error)));
      });
    }
  };
  later();
  await each(async (path) => {
    const before = idsOf(await walkPages(get, path));
    walks.set(path, { before, pages: [] });
    const limit = Math.ceil(before.length / 4);
    iterators.set(path, pagesOf(get, `${path}${path.includes('?') ? '&' : '?'}limit=${limit}`));
  });
  for (let arrivals = 0; arrivals < 2; arrivals += 1) {
    await each(async (path, walk) => {
      const next = await iterators.get(path)?.next();
      if (next?.value !== undefined) walk?.pages.push(next.value);
    });
    await between();
  }
  await each(async (path, walk) => {
    for await (const page of iterators.get(path) ?? []) walk?.pages.push(page);
  });
  return walks;
}

describe.each([historyGrows, rankingsGrow, snapshotsAreTaken])('while rows arrive: $name', (between) => {
  const paths = Object.values(lists).flatMap(([kind, ...own]) => (kind === between ? own : []));
  let walks: Map<string, Walk | Error>;
  beforeAll(async () => {
    walks = await walkTogether(paths, between);
  });

  it.each(paths)('%s lists every row once', (path) => {
    const walk = walks.get(path);
    if (walk === undefined || walk instanceof Error) throw walk ?? new Error('not walked');
    const walked = idsOf(walk.pages);
    expect(walk.pages.length).toBeGreaterThanOrEqual(3);
    expect(new Set(walked).size).toBe(walked.length);
    const known = new Set(walk.before);
    expect(walked.filter((id) => known.has(id))).toEqual(walk.before);
    expect(known.size).toBe(walk.before.length);
  });
});

it('pages are the same from another process', async () => {
  const path = `/v3/markets/condition/${snow.conditionId}/positions?sort=amount&limit=2`;
  const first = await api.ok<Body>(path, keys.paid);
  const other = await api.ok<Body>(`${path}&cursor=${first.next_cursor}`, keys.growth);
  const own = await api.ok<Body>(`${path}&cursor=${first.next_cursor}`, keys.paid);
  expect(rowsOf(other)).toEqual(rowsOf(own));
});
