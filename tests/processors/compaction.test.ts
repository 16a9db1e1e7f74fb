import { afterAll, beforeAll, expect, it } from 'vitest';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { createMetrics } from '../../infra/telemetry/metrics.js';
import { createCompactor } from '../../processors/compaction/compactor.js';
import { startTestClickHouse, type TestClickHouse } from '../support/clickhouse.js';

let engine: TestClickHouse;
beforeAll(async () => {
  engine = await startTestClickHouse();
});
afterAll(() => engine.stop());

it('compactor merges a large table into one part without changing its rows, and does not merge small tables', async () => {
  const { client } = engine;
  for (const [table, rows] of [
    ['large', 50_000],
    ['small', 50],
  ] as const) {
    await client.command(
      `CREATE TABLE ${table} (n UInt64, version UInt64) ENGINE = ReplacingMergeTree(version) PARTITION BY intDiv(n, 10000000) ORDER BY n`,
    );
    await client.command(`SYSTEM STOP MERGES ${table}`);
    for (let part = 0; part < 5; part++)
      await client.command(`INSERT INTO ${table} SELECT number + ${part * rows}, 1 FROM numbers(${rows})`);
    await client.command(`SYSTEM START MERGES ${table}`);
  }
  const parts = async (table: string) => {
    const sql = `SELECT toUInt32(count()) AS parts, toUInt32(sum(rows)) AS rows FROM system.parts WHERE active AND table = {table:String}`;
    return (await client.query<{ parts: number; rows: number }>(sql, { table }))[0];
  };
  const compactor = createCompactor({
    clickhouse: client,
    everyMs: 1,
    logger: silentLogger(),
    metrics: createMetrics({ process: 'test', defaults: false }),
  });
  await compactor.compactOnce();
  await compactor.compactOnce();
  expect(await parts('large')).toEqual({ parts: 1, rows: 250_000 });
  const [small] = await client.query<{ n: number }>('SELECT toUInt32(count()) AS n FROM small');
  expect(small).toEqual({ n: 250 });
});
