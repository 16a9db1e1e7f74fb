import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createAccountCommands } from '../../infra/accounts/commands.js';
import { createLedgerView } from '../../infra/accounts/ledger-view.js';
import { createAccountsReadModel } from '../../infra/accounts/read-model.js';
import { createMemoryLog } from '../../infra/log/testing.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { createMetrics } from '../../infra/telemetry/metrics.js';
import { createAccountsProcessor } from '../../processors/accounts/processor.js';
import { createUsageSettlement } from '../../processors/usage-settlement/usage-settlement.js';
import { createCodec } from '../../schemas/codec.js';
import { allTopics, topics } from '../../schemas/topics.js';
import type { AccountCommand, AccountMeter } from '../../schemas/types.gen.js';
import { startMigratedClickHouse, type TestClickHouse } from '../support/clickhouse.js';

const M = 1_000_000;
const DAY_MS = 86_400_000;
const SEPTEMBER = Date.UTC(2026, 8, 16);
const OCTOBER = Date.UTC(2026, 9, 16);
const codec = createCodec();
const logger = silentLogger();
const metrics = createMetrics({ process: 'test', defaults: false });

let engine: TestClickHouse;
beforeAll(async () => {
  engine = await startMigratedClickHouse();
});
afterAll(() => engine.stop());

/** The accounts processor and the settlement over one log; `restart` replaces the settlement. */
async function start(prefix: string) {
  const log = createMemoryLog();
  await log.ensureTopics(allTopics);
  const controller = new AbortController();
  const { signal } = controller;
  const clock = { nowMs: SEPTEMBER };
  const processing = createAccountsProcessor({ log, codec, logger, metrics }).run(signal);
  const ledger = createLedgerView();
  const accounts = createAccountsReadModel({
    log,
    codec,
    signal,
    onUnreadable: () => undefined,
    onState: ledger.apply,
  });
  await accounts.ready();
  const commands = createAccountCommands({ log, codec, now: () => clock.nowMs });
  const send = async (command: AccountCommand['command']) => {
    const outcome = await accounts.waitForOutcome(await commands.send(command), 5_000);
    expect(outcome?.code).toBe('ok');
  };
  let records = 0;
  /** A total of a process in the table. */
  const used = (account: string, meter: AccountMeter, atMs: number, quantity: number, id = `${++records}`) =>
    engine.client.insertRows('usage', [
      {
        id: `${prefix}${id}`,
        account_id: `${prefix}${account}`,
        meter,
        hour: Math.floor(atMs / 3_600_000) * 3_600,
        quantity,
        counted_at: new Date(atMs).toISOString().replace('Z', ''),
        process_id: 'p',
        _partition: 0,
        _offset: records,
      },
    ]);
  /** One pass of a settlement that has just started, and the outcomes of what it sent. */
  const pass = async () => {
    const settlement = createUsageSettlement({
      log,
      codec,
      clickhouse: engine.client,
      logger,
      metrics,
      nowMs: () => clock.nowMs,
    });
    await settlement.load(signal);
    const done = await settlement.pass(signal);
    const { next } = await log.bounds(topics.accountsCommands.name, 0);
    const deadline = performance.now() + 5_000;
    while ((await log.committed('accounts', topics.accountsCommands.name))[0]?.nextOffset !== next) {
      if (performance.now() > deadline) throw new Error('commands were not decided');
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    // The read model follows the same log.
    await send({ 'oddstream.SetPlan': { account_id: `${prefix}idle`, plan: 'starter' } });
    return done.commands;
  };
  for (const account of ['idle', 'a', 'b'])
    await send({ 'oddstream.CreateAccount': { account_id: `${prefix}${account}`, plan: 'starter', label: '' } });
  return {
    log,
    clock,
    send,
    used,
    pass,
    settlement: (account: string, meter: AccountMeter) => accounts.capacity.settlement(`${prefix}${account}`, meter),
    remaining: (account: string, meter: AccountMeter) =>
      accounts.remainingCapacity(`${prefix}${account}`, meter, clock.nowMs),
    entries: (account: string) =>
      ledger.of(`${prefix}${account}`).map(({ kind, quantity, balance }) => [kind, quantity / M, balance / M]),
    courtesy: (account: string, grant: string, quantity: number, days: number) =>
      send({
        'oddstream.GrantCourtesy': {
          account_id: `${prefix}${account}`,
          grant_id: `${prefix}${grant}`,
          meter: 'api_requests',
          quantity,
          expires_at_ms: clock.nowMs + days * DAY_MS,
          note: '',
        },
      }),
    async stop() {
      controller.abort();
      await processing;
    },
  };
}

describe('the settlement of usage', () => {
  it('runs: looks at an account when its usage in the log is in the table too', async () => {
    const log = createMemoryLog();
    await log.ensureTopics(allTopics);
    const controller = new AbortController();
    const { signal } = controller;
    // A minute, after which a calm account is looked at again, takes 60 ms.
    const startedMs = performance.now();
    const nowMs = () => SEPTEMBER + DAY_MS + Math.round((performance.now() - startedMs) * 1000);
    const processing = createAccountsProcessor({ log, codec, logger, metrics }).run(signal);
    const accounts = createAccountsReadModel({ log, codec, signal, onUnreadable: () => undefined });
    await accounts.ready();
    const commands = createAccountCommands({ log, codec, now: () => SEPTEMBER });
    const account_id = 'run-a';
    await commands.send({ 'oddstream.CreateAccount': { account_id, plan: 'starter', label: '' } });
    const hour = SEPTEMBER + DAY_MS;
    const count = async (n: number, quantity: number) => {
      const id = `run-${n}`;
      const total = {
        id,
        process_id: id,
        account_id,
        meter: 'api_requests' as const,
        quantity,
        interval_start_ms: hour,
      };
      const value = codec.encode('usage', { ...total, interval_end_ms: hour + 500 - n, key_id: '' });
      await log.append(topics.usage.name, [{ key: id, value, timestampMs: hour }]);
    };
    // One total is in the log before the start, and in the table after the first looks.
    await count(0, 6 * M);
    await vi.waitFor(() => expect(accounts.account(account_id)).toBeDefined());
    const options = { log, codec, clickhouse: engine.client, logger, metrics, nowMs, intervalMs: 50 };
    const running = createUsageSettlement(options).run(signal);
    await sleep(300);
    await count(1, 7 * M);
    /** As the sink does: the row, then its progress. */
    const sink = async (n: number, quantity: number) => {
      await engine.client.insertRows('usage', [
        {
          id: `run-${n}`,
          account_id,
          meter: 'api_requests',
          hour: hour / 1000,
          quantity,
          counted_at: new Date(hour + 500 - n).toISOString().replace('Z', ''),
          process_id: 'p',
          _partition: 0,
          _offset: n,
        },
      ]);
      const written = new Date(hour).toISOString().replace('Z', '');
      for (const partition of [0, 1, 2, 3])
        await engine.client.insertRows('sink_progress', [
          {
            sink: 'usage',
            topic: topics.usage.name,
            partition,
            next_offset: Math.max(0, (await log.bounds(topics.usage.name, partition)).next - 1 + n),
            record_key: '',
            record_time: written,
            written_at: written,
          },
        ]);
    };
    await sleep(200);
    await sink(0, 6 * M);
    await sleep(300);
    await sink(1, 7 * M);
    await vi.waitFor(() => expect(accounts.capacity.settlement(account_id, 'api_requests')?.used).toBe(13 * M), 5_000);
    controller.abort();
    await Promise.all([processing, running]);
  });

  it('runs: looks at an account at once when its limits change, however calm it was', async () => {
    const world = await start('limits-');
    const { log, clock } = world;
    // Two fifths of the allowance; the table never gets all of the log, so the account stays among the changed ones.
    await world.used('a', 'api_requests', SEPTEMBER, 4 * M);
    let looks = 0;
    const clickhouse = {
      query: ((...args: Parameters<typeof engine.client.query>) => {
        looks += 1;
        return engine.client.query(...args);
      }) as typeof engine.client.query,
    };
    const controller = new AbortController();
    const nowMs = () => clock.nowMs;
    const settlement = createUsageSettlement({ log, codec, clickhouse, logger, metrics, nowMs, intervalMs: 20 });
    const running = settlement.run(controller.signal);
    const total = { id: 'limits-never', process_id: 'p', account_id: 'limits-a', meter: 'api_requests' as const };
    const times = { interval_start_ms: SEPTEMBER, interval_end_ms: SEPTEMBER };
    await sleep(200);
    const value = codec.encode('usage', { ...total, ...times, quantity: 1, key_id: '' });
    await log.append(topics.usage.name, [{ key: total.id, value, timestampMs: SEPTEMBER }]);
    let before = -1;
    await vi.waitFor(
      async () => {
        expect(looks).toBeGreaterThan(0);
        const seen = looks;
        const isCalm = seen === before;
        before = seen;
        expect(isCalm).toBe(true);
      },
      { timeout: 10_000, interval: 200 },
    );
    const limits = {
      standard_per_minute: null,
      heavy_per_minute: null,
      event_sockets: null,
      orderbook_sockets: null,
      filter_items_per_subscription: null,
      api_keys: null,
      social_searches_per_month: null,
      api_requests_per_month: 3 * M,
      orderbook_chainlink_bytes_per_month: null,
      onchain_event_bytes_per_month: null,
    };
    await world.send({ 'oddstream.SetCustomLimits': { account_id: 'limits-a', limits } });
    await vi.waitFor(() => expect(world.settlement('a', 'api_requests')?.used).toBe(4 * M), 5_000);
    controller.abort();
    await running;
    await world.stop();
  });

  it('looks again at an account whose plan changes during a pass', async () => {
    const world = await start('during-');
    const { log, clock } = world;
    await world.used('a', 'api_requests', SEPTEMBER, 4 * M);
    const controller = new AbortController();
    let changes: Promise<void> | undefined;
    const clickhouse = {
      query: (async (...args: Parameters<typeof engine.client.query>) => {
        const rows = await engine.client.query(...args);
        changes ??= world
          .send({ 'oddstream.SetPlan': { account_id: 'during-a', plan: 'free' } })
          .then(() => sleep(100));
        await changes;
        return rows;
      }) as typeof engine.client.query,
    };
    const nowMs = () => clock.nowMs;
    const settlement = createUsageSettlement({ log, codec, clickhouse, logger, metrics, nowMs, intervalMs: 20 });
    const running = settlement.run(controller.signal);
    await vi.waitFor(() => expect(world.settlement('a', 'api_requests')?.used).toBe(4 * M), 5_000);
    controller.abort();
    await running;
    await world.stop();
  });

  it('sums the greatest total of each id in the running period of each account, and charges what is beyond the allowance', async () => {
    const world = await start('sum-');
    const { used, pass, clock } = world;
    clock.nowMs = SEPTEMBER + 5 * DAY_MS;
    await used('a', 'api_requests', SEPTEMBER - DAY_MS, 50 * M);
    await used('a', 'api_requests', SEPTEMBER + DAY_MS, 3 * M, 'x');
    await used('a', 'api_requests', SEPTEMBER + DAY_MS, 6 * M, 'x');
    await used('a', 'api_requests', clock.nowMs, 3 * M);
    await used('b', 'api_requests', clock.nowMs, 10 * M - 1);
    await used('b', 'onchain_event_bytes', clock.nowMs, 260_000 * M);
    await world.courtesy('a', 'g', 5 * M, 30);
    expect(await pass()).toBe(1);
    expect(world.settlement('b', 'onchain_event_bytes')).toMatchObject({ uncovered: 10_000 * M });
    expect(world.remaining('b', 'onchain_event_bytes')).toBe(0);
    expect(world.remaining('b', 'api_requests')).toBe(10 * M);
    // 9 million are within the allowance.
    expect(world.settlement('a', 'api_requests')).toBeUndefined();
    await used('a', 'api_requests', clock.nowMs, 4 * M);
    expect(await pass()).toBe(1);
    expect(world.entries('a')).toEqual([
      ['granted', 5, 5],
      ['used', -3, 2],
    ]);
    expect(world.remaining('a', 'api_requests')).toBe(2 * M);
    // A restart settles nothing twice; little usage waits for an hour.
    expect(await pass()).toBe(0);
    await used('a', 'api_requests', clock.nowMs, 1_000);
    expect(await pass()).toBe(0);
    clock.nowMs += 3_600_000;
    expect(await pass()).toBe(1);
    expect(world.entries('a').at(-1)).toEqual(['used', -0.001, 1.999]);
    await world.stop();
  });

  it('charges late totals of the ended period, expires grants, and covers earlier usage with a new grant', async () => {
    const world = await start('late-');
    const { used, pass, clock } = world;
    await world.courtesy('a', 'g', 5 * M, 40);
    clock.nowMs = OCTOBER + 3_600_000;
    await used('a', 'api_requests', OCTOBER - 1, 12 * M);
    await used('a', 'api_requests', OCTOBER, 1);
    expect(await pass()).toBe(1);
    expect(world.entries('a')).toEqual([
      ['granted', 5, 5],
      ['used', -2, 3],
    ]);
    clock.nowMs = SEPTEMBER + 40 * DAY_MS;
    expect(await pass()).toBe(1);
    expect(world.entries('a').at(-1)).toEqual(['expired', -3, 0]);
    await used('a', 'api_requests', clock.nowMs, 13 * M);
    expect(await pass()).toBe(1);
    expect(world.settlement('a', 'api_requests')).toMatchObject({ period_start_ms: OCTOBER, uncovered: 3 * M + 1 });
    await world.courtesy('a', 'h', 10 * M, 5);
    expect(await pass()).toBe(1);
    expect(world.settlement('a', 'api_requests')).toMatchObject({ charged: 3 * M + 1, uncovered: 0 });
    expect(await pass()).toBe(0);
    await world.stop();
  });

  it('charges usage before the expiry of a package to it after an outage over the expiry, and later usage to the next one', async () => {
    const world = await start('outage-');
    const { used, pass, clock } = world;
    await world.courtesy('a', 'first', 5 * M, 10);
    await world.courtesy('a', 'second', 5 * M, 20);
    // 3 beyond the allowance of 10 before the expiry, 1 more after it.
    await used('a', 'api_requests', SEPTEMBER + 9 * DAY_MS, 13 * M);
    await used('a', 'api_requests', SEPTEMBER + 12 * DAY_MS, M);
    clock.nowMs = SEPTEMBER + 15 * DAY_MS;
    expect(await pass()).toBe(2);
    expect(world.entries('a')).toEqual([
      ['granted', 5, 5],
      ['granted', 5, 10],
      ['used', -3, 7],
      ['expired', -2, 5],
      ['used', -1, 4],
    ]);
    expect(world.settlement('a', 'api_requests')).toMatchObject({ used: 14 * M, charged: 4 * M, uncovered: 0 });
    expect(await pass()).toBe(0);
    await world.stop();
  });
});
