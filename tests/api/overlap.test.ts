import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createOverlapReader } from '../../api/overlap/reader.js';
import { createClickHouseTables } from '../../api/tables/clickhouse-tables.js';
import { RetryableError } from '../../infra/errors.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { createMetrics } from '../../infra/telemetry/metrics.js';
import { decodeEvent } from '../../ingest/catalog/decode.js';
import { catalogSink } from '../../processors/catalog/sink.js';
import { createWalletTagsUpdater } from '../../processors/wallet-tags/wallet-tags-updater.js';
import { newRawKey } from '../../schemas/api-keys.js';
import type { AnyEvent } from '../../schemas/codec.js';
import { history, play } from '../accounting/steps.js';
import { ScriptedVenue } from '../accounting/world.js';
import { type ApiHarness, startApi } from '../support/api.js';
import { type NaiveQuery, naiveOverlap, ownFillsOf } from '../support/naive-overlap.js';
import { createPositionTables, insertRecords } from '../support/position-tables.js';
import { address, hex32 } from '../support/rows.js';

const PATH = '/api/datasets/sports-esports/wallets/overlap';
const T = 1_790_000_000;
let api: ApiHarness;

beforeAll(async () => {
  api = await startApi({ nowMs: T * 1000 });
});
afterAll(() => api.stop());

const tables = [
  ...['positions', 'positions_by_token', 'pnl_events', 'wallet_days', 'minted_by_token', 'combo_events'],
  ...['markets', 'tokens', 'tag_tokens', 'token_quotes', 'events', 'tags'],
  ...['overlap_token_tags', 'wallet_tags', 'wallet_tags_progress', 'sink_progress'],
];
beforeEach(async () => {
  const there = await api.clickhouse.query<{ name: string }>(
    "SELECT name FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%MergeTree'",
  );
  for (const { name } of there.filter((table) => tables.includes(table.name)))
    await api.clickhouse.command('TRUNCATE TABLE {name:Identifier} SYNC', { name });
});

const updaterOf = (over: Partial<Parameters<typeof createWalletTagsUpdater>[0]> = {}) =>
  createWalletTagsUpdater({
    clickhouse: api.clickhouse,
    logger: silentLogger(),
    metrics: createMetrics({ process: 'test', defaults: false }),
    nowMs: Date.now,
    ...over,
  });

interface ListedMarket {
  readonly condition: string;
  readonly tokens: readonly string[];
  readonly eventTags: readonly string[];
  readonly ownTags: readonly string[];
}

/** The catalogue service's text of an event with one market, decoded and inserted as the catalogue's sink does. */
function createCatalog() {
  let offset = 0;
  return {
    async list(markets: readonly ListedMarket[]): Promise<void> {
      const rows = markets.flatMap((market, n) => {
        const slug = (tag: string) => ({ id: tag, slug: tag, label: tag });
        const { rows: decoded, invalid } = decodeEvent({
          id: `e${n}`,
          slug: `event-${n}`,
          title: `Event ${n}`,
          tags: market.eventTags.map(slug),
          markets: [
            {
              id: `m${n}`,
              conditionId: market.condition,
              slug: `market-${n}`,
              question: '?',
              outcomes: '["Yes","No"]',
              outcomePrices: '["0.5","0.5"]',
              clobTokenIds: JSON.stringify(market.tokens),
              tags: market.ownTags.map(slug),
            },
          ],
        });
        expect(invalid).toEqual([]);
        return decoded;
      });
      const records = rows.map((row) => ({ event: row as AnyEvent, partition: 0, offset: offset++ }));
      await insertRecords(api.clickhouse, catalogSink, records);
    },
  };
}

interface Body {
  readonly count: number;
  readonly tags: readonly string[];
  readonly wallets: readonly {
    readonly wallet: string;
    readonly tags_matched: number;
    readonly total_fills: number;
    readonly total_volume_usdc: string;
    readonly total_markets: number;
  }[];
}

/** Advances the clock past the cache time of responses. */
const expireCache = () => {
  api.clock.nowMs += 120_000;
};

/** Alice: 2 fills of 10 USDC in the first market, 1 of 5 in the second. Bob: one of 100 in each. Carol: the first market only. */
async function smallWorld() {
  const [alice, bob, carol] = [address(0xa1), address(0xb2), address(0xc3)];
  const position = (wallet: string, token: string, fills: number, bought: number, sold: number, offset: number) => ({
    wallet,
    token_id: token,
    fills,
    bought_usdc: bought * 1_000_000,
    sold_usdc: sold * 1_000_000,
    version: 1,
    _partition: 0,
    _offset: offset,
  });
  await api.clickhouse.insertRows('positions', [
    position(alice, '11', 1, 10, 0, 0),
    position(alice, '12', 1, 0, 10, 1),
    position(alice, '21', 1, 5, 0, 2),
    position(bob, '11', 1, 100, 0, 3),
    position(bob, '22', 1, 0, 100, 4),
    position(carol, '11', 1, 7, 0, 5),
    // Received shares, but no trade.
    position(carol, '21', 0, 0, 0, 6),
  ]);
  await api.clickhouse.insertRows('sink_progress', [
    { sink: 'positions', topic: 'positions', partition: 0, next_offset: 7 },
  ]);
  const event = (wallet: string, token: string, action: string, usdc: number, at: number, id: string) => ({
    wallet,
    token_id: token,
    id,
    leg: 0,
    block_number: at,
    timestamp: at,
    action,
    usdc: usdc * 1_000_000,
  });
  await api.clickhouse.insertRows('pnl_events', [
    event(alice, '11', 'BUY', 10, T, 'a'),
    event(alice, '12', 'SELL', 10, T + 1, 'b'),
    event(alice, '21', 'BUY', 5, T + 2, 'c'),
    event(alice, '21', 'MERGE', 0, T + 3, 'd'),
    event(bob, '11', 'BUY', 100, T, 'e'),
    event(bob, '22', 'SELL', 100, T + 3, 'f'),
    event(carol, '11', 'BUY', 7, T, 'g'),
    event(carol, '21', 'RECEIVE', 0, T + 1, 'h'),
  ]);
  await createCatalog().list([
    { condition: hex32(1), tokens: ['11', '12'], eventTags: ['sports'], ownTags: ['nba'] },
    { condition: hex32(2), tokens: ['21', '22'], eventTags: ['sports', 'nfl'], ownTags: [] },
  ]);
  await updaterOf().update();
  return { alice, bob, carol };
}

describe('GET /api/datasets/sports-esports/wallets/overlap', () => {
  it('lists the wallets that traded all tags, with sums over the tags and distinct markets, in the documented order of keys', async () => {
    const { alice, bob } = await smallWorld();
    expireCache();
    const nbaNfl = await api.get(`${PATH}?tags=nba,nfl`);
    expect(JSON.stringify(nbaNfl.body)).toBe(
      JSON.stringify({
        count: 2,
        tags: ['nba', 'nfl'],
        wallets: [
          { wallet: bob, tags_matched: 2, total_fills: 2, total_volume_usdc: '200.000000', total_markets: 2 },
          { wallet: alice, tags_matched: 2, total_fills: 3, total_volume_usdc: '25.000000', total_markets: 2 },
        ],
      }),
    );
    // The second market has both tags: its fill counts twice, its condition once.
    const { wallets } = await api.ok<Body>(`${PATH}?tags=sports,nfl&sort=fills`);
    expect(wallets).toEqual([
      { wallet: alice, tags_matched: 2, total_fills: 4, total_volume_usdc: '30.000000', total_markets: 2 },
      { wallet: bob, tags_matched: 2, total_fills: 3, total_volume_usdc: '300.000000', total_markets: 2 },
    ]);
  });

  it('counts fills at or after `after` and before `before`, to the second', async () => {
    const { alice, bob } = await smallWorld();
    expireCache();
    const listed = async (query: string) =>
      (await api.ok<Body>(`${PATH}?tags=nba,nfl&${query}`)).wallets.map((row) => [
        row.wallet,
        row.total_fills,
        row.total_volume_usdc,
      ]);
    expect(await listed(`after=${T}&before=${T + 4}`)).toEqual([
      [bob, 2, '200.000000'],
      [alice, 3, '25.000000'],
    ]);
    // Excludes the fills of T + 3.
    expect(await listed(`before=${T + 3}`)).toEqual([[alice, 3, '25.000000']]);
    // Excludes the fills of T, so Bob does not have the first tag.
    expect(await listed(`after=${T + 1}`)).toEqual([[alice, 2, '15.000000']]);
    expect(await listed(`after=${T + 2}`)).toEqual([]);
    expect(await listed(`after=${T + 3}&before=${T + 3}`)).toEqual([]);
    expect(await listed(`after=${T}&before=9999999999&min_volume=25.000001`)).toEqual([[bob, 2, '200.000000']]);
  });

  it('filters by min_volume, pages with ties in order of the wallet, and clamps the limit', async () => {
    const { alice, bob } = await smallWorld();
    expireCache();
    const wallets = async (query: string) =>
      (await api.ok<Body>(`${PATH}?tags=nba,nfl&${query}`)).wallets.map((row) => row.wallet);
    expect(await wallets('min_volume=25')).toEqual([bob, alice]);
    expect(await wallets('min_volume=25.000001')).toEqual([bob]);
    // Both have two markets.
    expect(await wallets('sort=markets')).toEqual([alice, bob]);
    expect(await wallets('sort=markets&limit=1&offset=1')).toEqual([bob]);
    expect(await wallets('limit=501')).toEqual([bob, alice]);
    expect(await wallets('offset=2')).toEqual([]);
  });

  it('responds with and without a key, and rejects an invalid key', async () => {
    await smallWorld();
    expireCache();
    const path = `${PATH}?tags=nba,nfl`;
    const open = await api.get(path);
    expect([open.status, open.headers.get('x-ratelimit-limit'), open.headers.get('cache-control')]).toEqual([
      200,
      null,
      'private, max-age=60',
    ]);
    const metered = api.metered.length;
    const own = await api.get(path, await api.key('free'));
    expect([own.status, own.body]).toEqual([200, open.body]);
    expect(Number(own.headers.get('x-ratelimit-limit'))).toBeGreaterThan(0);
    await expect.poll(() => api.metered.length).toBe(metered + 1);
    expect((await api.get(path, 'nonsense')).status).toBe(401);
    expect((await api.get(path, newRawKey())).status).toBe(403);
    expect((await api.get(`${path}&key=nonsense`)).status).toBe(401);
  });

  it('returns an empty list for unknown tags, and an error that names the invalid parameter', async () => {
    await smallWorld();
    expireCache();
    expect(await api.ok(`${PATH}?tags=nba,unknown-tag`)).toEqual({
      count: 0,
      tags: ['nba', 'unknown-tag'],
      wallets: [],
    });
    const eleven = Array.from({ length: 11 }, (_, n) => `t${n}`).join(',');
    const tags = 'tags must list 2 to 10 tag slugs';
    for (const [query, error] of [
      ['', tags],
      ['?tags=', tags],
      ['?tags=nba', tags],
      ['?tags=nba,nba', tags],
      ['?tags=nba,', tags],
      [`?tags=${eleven}`, tags],
      [`?tags=nba,${'x'.repeat(101)}`, tags],
      ['?tags=nba,nfl&sort=name', 'Invalid sort. Use: volume, fills, markets'],
      ['?tags=nba,nfl&min_volume=-1', 'Invalid min_volume. Use a USDC amount of at least 0'],
      ['?tags=nba,nfl&min_volume=1e3', 'Invalid min_volume. Use a USDC amount of at least 0'],
      ['?tags=nba,nfl&limit=x', 'Invalid limit. Use 1 to 500'],
      ['?tags=nba,nfl&offset=10001', 'Invalid offset. Max 10000'],
      ['?tags=nba,nfl&offset=-1', 'Invalid offset. Use a whole number, 0 or more'],
      ['?tags=nba,nfl&after=now', 'Invalid after. Use Unix seconds'],
      ['?tags=nba,nfl&minvolume=1', "Unknown query parameter 'minvolume'. Did you mean 'min_volume'?"],
    ])
      expect([query, await api.get(`${PATH}${query}`).then(({ status, body }) => [status, body])]).toEqual([
        query,
        [400, { error }],
      ]);
  });

  it('returns 503 before the first pass of the wallet tags updater', async () => {
    expireCache();
    const response = await api.get(`${PATH}?tags=nba,nfl`);
    expect([response.status, response.headers.get('retry-after'), response.body]).toEqual([
      503,
      '5',
      { error: 'Wallets per tag are still being computed. Try again in 5 seconds.' },
    ]);
  });
});

const allTags = ['nba', 'nfl', 'sports', 'crypto', 'eu'];

describe('wallets of several tags', () => {
  it.each([1, 2])(
    'equal the naive result over all fills, on a generated history with late and removed tags (seed %i)',
    async (seed) => {
      const steps = fc.sample(history(true), { seed, numRuns: 5 }).flat();
      const world = play(new ScriptedVenue(false, { wallets: 7, plain: 3, questions: 3 }), steps);
      const positions = createPositionTables(api.clickhouse, 3);
      const catalog = createCatalog();
      const listed = new Map<string, ListedMarket>();
      const tagLists = fc.sample(fc.subarray(allTags), { seed, numRuns: 40 });
      const drawTags = (n: number) => tagLists[n % tagLists.length] ?? [];
      const list = async (markets: readonly ListedMarket[]) => {
        for (const market of markets) for (const token of market.tokens) listed.set(token, market);
        await catalog.list(markets);
      };
      const marketOf = (token: string) => {
        const market = listed.get(token);
        return market && { condition: market.condition, tags: new Set([...market.eventTags, ...market.ownTags]) };
      };
      const tagged = (n: number, draw: number): ListedMarket => {
        const { condition, tokens } = world.markets[n] as (typeof world.markets)[number];
        return { condition, tokens, eventTags: drawTags(draw), ownTags: drawTags(draw + 1) };
      };
      let played: AnyEvent[] = [];
      const updater = updaterOf({ tokensPerBatch: 3, walletsPerBatch: 2 });
      let compared = 0;
      const compare = async () => {
        await updater.update();
        expireCache();
        const fills = ownFillsOf(played);
        const times = [...new Set(fills.map((fill) => fill.timeS))].sort((a, b) => a - b);
        const queries = fc.sample(
          fc.record(
            {
              tags: fc.subarray(allTags, { minLength: 2, maxLength: 3 }),
              sort: fc.constantFrom('volume' as const, 'fills' as const, 'markets' as const),
              after: fc.constantFrom(0, ...times, ...times.map((time) => time + 1)),
              before: fc.constantFrom(...times, ...times.map((time) => time + 1), 9_999_999_999),
              minVolume: fc.constantFrom(0n, 1_000_000n, 123_456_789n),
              limit: fc.integer({ min: 1, max: 5 }),
              offset: fc.integer({ min: 0, max: 3 }),
            },
            { requiredKeys: ['tags'] },
          ),
          { seed: seed * 100 + compared, numRuns: 6 },
        ) as NaiveQuery[];
        for (const query of queries) {
          const parameters = new URLSearchParams({ tags: query.tags.join(',') });
          if (query.sort !== undefined) parameters.set('sort', query.sort);
          if (query.after !== undefined) parameters.set('after', String(query.after));
          if (query.before !== undefined) parameters.set('before', String(query.before));
          if (query.minVolume !== undefined) parameters.set('min_volume', String(Number(query.minVolume) / 1e6));
          if (query.limit !== undefined) parameters.set('limit', String(query.limit));
          if (query.offset !== undefined) parameters.set('offset', String(query.offset));
          const { wallets } = await api.ok<Body>(`${PATH}?${parameters}`);
          const expected = naiveOverlap(fills, marketOf, query).map((row) => ({
            wallet: row.wallet,
            tags_matched: query.tags.length,
            total_fills: Number(row.fills),
            total_volume_usdc: `${row.volume / 1_000_000n}.${String(row.volume % 1_000_000n).padStart(6, '0')}`,
            total_markets: row.markets,
          }));
          expect(wallets, parameters.toString()).toEqual(expected);
          compared += expected.length;
          // The way of large tags, with bounds of all wallets, of a sample, and of a small tag; and of tags too large for one statement.
          const { after, before } = query;
          for (const large of [{ sampleFrom: 1e9, smallTag: 0 }, { sampleFrom: 0, smallTag: 0 }, {}]) {
            const reader = createOverlapReader({
              tables: createClickHouseTables(api.clickhouse),
              nowMs: Date.now,
              budgetMs: 60_000,
              smallRows: 0,
              minDepth: 1,
              rowsPerRange: 40,
              ...large,
            });
            const rows = await reader.page({
              tags: query.tags,
              minVolume: query.minVolume ?? 0n,
              span: after === undefined && before === undefined ? null : { fromS: after ?? 0, toS: before ?? 2 ** 32 },
              sort: query.sort ?? 'volume',
              offset: query.offset ?? 0,
              limit: query.limit ?? 50,
            });
            expect(rows, `as a large tag ${JSON.stringify(large)}: ${parameters}`).toEqual(
              naiveOverlap(fills, marketOf, query),
            );
          }
        }
      };
      const half = world.blocks.slice(0, world.blocks.length >> 1);
      // First half of the history with some of its markets in the catalogue; then the second half; then late, changed and removed tags.
      await list([tagged(0, 0), tagged(1, 2), tagged(2, 4)]);
      await positions.apply(half);
      played = half.flat();
      await compare();
      await positions.apply(world.blocks.slice(half.length));
      played = world.blocks.flat();
      await compare();
      await list([tagged(3, 6), tagged(4, 8), { ...tagged(0, 10), eventTags: [], ownTags: ['nba'] }]);
      await compare();
      await list([tagged(0, 12), { ...tagged(1, 0), eventTags: [], ownTags: [] }, tagged(5, 14)]);
      await compare();
      expect(compared).toBeGreaterThan(3);
      expect(await updater.update()).toEqual({ wallets: 0, changed: false });
    },
    180_000,
  );
});

describe('wallet tags updater', () => {
  it('repeats a pass that failed at any of its statements, with the sums of an undisturbed pass', async () => {
    const sums = () =>
      api.clickhouse.query(
        'SELECT tag, hex(wallet) AS wallet, fills, volume, markets FROM wallet_tags FINAL ORDER BY ALL',
      );
    await smallWorld();
    const expected = await sums();
    // Three wallets each in the first tag and in the common tag, two in the other.
    expect(expected).toHaveLength(8);
    // Two batches of tokens, sixteen ranges of wallets and the progress; the twentieth statement does not exist.
    for (const dieAt of [1, 2, 3, 10, 18, 19, 20]) {
      for (const name of ['wallet_tags', 'overlap_token_tags', 'wallet_tags_progress'])
        await api.clickhouse.command('TRUNCATE TABLE {name:Identifier} SYNC', { name });
      let writes = 0;
      let dead = false;
      // Simulates a client that dies during a statement, which takes effect in every second case.
      const dying = async (write: () => Promise<void>) => {
        if (dead) throw new RetryableError('dead');
        dead = ++writes === dieAt;
        if (!dead || dieAt % 2 === 0) await write();
        if (dead) throw new RetryableError('died');
      };
      const updater = updaterOf({
        tokensPerBatch: 1,
        walletsPerBatch: 1,
        clickhouse: {
          query: api.clickhouse.query,
          command: (sql, params, options) => dying(() => api.clickhouse.command(sql, params, options)),
          insertRows: (table, rows, options) => dying(() => api.clickhouse.insertRows(table, rows, options)),
        },
      });
      const ended = await updater.update().then(
        () => true,
        () => false,
      );
      await updaterOf().update();
      expect(await sums(), `died at statement ${dieAt}`).toEqual(expected);
      expect(ended).toBe(dieAt === 20);
    }
  }, 180_000);

  it('keeps newer sums when a late statement of an ended process is executed', async () => {
    const { alice } = await smallWorld();
    const stale = {
      tag: 'nba',
      wallet: Buffer.from(alice.slice(2), 'hex').toString('latin1'),
      fills: 99,
      volume: 99,
      markets: 9,
    };
    const [row] = await api.clickhouse.query<{ version: string }>('SELECT max(version) AS version FROM wallet_tags');
    await api.clickhouse.command(
      `INSERT INTO wallet_tags SELECT 'nba', toFixedString(unhex({wallet:String}), 20), ${stale.fills}, ${stale.volume}, ${stale.markets}, {version:UInt64}`,
      { wallet: alice.slice(2), version: String(BigInt(row?.version ?? 0) - 1n) },
    );
    expireCache();
    const { wallets } = await api.ok<Body>(`${PATH}?tags=nba,nfl&sort=fills`);
    expect(wallets[0]).toMatchObject({ wallet: alice, total_fills: 3 });
  });
});
