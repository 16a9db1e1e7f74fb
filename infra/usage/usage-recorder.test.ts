import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createCodec } from '../../schemas/codec.js';
import type { Meter, Usage } from '../../schemas/types.gen.js';
import type { NewRecord } from '../log/port.js';
import { silentLogger } from '../telemetry/logger.js';
import { createMetrics } from '../telemetry/metrics.js';
import { createUsageRecorder } from './usage-recorder.js';

const codec = createCodec();
const HOUR_MS = 3_600_000;
const START_MS = Date.UTC(2026, 7, 31, 22, 15);

type AppendOutcome = 'appended' | 'rejected' | 'appended, response lost';

/** A log with a scripted outcome of each append. */
function fakeLog() {
  const appended: NewRecord[] = [];
  const state = { outcome: 'appended' as AppendOutcome };
  return {
    appended,
    state,
    append: async (_topic: string, records: readonly NewRecord[]) => {
      if (state.outcome !== 'rejected') appended.push(...records);
      if (state.outcome !== 'appended') throw new Error('unreachable');
      return [];
    },
  };
}

function usageOf(record: NewRecord): Usage {
  const event = codec.decode(record.value as Buffer);
  if (event.kind !== 'usage') throw new Error(event.kind);
  return event.value;
}

/** Usage as the table computes it: the sum of the greatest quantity per id. */
function summedQuantities(records: readonly NewRecord[], by: (usage: Usage) => string): Record<string, number> {
  const greatest = new Map<string, Usage>();
  for (const usage of records.map(usageOf)) {
    if ((greatest.get(usage.id)?.quantity ?? 0) <= usage.quantity) greatest.set(usage.id, usage);
  }
  const sums: Record<string, number> = {};
  for (const usage of greatest.values()) sums[by(usage)] = (sums[by(usage)] ?? 0) + usage.quantity;
  return sums;
}

function recorder(log: ReturnType<typeof fakeLog>, clock: { ms: number }, processId = 'p1') {
  const metrics = createMetrics({ process: 'test', defaults: false });
  const usage = createUsageRecorder({
    log,
    codec,
    logger: silentLogger(),
    metrics,
    processId,
    nowMs: () => clock.ms,
    tickMs: 0,
  });
  return { usage, metrics };
}

/** A key of an account; its hash is `account`, `key` and zeros. */
const keyOf = (account: string, key = '1') => ({ accountId: account, keyHash: `${account}${key}`.padEnd(64, '0') });

describe('usage recorder', () => {
  it('appends one growing total per hour, account and meter', async () => {
    const log = fakeLog();
    const clock = { ms: START_MS };
    const { usage } = recorder(log, clock);
    usage.add(keyOf('a'), 'onchain_event_bytes', 100);
    usage.add(keyOf('a'), 'onchain_event_bytes', 20);
    usage.add(keyOf('a'), 'api_requests', 1);
    expect(await usage.flush()).toBe(true);
    usage.add(keyOf('a'), 'onchain_event_bytes', 3);
    clock.ms += 1000;
    expect(await usage.flush()).toBe(true);
    expect(await usage.flush()).toBe(true);
    expect(log.appended.map(usageOf).map(({ id, quantity }) => [id, quantity])).toEqual([
      ['p1-496726-a-onchain_event_bytes-a100000000000000', 120],
      ['p1-496726-a-api_requests-a100000000000000', 1],
      ['p1-496726-a-onchain_event_bytes-a100000000000000', 123],
    ]);
    expect(usageOf(log.appended[2] as NewRecord)).toMatchObject({
      process_id: 'p1',
      account_id: 'a',
      key_id: 'a100000000000000',
      interval_start_ms: Date.UTC(2026, 7, 31, 22),
      interval_end_ms: START_MS + 1000,
    });
  });

  it('retains totals while the log is unavailable, and starts new totals each hour', async () => {
    const log = fakeLog();
    const clock = { ms: Date.UTC(2026, 7, 31, 23, 59, 59) };
    const { usage, metrics } = recorder(log, clock);
    log.state.outcome = 'rejected';
    usage.add(keyOf('a'), 'onchain_event_bytes', 10);
    expect(await usage.flush()).toBe(false);
    clock.ms += 1000;
    expect(await usage.flush()).toBe(false);
    usage.add(keyOf('a'), 'onchain_event_bytes', 7);
    expect(await metrics.registry.metrics()).toContain('oddstream_usage_records_pending{process="test"} 1');
    log.state.outcome = 'appended';
    expect(await usage.flush()).toBe(true);
    expect(summedQuantities(log.appended, (one) => new Date(one.interval_start_ms).toISOString())).toEqual({
      '2026-08-31T23:00:00.000Z': 10,
      '2026-09-01T00:00:00.000Z': 7,
    });
    expect(await metrics.registry.metrics()).toContain('oddstream_usage_records_pending{process="test"} 0');
  });

  it('counts in the hours of the clock after it ran ahead, was set back, and passes an hour again', async () => {
    const log = fakeLog();
    const clock = { ms: START_MS };
    const { usage } = recorder(log, clock);
    const count = async (atMs: number, quantity: number) => {
      clock.ms = atMs;
      await usage.flush();
      usage.add(keyOf('a'), 'api_requests', quantity);
      expect(await usage.flush()).toBe(true);
    };
    await count(START_MS, 10);
    await count(START_MS + 5 * 24 * HOUR_MS, 1);
    await count(START_MS, 3);
    await count(START_MS + 1_000, 4);
    expect(summedQuantities(log.appended, (one) => `${(one.interval_start_ms - START_MS) / HOUR_MS}`)).toEqual({
      '-0.25': 17,
      '119.75': 1,
    });
  });

  it('appends the remaining totals when it is closed', async () => {
    const log = fakeLog();
    const { usage } = recorder(log, { ms: START_MS });
    log.state.outcome = 'appended, response lost';
    usage.add(keyOf('a'), 'api_requests', 2);
    await usage.flush();
    log.state.outcome = 'appended';
    await usage.close();
    expect(summedQuantities(log.appended, (one) => one.meter)).toEqual({ api_requests: 2 });
  });

  it('counts exactly with any append outcome, across killed processes and new hours', async () => {
    const meter = fc.constantFrom<Meter>('api_requests', 'orderbook_chainlink_bytes', 'onchain_event_bytes');
    const step = fc.oneof(
      {
        weight: 4,
        arbitrary: fc.record({
          do: fc.constant('add' as const),
          account: fc.constantFrom('a', 'b'),
          key: fc.constantFrom('1', '2'),
          meter,
          n: fc.integer({ min: 0, max: 5000 }),
        }),
      },
      {
        weight: 2,
        arbitrary: fc.record({
          do: fc.constant('flush' as const),
          outcome: fc.constantFrom<AppendOutcome>('appended', 'rejected', 'appended, response lost'),
        }),
      },
      {
        weight: 1,
        arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: HOUR_MS }) }),
      },
      { weight: 1, arbitrary: fc.record({ do: fc.constant('kill' as const) }) },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const log = fakeLog();
        const clock = { ms: START_MS };
        let life = 1;
        let { usage } = recorder(log, clock, `p${life}`);
        /** Per account and meter: usage counted by ended processes, of which `unsure` was not flushed successfully, and by the running one. */
        const counted: Record<string, number> = {};
        let since: Record<string, number> = {};
        const unsure: Record<string, number> = {};
        for (const one of steps) {
          if (one.do === 'add') {
            usage.add(keyOf(one.account, one.key), one.meter, one.n);
            const key = `${one.account} ${one.meter}`;
            counted[key] = (counted[key] ?? 0) + one.n;
            since[key] = (since[key] ?? 0) + one.n;
          } else if (one.do === 'wait') clock.ms += one.ms;
          else if (one.do === 'flush') {
            log.state.outcome = one.outcome;
            if (await usage.flush()) since = {};
          } else {
            for (const [key, n] of Object.entries(since)) unsure[key] = (unsure[key] ?? 0) + n;
            since = {};
            life++;
            usage = recorder(log, clock, `p${life}`).usage;
          }
        }
        log.state.outcome = 'appended';
        expect(await usage.flush()).toBe(true);
        const table = summedQuantities(log.appended, (one) => `${one.account_id} ${one.meter}`);
        for (const key of Object.keys({ ...counted, ...table })) {
          expect(table[key] ?? 0).toBeLessThanOrEqual(counted[key] ?? 0);
          expect(table[key] ?? 0).toBeGreaterThanOrEqual((counted[key] ?? 0) - (unsure[key] ?? 0));
        }
      }),
      { numRuns: 300 },
    );
  });
});
