import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { createMetrics } from '../../infra/telemetry/metrics.js';
import { createLeaderboardRefresher } from '../../processors/leaderboards/leaderboard-refresher.js';
import { publishViews } from '../../processors/public-views/publish.js';
import { publicViews } from '../../processors/public-views/views.js';
import { addresses } from '../../schemas/primitives/venue.js';
import { type ApiHarness, startApi } from '../support/api.js';
import { accountFor, insertAccounts } from '../support/positions.js';
import { activityOfBlocks } from '../support/recorded-tables.js';
import { type PartialHistory, partialHistory } from './partial-history.js';
import { history } from './steps.js';

const keyOf = (row: { readonly wallet: string; readonly token_id: string }) => `${row.wallet} ${row.token_id}`;
const holdingsOf = ({ blocks }: PartialHistory) =>
  new Map(accountFor(activityOfBlocks(blocks)).positions.map((one) => [keyOf(one), one]));
/** Every pair of wallet and token. */
const pairsOf = ({ wallets, world }: PartialHistory) =>
  wallets.flatMap((wallet) => world.markets.flatMap(({ tokens }) => tokens.map((token) => `${wallet} ${token}`)));
/** Long enough that wallets have what they sell, merge and convert later. */
const long = fc.array(history(true), { minLength: 8, maxLength: 16 }).map((parts) => parts.flat());
const options = { wallets: 4, plain: 2, questions: 4, combos: 1, feeBips: 37 };

describe('positions of a history that begins in the middle', () => {
  const settings = { numRuns: 400 };

  it('are marked where more shares left than came in, or where a conversion may have created shares', () => {
    let [marked, created] = [0, 0];
    fc.assert(
      fc.property(long, fc.double({ min: 0.05, max: 0.95, noNaN: true }), (steps, lost) => {
        const partial = partialHistory(steps, options, lost);
        const holdings = holdingsOf(partial);
        for (const key of pairsOf(partial)) {
          const holding = holdings.get(key);
          const isMarked = holding !== undefined && holding.unpriced > 0;
          if (partial.overdrawn.has(key)) expect(isMarked, key).toBe(true);
          const size = (holding?.size ?? 0n) + (holding?.received ?? 0n);
          const chain = partial.after.get(key) ?? 0n;
          expect(size <= chain, `${key}: ${size} of ${chain}`).toBe(true);
          // What no wallet held before the log begins is as the chain has it, or marked.
          if ((partial.before.get(key) ?? 0n) > 0n || size === chain) continue;
          expect(isMarked, key).toBe(true);
          created += 1;
        }
        marked += partial.overdrawn.size;
      }),
      settings,
    );
    expect(marked).toBeGreaterThan(50);
    expect(created).toBeGreaterThan(5);
  });

  it('are marked nowhere if the history has everything', () => {
    fc.assert(
      fc.property(long, (steps) => {
        const holdings = holdingsOf(partialHistory(steps, options, 0));
        expect([...holdings.values()].filter(({ unpriced }) => unpriced > 0)).toEqual([]);
      }),
      settings,
    );
  });
});

const SEEDS = [18, 19, 20] as const;
const DATABASE = 'market';

describe('the endpoints of positions', () => {
  let api: ApiHarness;
  let key: string;
  beforeAll(async () => {
    api = await startApi({ nowMs: 1_700_000_000_000 + 86_400_000 });
    key = await api.key('enterprise');
  });
  afterAll(() => api.stop());
  afterEach(async () => {
    for (const table of ['positions', 'positions_by_token', 'pnl_events', 'leaderboards'])
      await api.clickhouse.command(`TRUNCATE TABLE ${table}`);
    // Nothing may be answered from a copy.
    api.clock.nowMs += 3_600_000;
  });

  type Row = Record<string, unknown> & { readonly complete: boolean };
  const ask = <T>(path: string) => api.ok<T>(path, key);

  it.each(SEEDS)('say which positions are incomplete, and show no 0 for what is unknown (seed %i)', async (seed) => {
    const steps = fc.sample(history(true), { numRuns: 60, seed }).flat();
    const partial = partialHistory(steps, options, 0.5);
    await insertAccounts(api.clickhouse, activityOfBlocks(partial.blocks));
    await publishViews({ client: api.clickhouse, database: DATABASE, views: publicViews, logger: silentLogger() });
    const views = new Map(
      (
        await api.clickhouse.query<{ wallet: string; token_id: string; is_complete: boolean }>(
          `SELECT wallet, toString(p.token_id) AS token_id, is_complete FROM ${DATABASE}.positions AS p`,
        )
      ).map((row) => [keyOf(row), row.is_complete]),
    );
    let [incomplete, unknown] = [0, 0];
    const completeOf = new Map<string, boolean>();
    const incompleteWallets: string[] = [];
    /** Every list agrees with the first one that had the position. */
    const same = (list: string, id: string, complete: boolean) => {
      expect(complete, `${list} ${id}`).toBe(completeOf.get(id));
    };
    for (const wallet of partial.wallets) {
      const { positions } = await ask<{ positions: Row[] }>(
        `/v3/wallets/${wallet}/positions?include_combos=true&limit=300`,
      );
      for (const row of positions) {
        const id = `${wallet} ${row.token_id}`;
        completeOf.set(id, row.complete);
        if (partial.overdrawn.has(id)) expect(row.complete, id).toBe(false);
        const chain = partial.after.get(id) ?? 0n;
        if (row.size === null) {
          expect(row.complete, id).toBe(false);
          for (const field of ['unrealized_pnl', 'initial_value']) expect(row[field], field).toBeNull();
          expect(row.total_pnl).toBe(row.realized_pnl);
          unknown += 1;
        } else {
          const size = BigInt(Math.round(Number(row.size) * 1e6));
          if (row.complete && (partial.before.get(id) ?? 0n) === 0n) expect(size, id).toBe(chain);
          if (!row.complete && size === 0n) expect(chain, id).toBe(0n);
        }
        for (const field of ['realized_pnl', 'avg_price', 'total_bought'])
          if (!row.complete) expect(Number(row[field] ?? 1), `${id} ${field}`).not.toBe(0);
        incomplete += row.complete ? 0 : 1;
      }
      const markets = positions.filter((row) => row.position_type !== 'combo');
      const summary = await ask<Row>(`/v3/wallets/${wallet}`);
      expect(summary.complete).toBe(markets.every((row) => row.complete));
      if (!summary.complete) incompleteWallets.push(wallet);
      expect((await ask<Row>(`/v3/wallets/${wallet}/pnl`)).complete).toBe(summary.complete);
      expect((await ask<Row>(`/v3/wallets/${wallet}/combos/summary`)).complete).toBe(
        positions.filter((row) => row.position_type === 'combo').every((row) => row.complete),
      );
      const whole = await ask<{ complete: boolean; positions: Row[] }>(`/v2/wallets/${wallet}/positions/onchain`);
      expect(whole.complete).toBe(positions.every((row) => row.complete));
      expect(whole.positions).toHaveLength(positions.length);
      for (const row of whole.positions) same('v2', `${wallet} ${row.token_id}`, row.complete);
      const open = await ask<{ positions: Row[] }>(`/v1/wallets/${wallet}/positions?limit=100`);
      for (const row of open.positions) same('v1', `${wallet} ${row.asset}`, row.complete);
      const bySize = await ask<{ positions: Row[] }>(`/clobv2/positions?wallet=${wallet}`);
      expect(bySize.positions).toHaveLength(positions.length);
      for (const row of bySize.positions) same('clobv2', `${wallet} ${row.token_id}`, row.complete);
      const onchain = await ask<{ positions: Row[] }>(`/v2/onchain/positions?wallet=${wallet}&limit=500`);
      for (const row of onchain.positions) same('v2 onchain', `${wallet} ${row.token_id}`, row.complete);
    }
    for (const token of partial.world.markets.flatMap(({ tokens }) => tokens)) {
      const { data } = await ask<{ data: Row[] }>(`/v3/markets/${token}/positions?limit=100`);
      for (const row of data) {
        const id = `${row.user} ${token}`;
        same('holders', id, row.complete);
        if (row.amount === '0') expect(row.complete ? 0n : (partial.after.get(id) ?? 0n), id).toBe(0n);
      }
      const everybody = await ask<{ positions: Row[] }>(`/v3/positions?token_id=${token}`);
      for (const row of everybody.positions) same('v3', `${row.wallet} ${token}`, row.complete);
    }
    await createLeaderboardRefresher({
      clickhouse: api.clickhouse,
      logger: silentLogger(),
      metrics: createMetrics({ process: 'test', defaults: false }),
      nowMs: Date.now,
    }).refresh();
    const { leaderboard } = await ask<{ leaderboard: Row[] }>('/v3/leaderboard?limit=100');
    expect(
      leaderboard
        .filter((row) => !row.complete)
        .map((row) => row.wallet)
        .sort(),
    ).toEqual(incompleteWallets.sort());
    expect(incompleteWallets.length).toBeGreaterThan(0);
    expect(new Map([...views].map(([id, complete]) => [id, complete]))).toEqual(completeOf);
    expect(incomplete).toBeGreaterThan(5);
    expect(unknown).toBeGreaterThan(0);
  });
});

describe('a conversion of all questions', () => {
  const wallet = `0x${'a1'.repeat(20)}`;
  const market = `0x${'77'.repeat(31)}00`;
  const at = (block: number) => ({
    id: `0x${block}-0`,
    block_number: block,
    block_hash: `0x${block}`,
    timestamp_ms: 1_700_000_000_000,
    tx_hash: `0x${block}`,
    log_index: 0,
  });
  const conversion = (fee: bigint | null) =>
    ({
      kind: 'positions_converted',
      value: {
        ...at(2),
        stakeholder: wallet,
        market_id: market,
        index_set: '0x7',
        amount: 10_000_000n,
        question_count: 3,
        fee,
      },
    }) as const;
  const prepared = (feeBips: number) =>
    ({
      kind: 'neg_risk_market',
      value: { ...at(1), market_id: market, oracle: addresses.negRiskAdapter, fee_bips: feeBips },
    }) as const;
  const problemsOf = (blocks: Parameters<typeof activityOfBlocks>[0]) => {
    const [activity] = activityOfBlocks(blocks);
    return { usdc: activity?.usdc, fee: activity?.fee_shares, feeUnknown: activity?.fee_unknown };
  };

  it('has the fee of its transaction, else that of the market; without either the fee is unknown', () => {
    // 3 questions, 10 sets: 2 x 10 USD, less 1% of it.
    expect(problemsOf([[conversion(100_000n)]])).toEqual({ usdc: 19_800_000n, fee: 100_000n, feeUnknown: false });
    expect(problemsOf([[prepared(100)], [conversion(null)]])).toEqual({
      usdc: 19_800_000n,
      fee: 100_000n,
      feeUnknown: false,
    });
    expect(problemsOf([[prepared(0)], [conversion(null)]])).toEqual({ usdc: 20_000_000n, fee: 0n, feeUnknown: false });
    expect(problemsOf([[conversion(null)]])).toEqual({ usdc: 20_000_000n, fee: 0n, feeUnknown: true });
  });

  it('with an unknown fee says so in its changes, and the positions are incomplete', () => {
    const splits = [0, 1, 2].map((index) => ({ index }));
    const [converted] = activityOfBlocks([[conversion(null)]]);
    if (converted === undefined) throw new Error('no activity');
    const buys = splits.map(({ index }) => ({
      ...converted,
      id: `0xb-${index}`,
      action: 'BUY' as const,
      tokens: [converted.tokens[index] as string],
      amounts: [10_000_000n],
      usdc: 7_000_000n,
      question_count: null,
      fee_unknown: false,
    }));
    const { positions, events } = accountFor([...buys, converted]);
    const changes = events.filter(({ action }) => action === 'CONVERT');
    expect(changes.map(({ problem }) => problem)).toEqual(Array(3).fill('fee of the conversion unknown'));
    // 3 x 7 USD paid, 2 x 10 USD released.
    expect(changes.reduce((sum, { realized }) => sum + realized, 0n)).toBe(-1_000_000n * 10n ** 12n);
    expect(positions.map(({ unpriced }) => unpriced)).toEqual([1, 1, 1]);
  });
});
