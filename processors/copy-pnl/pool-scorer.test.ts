import { ClickHouseError } from '@clickhouse/client';
import { describe, expect, it } from 'vitest';
import { RetryableError } from '../../infra/errors.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { createMetrics } from '../../infra/telemetry/metrics.js';
import { MAX_LEAD_MS } from '../future-rows.js';
import { createPoolScorer } from './pool-scorer.js';
import type { Cycle, ScoreStore } from './score-store.js';
import { createTrackedWallets } from './tracked-wallets.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const START_MS = Date.UTC(2027, 4, 22);

const rejected = (code: string, message = 'rejected') => new ClickHouseError({ message, code, type: 'X' });
const timeout = () => new RetryableError('slow', { cause: rejected('159') });
const unreachable = () => new RetryableError('no connection');

/** Tables of their own, shared by the processes of a test; statements take no time. */
function createTables() {
  return {
    scores: new Map<string, number>(),
    failures: new Map<string, { error: string; atMs: number }>(),
    cycles: new Map<number, number | null>(),
    /** Each scoring statement: wallets and limit. */
    statements: [] as { wallets: readonly string[]; budgetMs: number; atMs: number }[],
  };
}

type Tables = ReturnType<typeof createTables>;

/** A process over the tables and a clock that only waiting moves on. */
function createProcess(options: {
  tables: Tables;
  clock: { nowMs: number };
  pools: Readonly<Record<string, readonly string[]>>;
  /** Thrown instead of scoring. */
  fail?: (wallets: readonly string[], statement: number) => Error | null;
  /** Called for each wait; the process ends when it returns false. */
  onPause?: (ms: number, pauses: number) => boolean;
  chunkSize?: number;
}) {
  const { tables, clock } = options;
  const stop = new AbortController();
  const tracked = createTrackedWallets();
  const track = (key: string, wallets: readonly string[]) =>
    tracked.apply(`pool:${key}`, { 'oddstream.Pool': { key_hash: key, account_id: 'a', wallets } });
  for (const [key, wallets] of Object.entries(options.pools)) track(key, wallets);
  const store: ScoreStore = {
    async score(wallets, atMs, { budgetMs }) {
      const error = options.fail?.(wallets, tables.statements.length) ?? null;
      tables.statements.push({ wallets, budgetMs, atMs });
      if (error !== null) throw error;
      // The newest scores replace others, whatever order they are written in.
      for (const wallet of wallets) tables.scores.set(wallet, Math.max(atMs, tables.scores.get(wallet) ?? 0));
    },
    doneSince: async (wallets, sinceMs, orFailed) =>
      new Set(
        wallets.filter(
          (wallet) =>
            (tables.scores.get(wallet) ?? Number.NEGATIVE_INFINITY) >= sinceMs ||
            (orFailed && (tables.failures.get(wallet)?.atMs ?? Number.NEGATIVE_INFINITY) >= sinceMs),
        ),
      ),
    async recordFailure(wallet, error, atMs) {
      tables.failures.set(wallet, { error, atMs });
    },
    async newestCycle() {
      const startedMs = Math.max(...tables.cycles.keys());
      const completedMs = tables.cycles.get(startedMs);
      return completedMs === undefined ? null : { startedMs, completedMs };
    },
    async writeCycle({ startedMs, completedMs }: Cycle) {
      tables.cycles.set(startedMs, completedMs);
    },
    async deleteFuture(nowMs) {
      const isFuture = (timeMs: number) => timeMs > nowMs + MAX_LEAD_MS;
      for (const [wallet, atMs] of tables.scores) if (isFuture(atMs)) tables.scores.delete(wallet);
      for (const [wallet, { atMs }] of tables.failures) if (isFuture(atMs)) tables.failures.delete(wallet);
      for (const startedMs of tables.cycles.keys()) if (isFuture(startedMs)) tables.cycles.delete(startedMs);
    },
  };
  const pauses: number[] = [];
  const scorer = createPoolScorer({
    store,
    tracked,
    logger: silentLogger(),
    metrics: createMetrics({ process: 'test', defaults: false }),
    nowMs: () => clock.nowMs,
    chunkSize: options.chunkSize ?? 2,
    async pause(ms) {
      pauses.push(ms);
      clock.nowMs += ms;
      if (options.onPause?.(ms, pauses.length) !== true) stop.abort();
    },
  });
  return {
    pauses,
    stop,
    run: () => scorer.run(stop.signal),
    /** A POST: the wallets of the key are these from now on. */
    setPool: (key: string, wallets: readonly string[]) => scorer.added(track(key, wallets)),
  };
}

const walletsOf = (tables: Tables) => tables.statements.map(({ wallets }) => wallets.join(' '));

describe('createPoolScorer', () => {
  it('scores each wallet of all pools once in chunks, then once a day', async () => {
    const [tables, clock] = [createTables(), { nowMs: START_MS }];
    const process = createProcess({
      tables,
      clock,
      pools: { k1: ['a', 'b', 'c'], k2: ['b', 'd', 'e'] },
      onPause: (_ms, pauses) => pauses < 2,
    });
    await process.run();
    expect(walletsOf(tables)).toEqual(['a b', 'c d', 'e', 'a b', 'c d', 'e']);
    expect(process.pauses).toEqual([DAY_MS, DAY_MS]);
    expect([...tables.cycles]).toEqual([
      [START_MS, START_MS],
      [START_MS + DAY_MS, START_MS + DAY_MS],
    ]);
  });

  it('scores wallets that are added while it waits, before a day is over, and does not repeat recent scores', async () => {
    const [tables, clock] = [createTables(), { nowMs: START_MS }];
    const process = createProcess({
      tables,
      clock,
      pools: {},
      onPause: (ms, pauses) => {
        // Without wallets there is no cycle to wait for. Each step here is 3 hours after the last pause began.
        clock.nowMs += 3 * HOUR_MS - ms;
        if (pauses === 1) process.setPool('k1', ['a']);
        if (pauses === 2) process.setPool('k1', ['a', 'b', 'c', 'd']);
        if (pauses === 3) process.setPool('k1', ['b']);
        // 'a' was scored 9 hours ago and comes back.
        if (pauses === 4) process.setPool('k1', ['a', 'b', 'e']);
        return pauses < 5;
      },
    });
    await process.run();
    expect(walletsOf(tables)).toEqual(['a', 'b c', 'd', 'e']);
    // The cycle began before the first wallet was scored and counts its scores.
    expect([...tables.cycles]).toEqual([[START_MS + 3 * HOUR_MS, START_MS + 3 * HOUR_MS]]);
  });

  it('drops wallets that leave all pools before they are scored', async () => {
    const [tables, clock] = [createTables(), { nowMs: START_MS }];
    const process = createProcess({
      tables,
      clock,
      pools: { k1: ['a', 'b', 'c', 'd'] },
      fail: (_wallets, statement) => {
        if (statement === 0) process.setPool('k1', ['a', 'd']);
        return null;
      },
    });
    await process.run();
    expect(walletsOf(tables)).toEqual(['a b', 'd']);
  });

  it('continues the cycle of a process that was killed and scores nothing twice', async () => {
    const [tables, clock] = [createTables(), { nowMs: START_MS }];
    const pools = { k1: ['a', 'b', 'c', 'd', 'e'] };
    await createProcess({ tables, clock, pools }).run();
    expect(walletsOf(tables)).toEqual(['a b', 'c d', 'e']);
    // A day later a process is killed inside its second statement, and the next one before its last.
    for (const survived of [1, 1]) {
      const before = tables.statements.length;
      const killed = createProcess({
        tables,
        clock,
        pools,
        fail: (_wallets, statement) => {
          if (statement - before < survived) return null;
          killed.stop.abort();
          return new Error('killed');
        },
        onPause: () => true,
      });
      await killed.run();
    }
    expect(tables.cycles.get(START_MS + DAY_MS)).toBeNull();
    clock.nowMs += HOUR_MS;
    const last = createProcess({ tables, clock, pools });
    await last.run();
    expect(walletsOf(tables).slice(3)).toEqual(['a b', 'c d', 'c d', 'e', 'e']);
    expect([...tables.scores]).toEqual([
      ['a', START_MS + DAY_MS],
      ['b', START_MS + DAY_MS],
      ['c', START_MS + DAY_MS],
      ['d', START_MS + DAY_MS],
      ['e', START_MS + DAY_MS + HOUR_MS],
    ]);
    expect([...tables.cycles].at(-1)).toEqual([START_MS + DAY_MS, START_MS + DAY_MS + HOUR_MS]);
    // The next cycle is due a day after the start of this one.
    expect(last.pauses).toEqual([DAY_MS - HOUR_MS]);
  });

  it('scores a new wallet of a process that was killed before it could', async () => {
    const [tables, clock] = [createTables(), { nowMs: START_MS }];
    await createProcess({ tables, clock, pools: { k1: ['a'] } }).run();
    clock.nowMs -= 20 * HOUR_MS;
    await createProcess({ tables, clock, pools: { k1: ['a', 'b'] } }).run();
    expect(walletsOf(tables)).toEqual(['a', 'b']);
  });

  it('scores the wallets of a failed chunk one by one after the others, and records the failure of one in addition to its old scores', async () => {
    const [tables, clock] = [createTables(), { nowMs: START_MS }];
    const pools = { k1: ['a', 'b', 'c', 'd'] };
    tables.scores.set('b', START_MS - 40 * HOUR_MS);
    let broken = true;
    const process = createProcess({
      tables,
      clock,
      pools,
      fail: (wallets) => (broken && wallets.includes('b') ? timeout() : null),
      onPause: (_ms, pauses) => {
        broken = pauses < 2;
        return pauses < 3;
      },
    });
    await process.run();
    expect(tables.statements.map(({ wallets, budgetMs }) => [wallets.join(' '), budgetMs])).toEqual([
      // 'b' has scores already: the others are new.
      ['a c', 20_000],
      ['d', 20_000],
      // Then the cycle.
      ['b', 20_000],
      ['b', 180_000],
      // The second cycle: 'a' does not suffer.
      ['a b', 20_000],
      ['c d', 20_000],
      ['a', 180_000],
      ['b', 180_000],
      // The third, in which nothing fails.
      ['a b', 20_000],
      ['c d', 20_000],
    ]);
    expect([...tables.failures]).toEqual([['b', { error: 'timeout_180s', atMs: START_MS + DAY_MS }]]);
    expect(tables.scores.get('b')).toBe(START_MS + 2 * DAY_MS);
  });

  it.each([
    [timeout(), 'timeout_180s'],
    [new RetryableError('x', { cause: rejected('241', 'Query memory limit exceeded') }), 'memory_limit'],
    [rejected('407'), 'scoring_failed'],
  ])('records %s as %s', async (error, text) => {
    const [tables, clock] = [createTables(), { nowMs: START_MS }];
    await createProcess({ tables, clock, pools: { k1: ['a'] }, fail: () => error }).run();
    expect(tables.failures.get('a')).toEqual({ error: text, atMs: START_MS });
    // A failed wallet waits for the next cycle, also after a restart.
    expect(tables.statements).toHaveLength(2);
    clock.nowMs = START_MS + HOUR_MS;
    await createProcess({ tables, clock, pools: { k1: ['a'] } }).run();
    expect(tables.statements).toHaveLength(2);
    // One that is added again is tried at once.
    const again = createProcess({
      tables,
      clock: { nowMs: START_MS + 2 * HOUR_MS },
      pools: { k1: ['a'] },
      onPause: (_ms, pauses) => {
        again.setPool('k1', []);
        again.setPool('k1', ['a']);
        return pauses < 2;
      },
    });
    await again.run();
    expect(tables.scores.has('a')).toBe(true);
  });

  it.each([
    ['no connection', unreachable()],
    ['a full engine', new RetryableError('x', { cause: rejected('241', '(total) memory limit exceeded') })],
    ['too many queries', new RetryableError('x', { cause: rejected('202') })],
    ['no table', rejected('60')],
  ])('waits and repeats while there is %s, without an error of the wallet', async (_name, error) => {
    const [tables, clock] = [createTables(), { nowMs: START_MS }];
    const process = createProcess({
      tables,
      clock,
      pools: { k1: ['a', 'b', 'c'] },
      fail: (_wallets, statement) => (statement > 0 && statement < 8 ? error : null),
      onPause: (ms) => ms < DAY_MS - HOUR_MS,
    });
    await process.run();
    expect(process.pauses.slice(0, 7)).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
    expect(walletsOf(tables)).toEqual(['a b', ...Array.from({ length: 8 }, () => 'c')]);
    expect(tables.failures.size).toBe(0);
    expect([...tables.scores.keys()]).toEqual(['a', 'b', 'c']);
  });

  it('scores all wallets again once a clock that ran ahead is right, then once a day', async () => {
    const [tables, clock] = [createTables(), { nowMs: START_MS + 5 * DAY_MS }];
    const process = createProcess({
      tables,
      clock,
      pools: { k1: ['a', 'b'] },
      onPause: (ms, pauses) => {
        if (pauses === 1) clock.nowMs = START_MS;
        else expect(ms).toBe(DAY_MS);
        return pauses < 3;
      },
    });
    await process.run();
    expect(tables.statements.map(({ atMs }) => atMs - START_MS)).toEqual([5 * DAY_MS, 0, DAY_MS]);
    expect([...tables.cycles.keys()]).toEqual([START_MS, START_MS + DAY_MS]);
    expect(tables.scores.get('a')).toBe(START_MS + DAY_MS);
  });

  it('replaces a cycle that a killed process had started on a clock that ran ahead', async () => {
    const [tables, clock] = [createTables(), { nowMs: START_MS + 5 * DAY_MS }];
    const pools = { k1: ['a', 'b', 'c', 'd'] };
    const killed = createProcess({
      tables,
      clock,
      pools,
      fail: (_wallets, statement) => {
        if (statement === 0) return null;
        killed.stop.abort();
        return new Error('killed');
      },
    });
    await killed.run();
    clock.nowMs = START_MS;
    await createProcess({ tables, clock, pools }).run();
    // 'c' and 'd' have no scores yet: they are scored first.
    expect(walletsOf(tables)).toEqual(['a b', 'c d', 'c d', 'a b']);
    expect([...tables.cycles]).toEqual([[START_MS, START_MS]]);
    expect([...new Set(tables.scores.values())]).toEqual([START_MS]);
  });

  it('ends with an error that is not of ClickHouse', async () => {
    const [tables, clock] = [createTables(), { nowMs: START_MS }];
    const bug = new TypeError('bug');
    const process = createProcess({ tables, clock, pools: { k1: ['a'] }, fail: () => bug });
    await expect(process.run()).rejects.toBe(bug);
  });
});
