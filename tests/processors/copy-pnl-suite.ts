import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createPoolDirectory } from '../../api/copy-pnl/pool-directory.js';
import { createAccountCommands } from '../../infra/accounts/commands.js';
import { createAccountsReadModel } from '../../infra/accounts/read-model.js';
import type { Log } from '../../infra/log/port.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { createMetrics } from '../../infra/telemetry/metrics.js';
import { createOnUnreadable } from '../../infra/telemetry/unreadable-records.js';
import { createAccountsProcessor } from '../../processors/accounts/processor.js';
import { scoringFailureOf } from '../../processors/copy-pnl/scoring-failure.js';
import { createCopyPnlTask } from '../../processors/copy-pnl/task.js';
import { walletActivitySink } from '../../processors/wallet-activity/sink.js';
import { createCodec } from '../../schemas/codec.js';
import { copyPeriods } from '../../schemas/copy-pnl/period-scores.sql.js';
import { allTopics, topics } from '../../schemas/topics.js';
import { startMigratedClickHouse, type TestClickHouse } from '../support/clickhouse.js';
import { activityOf, insertRecords } from '../support/positions.js';
import { address } from '../support/rows.js';

const codec = createCodec();
const logger = silentLogger();
const NOW_MS = Date.UTC(2027, 4, 22, 12);
const DAY_MS = 86_400_000;
/** For a busy machine. */
const SOON = { timeout: 60_000 };
const usd = (dollars: number) => BigInt(Math.round(dollars * 1e6));

/** Pools and their scores, over real logs and the real engine. `openLog`: a new, empty log. */
export function describeCopyPnl(
  engineName: string,
  openLog: () => Promise<{ log: Log; close(): Promise<void> }>,
): void {
  let engine: TestClickHouse;
  beforeAll(async () => {
    engine = await startMigratedClickHouse();
  });
  afterAll(() => engine.stop());

  const stops: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const stop of stops.splice(0).reverse()) await stop();
    for (const table of ['copy_scores', 'copy_score_errors', 'copy_cycles', 'wallet_activity', 'sink_progress'])
      await engine.client.command(`TRUNCATE TABLE ${table}`);
  });

  /** A log with the accounts processor, and a paid key `k1` of account `acme` besides `k2` of `other`. */
  async function setUp() {
    const { log, close } = await openLog();
    stops.push(close);
    await log.ensureTopics(allTopics);
    const controller = new AbortController();
    const { signal } = controller;
    const metrics = createMetrics({ process: 'test', defaults: false });
    const onUnreadable = createOnUnreadable({ metrics, logger });
    const processing = createAccountsProcessor({ log, codec, logger, metrics }).run(signal);
    stops.push(async () => {
      controller.abort();
      await processing;
    });
    const commands = createAccountCommands({ log, codec, now: () => NOW_MS });
    /** One API instance. */
    const instance = () => {
      const pools = createPoolDirectory();
      const accounts = createAccountsReadModel({ log, codec, signal, onUnreadable, onState: pools.apply });
      return { pools, accounts };
    };
    const first = instance();
    const send = async (command: Parameters<typeof commands.send>[0]) => {
      const outcome = await first.accounts.waitForOutcome(await commands.send(command), 10_000);
      expect(outcome?.code).toBe('ok');
    };
    for (const [account_id, key_hash] of [
      ['acme', 'k1'],
      ['other', 'k2'],
    ] as const) {
      await send({ 'oddstream.CreateAccount': { account_id, plan: 'growth', label: '' } });
      await send({ 'oddstream.CreateKey': { account_id, key_hash, key_prefix: 'p', name: 'n' } });
    }
    const accountOf = { k1: 'acme', k2: 'other' } as const;
    const change = (key_hash: 'k1' | 'k2', addresses: readonly string[]) => ({
      account_id: accountOf[key_hash],
      key_hash,
      addresses,
    });
    return {
      log,
      first,
      instance,
      add: (key: 'k1' | 'k2', wallets: readonly string[]) => send({ 'oddstream.AddPoolWallets': change(key, wallets) }),
      remove: (key: 'k1' | 'k2', wallets: readonly string[]) =>
        send({ 'oddstream.RemovePoolWallets': change(key, wallets) }),
      revoke: (key_hash: 'k1' | 'k2') => send({ 'oddstream.RevokeKey': { account_id: accountOf[key_hash], key_hash } }),
    };
  }

  const clock = { nowMs: NOW_MS };
  /** Runs the task; `scorings` counts its scoring statements. */
  function runTask(log: Log, options: { chunkSize?: number; cycleIntervalMs?: number } = {}) {
    const counts = { scorings: 0 };
    const { client } = engine;
    const task = createCopyPnlTask({
      log,
      codec,
      clickhouse: {
        query: client.query,
        insertRows: client.insertRows,
        command: async (sql, params, settings) => {
          if (sql.includes('copy_scores')) counts.scorings += 1;
          await client.command(sql, params, settings);
        },
      },
      logger,
      metrics: createMetrics({ process: 'test', defaults: false }),
      nowMs: () => clock.nowMs,
      ...options,
    });
    const controller = new AbortController();
    const running = task.run(controller.signal);
    const stop = async () => {
      controller.abort();
      await running;
    };
    stops.push(stop);
    return { counts, stop };
  }

  const reportChain = (log: Log, progress: number) =>
    log.append(topics.sources.name, [
      {
        key: 'chain',
        timestampMs: NOW_MS,
        value: codec.encode('source_status', {
          source: 'chain',
          mode: 'recorded',
          connected: true,
          detail: '',
          head: null,
          finalized: null,
          last_event_ms: null,
          updated_at_ms: NOW_MS,
          shift_days: null,
          recorded_from_ms: null,
          phase: 'history',
          progress,
          pending: null,
          metadata: null,
          order_books: null,
          read_until_ms: null,
          rereading: null,
          connected_changed_ms: null,
          reread: null,
          gap: null,
        }),
      },
    ]);

  /** As ingest does while it runs. */
  const keepReporting = (log: Log) => {
    const reports = setInterval(() => void reportChain(log, 1), 500);
    stops.push(async () => clearInterval(reports));
  };

  const scoresOf = async (wallet: string) =>
    Object.fromEntries(
      (
        await engine.client.query<{
          period: string;
          actual: string;
          slippage: string;
          trade_count: number;
          at: string;
        }>(
          `SELECT period, actual, slippage, trade_count, toString(toUnixTimestamp64Milli(computed_at)) AS at
          FROM copy_scores FINAL WHERE wallet = {wallet:String}`,
          { wallet },
        )
      ).map((row) => [row.period, [row.actual, row.slippage, row.trade_count, Number(row.at) - NOW_MS] as const]),
    );

  const insertActivity = (
    rows: readonly (Omit<Parameters<typeof activityOf>[0], 'block_number'> & { readonly ageMs: number })[],
  ) =>
    insertRecords(
      engine.client,
      walletActivitySink,
      rows.map(({ ageMs, ...row }, index) => ({
        kind: 'wallet_activity',
        value: { ...activityOf({ block_number: index, ...row }), timestamp_ms: NOW_MS - ageMs },
      })),
    );

  describe(`pools on ${engineName}`, () => {
    it('are the same in every API instance, also in a later one, and are removed with their key', async () => {
      const { first, instance, add, remove, revoke } = await setUp();
      const second = instance();
      await add('k1', ['0xb', '0xa']);
      // The instance that sent the command has the pool when it has the outcome.
      expect(first.pools.walletsOf('k1')).toEqual(['0xa', '0xb']);
      await expect.poll(() => second.pools.walletsOf('k1'), SOON).toEqual(['0xa', '0xb']);
      await add('k2', ['0xc']);
      await remove('k1', ['0xb', '0xz']);
      const late = instance();
      await late.accounts.ready();
      for (const { pools } of [first, late])
        expect([pools.walletsOf('k1'), pools.walletsOf('k2')]).toEqual([['0xa'], ['0xc']]);
      await revoke('k1');
      expect(first.pools.walletsOf('k1')).toEqual([]);
      await expect.poll(() => second.pools.walletsOf('k1'), SOON).toEqual([]);
      expect(first.pools.walletsOf('k2')).toEqual(['0xc']);
    });
  });

  describe(`the copy-pnl task on ${engineName}`, () => {
    const [alice, bob, carol] = [address(0xa1), address(0xb0), address(0xc1)];

    it('scores a pool from the tables once the whole history is in them', async () => {
      const { log, add } = await setUp();
      clock.nowMs = NOW_MS - 60_000;
      await insertActivity([
        // 40 shares at 0.60: 24.00, slippage 0.48. 10 shares at 0.99: 9.90, 2 % would be 0.198 and is capped at 0.10.
        { wallet: alice, action: 'BUY', tokens: ['71'], amounts: [usd(40)], usdc: usd(24), ageMs: 20 * DAY_MS },
        { wallet: alice, action: 'BUY', tokens: ['71'], amounts: [usd(10)], usdc: usd(9.9), ageMs: 10 * DAY_MS },
        { wallet: alice, action: 'SELL', tokens: ['71'], amounts: [usd(20)], usdc: usd(50), ageMs: DAY_MS },
        { wallet: alice, action: 'REDEEM', tokens: ['71'], amounts: null, usdc: usd(30), ageMs: DAY_MS },
        {
          wallet: bob,
          action: 'SPLIT',
          tokens: ['71', '72'],
          amounts: [usd(5), usd(5)],
          usdc: usd(5),
          ageMs: 80 * DAY_MS,
        },
      ]);
      // What the sinks write last: the history ends with record 7 of partition 3.
      const activity = { key: 'x', value: Buffer.from('x'), timestampMs: NOW_MS, partition: 3 };
      await log.append(topics.walletActivity.name, Array(7).fill(activity));
      await log.append(topics.chainFinal.name, Array(4).fill({ ...activity, partition: 0 }));
      await add('k1', [bob, alice]);
      await add('k2', [alice, carol]);
      const { counts } = runTask(log);
      const progress = (next_offset: number) =>
        engine.client.insertRows('sink_progress', [
          { sink: 'wallet_activity', topic: topics.walletActivity.name, partition: 3, next_offset },
        ]);
      const read = (nextOffset: number) =>
        log.commit('activity', [{ topic: topics.chainFinal.name, partition: 0, nextOffset }]);
      // Each state lasts for some polls; a score of one of them would have its time.
      const states: (() => Promise<unknown>)[] = [
        () => reportChain(log, 0.9),
        () => reportChain(log, 1),
        () => read(3),
        () => read(4),
        () => progress(6),
      ];
      for (const state of states) {
        await state();
        await new Promise((resolve) => setTimeout(resolve, 700));
      }
      expect(counts.scorings).toBe(0);
      clock.nowMs = NOW_MS;
      await progress(7);
      await expect.poll(() => scoresOf(carol), SOON).not.toEqual({});

      // 30d: 50 - 24 - 9.90 + 30 = 46.10; slippage 0.48 + 0.10 + 2 % of 50 = 1.58. Hundredths of base units have 8 decimals.
      const long = ['46100000', '158000000', 3, 0];
      expect(await scoresOf(alice)).toEqual({
        '7d': ['80000000', '100000000', 1, 0],
        '14d': ['70100000', '110000000', 2, 0],
        '30d': long,
        '60d': long,
        '90d': long,
        '180d': long,
      });
      const zero = ['0', '0', 0, 0];
      expect(await scoresOf(bob)).toEqual({
        '7d': zero,
        '14d': zero,
        '30d': zero,
        '60d': zero,
        '90d': ['-5000000', '0', 0, 0],
        '180d': ['-5000000', '0', 0, 0],
      });
      expect(await scoresOf(carol)).toEqual(Object.fromEntries(copyPeriods.map((period) => [period, zero])));
      // Three wallets of two pools in one statement.
      await expect
        .poll(() => engine.client.query('SELECT 1 FROM copy_cycles WHERE completed_at > started_at - 1'), SOON)
        .toHaveLength(1);
      expect(counts.scorings).toBe(1);
    });

    it('scores added wallets in chunks, all wallets again in the next cycle, and keeps the scores of removed wallets', async () => {
      const { log, add, remove } = await setUp();
      clock.nowMs = NOW_MS;
      await reportChain(log, 1);
      const wallets = Array.from({ length: 120 }, (_, n) => address(1_000 + n));
      const { counts, stop } = runTask(log);
      await add('k1', wallets.slice(0, 119));
      // The report of an earlier run of ingest says nothing of the history since.
      await new Promise((resolve) => setTimeout(resolve, 1_500));
      expect(counts.scorings).toBe(0);
      keepReporting(log);
      const scoredAt = async () =>
        (
          await engine.client.query<{ at: string; wallets: string; rows: string }>(
            `SELECT toString(toUnixTimestamp64Milli(computed_at) - {now:Int64}) AS at, toString(uniqExact(wallet)) AS wallets, toString(count()) AS rows
            FROM copy_scores FINAL GROUP BY at ORDER BY toInt64(at)`,
            { now: NOW_MS },
          )
        ).map(({ at, wallets: count, rows }) => [Number(at), Number(count), Number(rows)]);
      const completed = () =>
        engine.client
          .query('SELECT 1 FROM copy_cycles FINAL WHERE completed_at > toDateTime(0)')
          .then((rows) => rows.length);
      await expect.poll(scoredAt, SOON).toEqual([[0, 119, 714]]);
      await expect.poll(completed, SOON).toBe(1);
      expect(counts.scorings).toBe(3);
      clock.nowMs = NOW_MS + 1_000;
      await add('k2', wallets);
      await expect.poll(scoredAt, SOON).toEqual([
        [0, 119, 714],
        [1_000, 1, 6],
      ]);
      expect(counts.scorings).toBe(4);
      await remove('k2', wallets.slice(100));
      await remove('k1', wallets.slice(110));
      await stop();
      // A day later another process runs the next cycle: 110 wallets in three statements. The others keep their scores.
      clock.nowMs = NOW_MS + DAY_MS;
      const next = runTask(log);
      await expect.poll(completed, SOON).toBe(2);
      expect(await scoredAt()).toEqual([
        [0, 9, 54],
        [1_000, 1, 6],
        [DAY_MS, 110, 660],
      ]);
      expect(next.counts.scorings).toBe(3);
    });

    it('distinguishes a statement over its time or memory limit from an unreachable engine', async () => {
      const failureOf = async (sql: string, settings: Record<string, string | number>, budgetMs: number) => {
        const error = await engine.client.command(sql, {}, { settings }).catch((reason: unknown) => reason);
        expect(error).toBeInstanceOf(Error);
        return scoringFailureOf(error, budgetMs);
      };
      const slow = 'SELECT sleepEachRow(0.02) FROM numbers(1000) SETTINGS max_block_size = 1 FORMAT Null';
      expect(await failureOf(slow, { max_execution_time: 0.1 }, 100)).toBe('timeout_0.1s');
      const large = 'SELECT length(groupArray(number)) FROM numbers(10000000) FORMAT Null';
      expect(await failureOf(large, { max_memory_usage: '10000000' }, 100)).toBe('memory_limit');
      expect(await failureOf('SELECT throwIf(1) FORMAT Null', {}, 100)).toBe('scoring_failed');
      expect(await failureOf('SELECT 1 FROM no_such_table FORMAT Null', {}, 100)).toBeNull();
    });
  });
}
