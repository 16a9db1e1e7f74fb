import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { publishViews } from '../../processors/public-views/publish.js';
import { publicViews } from '../../processors/public-views/views.js';
import { type ApiHarness, startApi } from '../support/api.js';
import {
  insertRecordedTables,
  RECORDED_NOW_MS,
  type RecordedHistory,
  readRecordedHistory,
} from '../support/recorded-tables.js';
import { checkIdentities } from './identities.js';
import { compareLeaderboards, compareMarket, compareTag } from './list-views.js';
import {
  createReferenceLedger,
  type ReferenceLedger,
  type ReferencePosition,
  referencePositions,
} from './reference-ledger.js';
import { comparePositions, comparePrices, compareSnapshots, compareWalletSums } from './set-views.js';
import {
  compareConditions,
  compareOpen,
  compareWallet,
  createComparison,
  type ReferenceWallet,
} from './wallet-views.js';

const DATABASE = 'market';
const SEED = 18;
/** Wallets whose every view is read over REST: the largest, and so many drawn from the others. All wallets are compared in tables and views. */
const LARGEST = 10;
const DRAWN = 12;
const DRAWN_MARKETS = 25;
const DRAWN_WALLETS_OF_CONDITIONS = 15;
const WORKERS = 3;
const TIMEOUT_MS = 900_000;

let api: ApiHarness;
let keys: readonly string[];
let history: RecordedHistory;
let ledger: ReferenceLedger;
let positions: readonly ReferencePosition[];
/** By number of positions, descending. */
let wallets: readonly ReferenceWallet[];
let conditionOf: ReadonlyMap<string, string>;

beforeAll(async () => {
  api = await startApi({ nowMs: RECORDED_NOW_MS });
  keys = await Promise.all(Array.from({ length: WORKERS }, () => api.key('enterprise')));
  history = await readRecordedHistory();
  await insertRecordedTables(api.clickhouse, history);
  await publishViews({ client: api.clickhouse, database: DATABASE, views: publicViews, logger: silentLogger() });
  ledger = createReferenceLedger(history);
  positions = [...referencePositions(ledger).values()];
  conditionOf = new Map([...ledger.pairs].flatMap(([condition, pair]) => pair.map((token) => [token, condition])));
  const byWallet = new Map<string, ReferencePosition[]>();
  for (const one of positions) {
    const own = byWallet.get(one.wallet);
    if (own === undefined) byWallet.set(one.wallet, [one]);
    else own.push(one);
  }
  const nothing = { usdc: 0n, boughtUsdc: 0n, fees: 0n, feesAtPrice: 0n };
  wallets = [...byWallet]
    .map(([wallet, own]) => ({ wallet, positions: own, traded: ledger.traded.get(wallet) ?? nothing }))
    .sort((a, b) => b.positions.length - a.positions.length || (a.wallet < b.wallet ? -1 : 1));
}, TIMEOUT_MS);
afterAll(() => api.stop());

/** A pseudo-random sample of `count` elements, the same in every run. */
function sample<T>(all: readonly T[], count: number): readonly T[] {
  let state = SEED;
  const next = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state;
  };
  return all
    .map((one) => [next(), one] as const)
    .sort(([a], [b]) => a - b)
    .slice(0, count)
    .map(([, one]) => one);
}

const isSettled = (token: string): boolean => ledger.settled.has(token);
const depsOf = (comparison: ReturnType<typeof createComparison>, worker = 0) => ({
  api,
  key: keys[worker] as string,
  comparison,
  isSettled,
  pastPriceOf: ledger.pastPriceOf,
});
/** Expects no difference, and at least the given number of comparisons per view. */
function expectSame(comparison: ReturnType<typeof createComparison>, views: Readonly<Record<string, number>>): void {
  expect(comparison.differences).toEqual([]);
  for (const [view, atLeast] of Object.entries(views))
    expect(comparison.compared.get(view) ?? 0, view).toBeGreaterThanOrEqual(atLeast);
  expect([...comparison.compared.keys()].sort()).toEqual(Object.keys(views).sort());
}

describe('accounting of every recorded wallet', () => {
  it(
    'satisfies the accounting identities in all tables, per wallet and per block',
    async () => {
      expect(wallets.length).toBeGreaterThan(500);
      for (const [name, { compared, violations, largest }] of await checkIdentities(api.clickhouse)) {
        expect(compared, name).toBeGreaterThanOrEqual(200);
        expect(violations, `${name}: ${violations} of ${compared} rows, difference at most ${largest}`).toBe(0);
      }
    },
    TIMEOUT_MS,
  );

  it(
    'equals the reference ledger in all tables and public views',
    async () => {
      const comparison = createComparison();
      const deps = { api, comparison, database: DATABASE, ledger, positions, wallets };
      await comparePositions(deps);
      await comparePrices(deps);
      await compareWalletSums(deps);
      await compareSnapshots(deps);
      expectSame(comparison, {
        'table positions': 7 * positions.length,
        'table positions_by_token': 7 * positions.length,
        'view positions': 6 * positions.length,
        'view holders': 5_000,
        'view prices_now': 1_000,
        'view pnl_events': 3 * wallets.length,
        'view wallet_days': 3 * wallets.length,
        'table pnl_events': 5 * wallets.length,
        'views of cash': wallets.length,
        'views positions and prices_now': wallets.length,
        'table leaderboards': 8 * 9 * wallets.length,
      });
    },
    TIMEOUT_MS,
  );

  it(
    'equals the reference ledger in leaderboards, in batch summaries and in the sums over all wallets',
    async () => {
      const comparison = createComparison();
      const deps = depsOf(comparison);
      await compareLeaderboards(deps, wallets);
      await compareOpen(deps, wallets);
      const metrics = ['total_pnl', 'realized', 'unrealized', 'profit', 'loss', 'volume', 'wins', 'positions'];
      expectSame(comparison, {
        ...Object.fromEntries(metrics.map((sort) => [`/v3/leaderboard?sort=${sort}`, 10 * wallets.length])),
        '/v3/wallets/batch': 10 * wallets.length,
        '/v3/stats': 4,
        '/v1/wallets/positions': 2_000,
      });
    },
    TIMEOUT_MS,
  );

  it(
    'equals the reference ledger in the leaderboards of every tag, narrow and wide',
    async () => {
      const tags = new Map<string, Set<string>>();
      for (const event of history.catalog) {
        if (event.kind !== 'catalog_market') continue;
        for (const tag of event.value.tag_slugs) {
          const tokens = tags.get(tag) ?? new Set();
          tags.set(tag, tokens);
          for (const token of event.value.token_ids) tokens.add(token);
        }
      }
      expect([...tags.values()].some(({ size }) => size > 1_000)).toBe(true);
      const comparison = createComparison();
      for (const [tag, tokens] of tags) await compareTag(depsOf(comparison), tag, tokens, positions);
      expectSame(comparison, { '/v3/tags/{slug}/leaderboard': 1_000, '/v3/leaderboard?tag_slug=': 1_000 });
    },
    TIMEOUT_MS,
  );

  it(
    'equals the reference ledger in every list of the positions in a market',
    async () => {
      const slugs = new Map(
        history.catalog.flatMap((event) =>
          event.kind === 'catalog_market' ? [[event.value.condition_id, event.value.slug] as const] : [],
        ),
      );
      const comparison = createComparison();
      const conditions = [...new Set(positions.map((one) => conditionOf.get(one.tokenId) as string))].sort();
      for (const condition of sample(conditions, DRAWN_MARKETS)) {
        const market = { condition, tokens: ledger.pairs.get(condition) ?? [], slug: slugs.get(condition) ?? null };
        await compareMarket(depsOf(comparison), market, positions);
      }
      expectSame(comparison, {
        '/v3/markets/condition/{condition_id}/positions': 2_000,
        '/v3/markets/slug/{slug}/positions': 2_000,
        '/v3/markets/{token_id}/positions': 2_000,
        '/v3/positions': 2_000,
        '/clobv2/positions?condition_id=': 2_000,
        '/v1/markets/{id}/positions': 2_000,
      });
    },
    TIMEOUT_MS,
  );

  it(
    'equals the reference ledger in every view of a wallet',
    async () => {
      const comparison = createComparison();
      const chosen = [...wallets.slice(0, LARGEST), ...sample(wallets.slice(LARGEST), DRAWN)];
      const left = [...chosen];
      await Promise.all(
        keys.map(async (_key, worker) => {
          for (let one = left.shift(); one !== undefined; one = left.shift())
            await compareWallet(depsOf(comparison, worker), one);
        }),
      );
      const smallWallets = wallets.filter((one) => one.positions.length < 20);
      for (const one of sample(smallWallets, DRAWN_WALLETS_OF_CONDITIONS))
        await compareConditions(depsOf(comparison), one, (token) => conditionOf.get(token) as string);
      const n = chosen.length;
      expectSame(comparison, {
        '/v3/wallets/{address}': 13 * n,
        '/v3/wallets/{address}/positions': 10_000,
        '/v3/wallets/{address}/pnl': 10 * n,
        '/v3/wallets/{address}/pnl of a span': 2 * n,
        '/v3/wallets/{address}/pnl/events': 2 * n,
        '/v3/wallets/{address}/pnl/events by hour': 3 * n,
        '/v3/wallets/{address}/pnl/events by day': 3 * n,
        '/v3/wallets/{address}/pnl/events by week': 3 * n,
        '/v3/wallets/{address}/pnl/events by month': 3 * n,
        '/v1/wallets/{addr}/positions': 2_000,
        '/v2/wallets/{address}/positions/onchain': 10_000,
        '/v2/wallets/{address}/closed-positions': 2_000,
        '/v2/onchain/positions': 10_000,
        '/clobv2/positions': 10_000,
        '/v1/trader/{wallet}/pnl': n,
        '/v1/trader/{wallet}/pnl of the past': 24 * n,
        '/v2/trader/{wallet}/equity': 2 * n,
        '/v3/wallets/{address}/pnl?condition_id=': 2 * DRAWN_WALLETS_OF_CONDITIONS,
        '/v3/wallets/{address}/pnl?condition_id= of a span': DRAWN_WALLETS_OF_CONDITIONS,
      });
    },
    TIMEOUT_MS,
  );
});

describe('cash of every recorded position event', () => {
  const rows = <T>(text: string) => api.clickhouse.query<T>(text);

  it('of a fill equals the amount paid', async () => {
    const [fills] = await rows<object>(
      `SELECT countIf(cash != if(action = 'BUY', -toInt64(usdc), toInt64(usdc))) AS other
      FROM pnl_events FINAL WHERE action IN ('BUY', 'SELL') AND untracked = 0
        AND (wallet, token_id) NOT IN (SELECT wallet, token_id FROM pnl_events WHERE action = 'RECEIVE')`,
    );
    expect(fills).toEqual({ other: '0' });
  });

  it('of a merge of bought shares is one unit per pair, also for odd amounts', async () => {
    const merged = new Map(
      history.blocks.flatMap((events) =>
        events.flatMap((event) =>
          event.kind === 'position_merge' ? [[event.value.id, event.value.amount] as const] : [],
        ),
      ),
    );
    const merges = await rows<{ id: string; cash: string }>(
      `SELECT id, toString(sum(cash)) AS cash FROM pnl_events FINAL WHERE action = 'MERGE' GROUP BY id HAVING sum(untracked) = 0`,
    );
    expect(merges.length).toBeGreaterThan(300);
    expect(merges.filter(({ id, cash }) => BigInt(cash) !== merged.get(id))).toEqual([]);
  });
});
