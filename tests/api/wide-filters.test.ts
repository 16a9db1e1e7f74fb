import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { createMetrics } from '../../infra/telemetry/metrics.js';
import { createTagLeaderboardRefresher } from '../../processors/leaderboards/tag-leaderboard-refresher.js';
import { type ApiHarness, startApi } from '../support/api.js';
import { insertAccounts, tradeOf } from '../support/positions.js';
import { address, fillRow, hex32, insertFills, type MarketInput, marketRow, tokenRows } from '../support/rows.js';
import { alice, bob, carol, T } from '../support/venue.js';

/** 8,000 tokens of 78 digits: as a list they are 600 kB, more than twice the limit of a statement. */
const MARKETS = 4_000;
/** Snapshots expire by the engine's clock. */
const NOW_S = Math.floor(Date.now() / 1000);
const BUILDER = hex32(0xbd);
const eve = address(0xe5);

const tokenOf = (market: number, outcome: 0 | 1): string =>
  (10n ** 77n + BigInt(market) * 2n + BigInt(outcome)).toString();
const marketOf = (n: number, tags: readonly string[], offset = 1): MarketInput => ({
  conditionId: hex32(0x10_0000 + n),
  id: String(500_000 + n),
  slug: `coin-${n}`,
  question: `Coin ${n}?`,
  tokenIds: [tokenOf(n, 0), tokenOf(n, 1)],
  eventId: String(n % 3),
  eventSlug: `coins-${n % 3}`,
  tags,
  offset,
});
/** A market without the tag of the others. */
const elsewhere = marketOf(MARKETS, ['rare']);
const [first, last, other] = [tokenOf(0, 0), tokenOf(MARKETS - 1, 1), tokenOf(MARKETS, 0)];

let api: ApiHarness;
let key: string;

const insertMarkets = async (markets: readonly MarketInput[]) => {
  await api.clickhouse.insertRows('markets', markets.map(marketRow));
  await api.clickhouse.insertRows('tokens', markets.flatMap(tokenRows));
};

/** Alice realizes 2 with the first market and has 20 there, Bob loses 3 with the last; Carol and Eve trade elsewhere, Eve also in the first. */
const trades = [
  tradeOf(alice, 100, 'BUY', first, 30, 15),
  tradeOf(alice, 110, 'SELL', first, 10, 7),
  tradeOf(alice, 111, 'BUY', other, 10, 1),
  tradeOf(alice, 112, 'SELL', other, 10, 9),
  tradeOf(bob, 101, 'BUY', last, 10, 8),
  tradeOf(bob, 113, 'SELL', last, 10, 5),
  tradeOf(carol, 102, 'BUY', other, 10, 5),
  tradeOf(eve, 103, 'BUY', first, 10, 4),
  tradeOf(eve, 104, 'BUY', other, 10, 4),
];
const fills = [
  [100, first, alice],
  [101, last, bob],
  [102, other, carol],
  [103, first, eve],
] as const;

beforeAll(async () => {
  api = await startApi({ nowMs: NOW_S * 1000 });
  key = await api.key('starter');
  const coins = Array.from({ length: MARKETS }, (_, n) => marketOf(n, ['coins', n % 2 === 0 ? 'even' : 'odd']));
  await insertMarkets([...coins, elsewhere]);
  await insertAccounts(api.clickhouse, trades);
  await insertFills(
    api.clickhouse,
    fills.map(([block, tokenId, maker], n) =>
      fillRow({
        block,
        logIndex: n,
        timestampS: T + (block - 100) * 2,
        orderHash: hex32(0x900 + n),
        txHash: hex32(0x800 + n),
        side: 'BUY',
        tokenId,
        usdc: 5_000_000n,
        shares: 10_000_000n,
        builder: BUILDER,
        maker,
      }),
    ),
  );
});
afterAll(() => api.stop());

type Row = Record<string, unknown>;
type Body = Row & { positions: Row[]; trades: Row[]; leaderboard: Row[]; data: Row[]; pagination: Row };
const get = (path: string) => api.ok<Body>(path, key);
const walletsOf = (rows: readonly Row[]) => rows.map((row) => row.wallet);

/** Statements and bound values that could contain tokens. */
const longest = () =>
  Math.max(
    ...api.statements.map(({ text, params }) => text.length + JSON.stringify(Object.values(params), plain).length),
  );
const plain = (_key: string, value: unknown) => (typeof value === 'bigint' ? value.toString() : value);

/** All filters that select the same 4,000 markets. */
const names = ['tag_slug=coins', 'tags=coins', 'category=coins', 'tags=even,odd', 'tag_slug=coins&tags=odd,even'];

describe('filters by a tag with thousands of markets', () => {
  it('positions of the tag, page by page, over all wallets and of one wallet', async () => {
    const ids = async (query: string) =>
      (await get(`/v2/onchain/positions?${query}`)).positions.map((row) => `${row.wallet} ${row.token_id}`);
    const expected = [
      [alice, first],
      [bob, last],
      [eve, first],
    ].map((pair) => pair.join(' '));
    expect(await ids('tag_slug=coins')).toEqual([...expected].sort().reverse());
    expect(await ids('tag_slug=coins&order=asc')).toEqual([...expected].sort());
    expect(await ids('tag_slug=coins&order=asc&status=closed')).toEqual([`${bob} ${last}`]);
    const listed: string[] = [];
    for (let beyond = ''; ; ) {
      const page = await get(`/v2/onchain/positions?tag_slug=coins&order=asc&limit=1${beyond}`);
      listed.push(...page.positions.map((row) => `${row.wallet} ${row.token_id}`));
      if (page.pagination.has_more !== true) break;
      beyond = `&pagination_key=${String(page.pagination.pagination_key)}`;
    }
    expect(listed).toEqual([...expected].sort());
    expect(await ids(`tag_slug=coins&wallet=${alice}`)).toEqual([`${alice} ${first}`]);
    expect(await ids(`tag_slug=coins&condition_id=${hex32(0x10_0000)}&order=asc`)).toEqual([
      `${alice} ${first}`,
      `${eve} ${first}`,
    ]);
    expect(await ids('tag_slug=rare&order=asc')).toEqual([alice, carol, eve].map((wallet) => `${wallet} ${other}`));
  });

  it('fills of a builder in the tag, page by page', async () => {
    for (const name of ['tag_slug=coins', 'category=coins']) {
      const page = await get(`/v3/builders/${BUILDER}/trades?${name}`);
      expect(page.trades.map((row) => [row.maker, row.token_id])).toEqual([
        [eve, first],
        [bob, last],
        [alice, first],
      ]);
    }
    const pages = await Promise.all(
      [0, 1, 2].map((offset) =>
        get(`/v3/builders/${BUILDER}/trades?tag_slug=coins&order=asc&limit=1&offset=${offset}`),
      ),
    );
    expect(pages.flatMap(({ trades }) => trades.map((row) => row.maker))).toEqual([alice, bob, eve]);
    expect((await get(`/v3/builders/${BUILDER}/trades?event_slug=coins-0&tag_slug=coins`)).trades).toHaveLength(3);
    expect((await get(`/v3/trades?event_slug=coins-0`)).trades).toHaveLength(3);
    expect((await get(`/v3/wallets/${eve}/trades?event_slug=coins-0`)).trades).toHaveLength(1);
  });

  it('leaderboard by PnL in the tag only, before and after its snapshot', async () => {
    const ranked = async () => {
      for (const name of names) {
        const { leaderboard } = await get(`/v3/leaderboard?sort=realized&${name}`);
        expect(leaderboard.map((row) => [row.wallet, row.net_realized_pnl])).toEqual([
          [alice, 2],
          [eve, 0],
          [bob, -3],
        ]);
      }
      const { data } = await get('/v3/tags/coins/leaderboard?sort=loss');
      expect(data.map((row) => [row.wallet, row.net_pnl, row.position_count])).toEqual([
        [bob, '-3', 1],
        [alice, '2', 1],
        [eve, '0', 1],
      ]);
    };
    await ranked();
    const refresher = createTagLeaderboardRefresher({
      clickhouse: api.clickhouse,
      logger: silentLogger(),
      metrics: createMetrics({ process: 'test', defaults: false }),
      nowMs: () => api.clock.nowMs,
    });
    await refresher.refresh();
    const tagsWithSnapshot = await api.clickhouse.query<{ tag: string }>(
      'SELECT DISTINCT tag FROM tag_leaderboards ORDER BY tag',
    );
    expect(tagsWithSnapshot.map(({ tag }) => tag)).toEqual(['coins', 'even', 'odd']);
    // Cached orders have expired.
    api.clock.nowMs += 120_000;
    const requested = api.statements.length;
    await ranked();
    expect(api.statements.slice(requested).filter(({ text }) => text.includes('FROM tag_leaderboards'))).not.toEqual(
      [],
    );
    // A newer snapshot that is shorter than the previous one hides its last ranks.
    await insertAccounts(api.clickhouse, [tradeOf(carol, 120, 'BUY', tokenOf(2, 0), 10, 1)]);
    api.clock.nowMs += 120_000;
    await refresher.refresh();
    api.clock.nowMs += 120_000;
    expect(walletsOf((await get('/v3/tags/coins/leaderboard?sort=volume')).data)).toEqual([alice, bob, eve, carol]);
  });

  it('PnL of a wallet in the tag, over all time and in a span', async () => {
    for (const name of names) {
      expect(await get(`/v3/wallets/${alice}/pnl?${name}`)).toMatchObject({ net_realized_pnl: 2, position_count: 1 });
      expect(await get(`/v3/wallets/${alice}/pnl?after=${T}&before=${T + 100}&${name}`)).toMatchObject({
        realized_pnl: 2,
      });
    }
    expect(await get(`/v3/wallets/${alice}/pnl`)).toMatchObject({ net_realized_pnl: 10, position_count: 2 });
    expect(await get(`/v3/wallets/${carol}/pnl?tag_slug=odd`)).toMatchObject({ position_count: 0 });
  });

  it('exclude a market as soon as it has lost the tag', async () => {
    await insertMarkets([marketOf(0, ['even'], 2)]);
    api.clock.nowMs += 120_000;
    expect(walletsOf((await get('/v2/onchain/positions?tag_slug=coins&order=asc')).positions)).toEqual([bob, carol]);
    expect((await get(`/v3/builders/${BUILDER}/trades?tag_slug=coins`)).trades.map((row) => row.maker)).toEqual([bob]);
    expect(await get(`/v3/wallets/${alice}/pnl?tag_slug=coins`)).toMatchObject({ position_count: 0 });
    expect(await get(`/v3/wallets/${alice}/pnl?tag_slug=even`)).toMatchObject({ position_count: 1 });
  });

  it('do not put token lists into statements', () => {
    expect(longest()).toBeLessThan(100_000);
  });
});
