import { ClickHouseError } from '@clickhouse/client';
import { expect, it } from 'vitest';
import type { ClickHouse } from '../../infra/clickhouse/client.js';
import { RetryableError } from '../../infra/errors.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { createMetrics } from '../../infra/telemetry/metrics.js';
import { createCompactor, isDue } from './compactor.js';

const partitionStats = (rows: number, largest: number, parts = 8) => ({
  table: 't',
  partition: 'all',
  parts,
  rows,
  largest,
});

it('compactor merges large partitions with over 1 % of rows outside the largest part that no longer grow fast', () => {
  expect(isDue(partitionStats(1_000_000, 980_000), 996_000)).toBe(true);
  expect(isDue(partitionStats(1_000_000, 991_000), 1_000_000)).toBe(false);
  expect(isDue(partitionStats(1_000_000, 700_000), 990_000)).toBe(false);
  expect(isDue(partitionStats(1_000_000, 700_000), undefined)).toBe(false);
  expect(isDue(partitionStats(1_000_000, 700_000, 2), 1_000_000)).toBe(false);
  expect(isDue(partitionStats(99_999, 10_000), 99_999)).toBe(false);
});

function setUp(fails: (sql: string) => Error | null) {
  const tables = new Map([
    ['small', partitionStats(1_000, 100)],
    ['large', partitionStats(300_000, 100_000)],
    ['larger', partitionStats(900_000, 500_000)],
  ]);
  const statements: string[] = [];
  const clickhouse = {
    query: async () => [...tables].map(([table, one]) => ({ ...one, table, rows: String(one.rows) })),
    command: async (sql: string) => {
      statements.push(sql);
      const failure = fails(sql);
      if (failure !== null) throw failure;
    },
  } as unknown as ClickHouse;
  const metrics = createMetrics({ process: 'test', defaults: false });
  const stop = new AbortController();
  let pauses = 0;
  const compactor = createCompactor({
    clickhouse,
    everyMs: 1,
    logger: silentLogger(),
    metrics,
    pause: async () => {
      if (++pauses === 3) stop.abort();
    },
  });
  return { statements, metrics, run: () => compactor.run(stop.signal), pauses: () => pauses };
}

it('compactor checks once before it merges, and continues with the next table when the server rejects one', async () => {
  const rejection = new ClickHouseError({ message: 'dropped', code: '60', type: 'UNKNOWN_TABLE' });
  const { statements, metrics, run } = setUp((sql) => (sql.includes(' large ') ? rejection : null));
  await run();
  const [large, larger] = ['large', 'larger'].map((table) => `OPTIMIZE TABLE ${table} PARTITION ID 'all' FINAL`);
  expect(statements).toEqual([large, larger, large, larger]);
  expect(await metrics.registry.metrics()).toMatch(/compactions_total\{.*table="larger".*\} 2/);
});

it('compactor retries when the server is unreachable, and rejects with any unexpected error', async () => {
  const unreachable = setUp(() => new RetryableError('unreachable'));
  await unreachable.run();
  expect(unreachable.statements).toHaveLength(2);
  const broken = setUp(() => new Error('broken'));
  await expect(broken.run()).rejects.toThrow('broken');
});
