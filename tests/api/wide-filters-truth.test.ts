import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { createMetrics } from '../../infra/telemetry/metrics.js';
import { createTagLeaderboardRefresher } from '../../processors/leaderboards/tag-leaderboard-refresher.js';
import { seededRandom } from '../security/hostile-inputs.js';
import { type ApiHarness, startApi } from '../support/api.js';
import { insertAccounts, tradeOf } from '../support/positions.js';
import { address, fillRow, hex32, insertFills, type MarketInput, marketRow, tokenRows } from '../support/rows.js';
import { T } from '../support/venue.js';

const MARKETS = 1_500;
const MARKETS_PER_EVENT = 10;
const WALLETS = 40;
const DEALS = 1_200;
const BUILDER = hex32(0xbd);
const MICRO = 1_000_000;

/** One wallet buys an outcome once and sells nothing, half or all of it: profits need no rounding. Amounts in whole USD and shares. */
interface Deal {
  readonly wallet: string;
  readonly market: number;
  readonly tokenId: string;
  readonly shares: number;
  readonly cost: number;
  readonly sold: number;
  readonly proceeds: number;
  readonly buyBlock: number;
  readonly sellBlock: number;
}

const tokenOf = (market: number, outcome: number): string => (10n ** 70n + BigInt(market * 2 + outcome)).toString();

const random = seededRandom(18);
const below = (count: number) => Math.floor(random() * count);

const deals: readonly Deal[] = [
  ...new Map(
    Array.from({ length: DEALS }, (_, n): [string, Deal] => {
      const wallet = address(0x1000 + below(WALLETS));
      // Half of the deals are in one market of six.
      const market = random() < 0.5 ? below(MARKETS / 6) * 6 : below(MARKETS);
      const tokenId = tokenOf(market, below(2));
      const shares = 2 * (5 + below(50));
      const sold = [0, shares / 2, shares][below(3)] ?? 0;
      const deal = {
        ...{ wallet, market, tokenId, shares, sold },
        cost: 2 * (1 + below(shares / 2)),
        proceeds: sold === 0 ? 0 : 1 + below(sold),
        buyBlock: 1_000 + n,
        sellBlock: 1_000 + DEALS + n,
      };
      return [`${wallet} ${tokenId}`, deal];
    }),
  ).values(),
];

/** Tags as in the catalogue source: the tags of the event, else those of the market. `version` 2: a seventh of the events has other tags. */
function tagsOf(market: number, version: 1 | 2): readonly string[] {
  const event = Math.floor(market / MARKETS_PER_EVENT);
  const isChanged = version === 2 && event % 7 === 0;
  if (event % 3 === 0 && !isChanged) return market % 2 === 0 ? ['coins', 'daily'] : ['weather'];
  if (event % 3 === 1) return isChanged ? ['weather'] : ['coins', 'weather'];
  return isChanged ? ['coins', 'weather', 'late'] : ['daily', 'weather'];
}

const marketOf = (n: number, version: 1 | 2): MarketInput => ({
  conditionId: hex32(0x10_0000 + n),
  id: String(500_000 + n),
  slug: `coin-${n}`,
  question: `Coin ${n}?`,
  tokenIds: [tokenOf(n, 0), tokenOf(n, 1)],
  eventId: String(Math.floor(n / MARKETS_PER_EVENT)),
  eventSlug: `coins-${Math.floor(n / MARKETS_PER_EVENT)}`,
  tags: tagsOf(n, version),
  offset: version,
});

const profitOf = (deal: Deal): number => deal.proceeds - (deal.cost * deal.sold) / deal.shares;
const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

interface Wallet {
  readonly wallet: string;
  readonly realized: number;
  readonly profit: number;
  readonly loss: number;
  readonly volume: number;
  readonly positions: number;
}
function walletsOf(chosen: readonly Deal[]): readonly Wallet[] {
  const wallets = [...new Set(chosen.map(({ wallet }) => wallet))];
  return wallets
    .map((wallet) => ({ wallet, own: chosen.filter((deal) => deal.wallet === wallet) }))
    .map(({ wallet, own }) => ({
      wallet,
      realized: sum(own.map(profitOf)),
      profit: sum(own.map((deal) => Math.max(0, profitOf(deal)))),
      loss: sum(own.map((deal) => Math.min(0, profitOf(deal)))),
      volume: sum(own.map((deal) => deal.cost + deal.proceeds)),
      positions: own.length,
    }));
}

const filters: readonly { readonly query: string; readonly fits: (tags: readonly string[]) => boolean }[] = [
  { query: 'tag_slug=coins', fits: (tags) => tags.includes('coins') },
  { query: 'category=weather', fits: (tags) => tags.includes('weather') },
  { query: 'tags=coins,late', fits: (tags) => tags.includes('coins') || tags.includes('late') },
  { query: 'tags=daily,weather&tag_slug=coins', fits: (tags) => tags.includes('coins') && tags.length > 1 },
];

type Row = Record<string, unknown>;
type Body = Row & { positions: Row[]; trades: Row[]; leaderboard: Row[]; data: Row[]; pagination: Row };

let api: ApiHarness;
let key: string;
const get = (path: string) => api.ok<Body>(path, key);

const insertCatalogue = async (version: 1 | 2) => {
  const markets = Array.from({ length: MARKETS }, (_, n) => marketOf(n, version));
  await api.clickhouse.insertRows('markets', markets.map(marketRow));
  await api.clickhouse.insertRows('tokens', markets.flatMap(tokenRows));
  api.clock.nowMs += 120_000;
};
const refreshTagLeaderboards = () =>
  createTagLeaderboardRefresher({
    clickhouse: api.clickhouse,
    logger: silentLogger(),
    metrics: createMetrics({ process: 'test', defaults: false }),
    nowMs: () => api.clock.nowMs,
  }).refresh();

beforeAll(async () => {
  api = await startApi({ nowMs: Date.now() });
  key = await api.key('starter');
  const buys = deals.map((deal) => tradeOf(deal.wallet, deal.buyBlock, 'BUY', deal.tokenId, deal.shares, deal.cost));
  const sells = deals
    .filter(({ sold }) => sold > 0)
    .map((deal) => tradeOf(deal.wallet, deal.sellBlock, 'SELL', deal.tokenId, deal.sold, deal.proceeds));
  // Two versions of the positions that are sold.
  await insertAccounts(api.clickhouse, buys);
  await insertAccounts(api.clickhouse, [...buys, ...sells]);
  await insertFills(
    api.clickhouse,
    deals.map((deal) =>
      fillRow({
        ...{ block: deal.buyBlock, logIndex: 1, timestampS: T + deal.buyBlock * 2, side: 'BUY', builder: BUILDER },
        ...{ orderHash: hex32(0x90_0000 + deal.buyBlock), txHash: hex32(0x80_0000 + deal.buyBlock) },
        ...{ tokenId: deal.tokenId, maker: deal.wallet },
        usdc: BigInt(deal.cost * MICRO),
        shares: BigInt(deal.shares * MICRO),
      }),
    ),
  );
});
afterAll(() => api.stop());

async function checkPositions(query: string, chosen: readonly Deal[]): Promise<void> {
  const statuses = {
    all: () => true,
    open: (deal: Deal) => deal.sold < deal.shares,
    closed: (deal: Deal) => deal.sold === deal.shares,
  };
  for (const [status, fits] of Object.entries(statuses)) {
    const expected = chosen
      .filter(fits)
      .map((deal) => `${deal.wallet} ${deal.tokenId}`)
      .sort(byText);
    for (const order of ['asc', 'desc']) {
      const listed: string[] = [];
      for (let nextPage = ''; ; ) {
        const { positions, pagination } = await get(
          `/v2/onchain/positions?${query}&status=${status}&order=${order}&limit=300${nextPage}`,
        );
        listed.push(...positions.map((row) => `${row.wallet} ${row.token_id}`));
        if (pagination.has_more !== true) break;
        nextPage = `&pagination_key=${String(pagination.pagination_key)}`;
      }
      expect(listed).toEqual(order === 'asc' ? expected : expected.toReversed());
    }
  }
}

async function checkBuilderTrades(query: string, chosen: readonly Deal[]): Promise<void> {
  const newestFirst = chosen.toSorted((a, b) => b.buyBlock - a.buyBlock);
  const idsOf = (some: readonly Deal[]) => some.map((deal) => `${deal.wallet} ${deal.tokenId}`);
  const listed: string[] = [];
  const read = async (path: string) => {
    const { trades } = await get(path);
    return trades.map((row) => `${row.maker} ${row.token_id}`);
  };
  for (let offset = 0; ; offset += 100) {
    const ids = await read(`/v3/builders/${BUILDER}/trades?${query}&limit=100&offset=${offset}`);
    listed.push(...ids);
    if (ids.length < 100) break;
  }
  expect(listed).toEqual(idsOf(newestFirst));
  const lastBlock = 1_000 + DEALS / 2;
  const older = await read(`/v3/builders/${BUILDER}/trades?${query}&limit=50&before=${T + lastBlock * 2}`);
  expect(older).toEqual(idsOf(newestFirst.filter((deal) => deal.buyBlock <= lastBlock)).slice(0, 50));
}

async function checkPnl(query: string, chosen: readonly Deal[]): Promise<void> {
  for (let n = 0; n < WALLETS; n += 13) {
    const wallet = address(0x1000 + n);
    const own = chosen.filter((deal) => deal.wallet === wallet);
    const [expected] = walletsOf(own);
    expect(await get(`/v3/wallets/${wallet}/pnl?${query}`)).toMatchObject({
      net_realized_pnl: expected?.realized ?? 0,
      gross_profit: expected?.profit ?? 0,
      gross_loss: expected?.loss ?? 0,
      total_volume: expected?.volume ?? 0,
      position_count: own.length,
    });
  }
}

async function checkLeaderboards(query: string, chosen: readonly Deal[]): Promise<void> {
  const wallets = walletsOf(chosen);
  const ranked = (metric: 'realized' | 'volume') =>
    wallets.toSorted((a, b) => b[metric] - a[metric] || byText(a.wallet, b.wallet));
  for (const sort of ['realized', 'volume'] as const) {
    const { leaderboard } = await get(`/v3/leaderboard?sort=${sort}&limit=100&${query}`);
    expect(leaderboard.map((row) => [row.wallet, row.net_realized_pnl, row.total_volume, row.position_count])).toEqual(
      ranked(sort).map((one) => [one.wallet, one.realized, one.volume, one.positions]),
    );
  }
  const [, tag] = /^(?:tag_slug|category)=(\w+)$/.exec(query) ?? [];
  if (tag === undefined) return;
  const { data } = await get(`/v3/tags/${tag}/leaderboard?limit=100`);
  expect(data.map((row) => [row.wallet, row.net_pnl, row.gross_loss, row.position_count])).toEqual(
    ranked('realized').map((one) => [one.wallet, String(one.realized), String(one.loss), one.positions]),
  );
}

/** Each filter on the five endpoints against sums over the deals. */
async function checkFilters(version: 1 | 2): Promise<void> {
  for (const { query, fits } of filters) {
    const chosen = deals.filter((deal) => fits(tagsOf(deal.market, version)));
    // Positions and builder trades take one tag.
    if (!query.includes('tags=')) {
      await checkPositions(query.replace('category', 'tag_slug'), chosen);
      await checkBuilderTrades(query, chosen);
    }
    await checkPnl(query, chosen);
    await checkLeaderboards(query, chosen);
  }
}

describe('filters by wide tags equal sums over all deals', { timeout: 240_000 }, () => {
  it('no market has a tag before the catalogue arrives', async () => {
    expect((await get('/v2/onchain/positions?tag_slug=coins')).positions).toEqual([]);
    expect((await get(`/v3/builders/${BUILDER}/trades?tag_slug=coins`)).trades).toEqual([]);
    expect((await get('/v3/leaderboard?tag_slug=coins')).leaderboard).toEqual([]);
    expect(await get(`/v3/wallets/${address(0x1000)}/pnl?tag_slug=coins`)).toMatchObject({ position_count: 0 });
  });

  it('tags of events and of markets that arrive after the fills', async () => {
    await insertCatalogue(1);
    await checkFilters(1);
  });

  it('leaderboards from a snapshot', async () => {
    await refreshTagLeaderboards();
    api.clock.nowMs += 120_000;
    await checkFilters(1);
    expect((await get('/v3/leaderboard?tag_slug=coins')).as_of).toBe(Math.floor(api.clock.nowMs / 1000) - 120);
    // No market is late yet: the markets of both tags are those of coins.
    expect((await get('/v3/leaderboard?tags=late,coins')).as_of).toBe(Math.floor(api.clock.nowMs / 1000) - 120);
    expect((await get('/v3/leaderboard?tags=coins,daily')).as_of).toBeNull();
  });

  it('tags that markets gain and lose later', async () => {
    await insertCatalogue(2);
    await refreshTagLeaderboards();
    api.clock.nowMs += 120_000;
    await checkFilters(2);
  });
});
