import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { migrate } from '../../infra/clickhouse/migrations.js';
import { startTestClickHouse, type TestClickHouse } from '../../infra/clickhouse/testing.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { isChunkCommitted } from './committed-chunk.js';
import { sinkProgressTable } from './progress-table.js';

const logger = silentLogger();
let clickhouse: TestClickHouse;
beforeAll(async () => {
  clickhouse = await startTestClickHouse();
  await migrate({ client: clickhouse.client, migrations: [sinkProgressTable], logger });
});
afterAll(() => clickhouse.stop());

const chunk = { sink: 'fills', topic: 'chain.final', partition: 3, nextOffset: 100, tables: ['rows', 'more_rows'] };
const create = (table: string) =>
  clickhouse.client.command(`CREATE OR REPLACE TABLE ${table} (n UInt64) ENGINE = MergeTree ORDER BY n`);
const report = (nextOffset: number, partition = chunk.partition) =>
  clickhouse.client.insertRows('sink_progress', [
    { sink: 'fills', topic: 'chain.final', partition, next_offset: nextOffset, written_at: new Date().toISOString() },
  ]);
const isCommitted = (nextOffset = chunk.nextOffset) => isChunkCommitted(clickhouse.client, { ...chunk, nextOffset });

it('isChunkCommitted is true for exactly the newest progress that was written after the tables were created or changed', async () => {
  for (const table of ['rows', 'more_rows', 'other']) await create(table);
  expect(await isCommitted()).toBe(false);
  // The times of tables are whole seconds.
  await sleep(1_100);
  await report(70);
  await report(100, 4);
  expect(await isCommitted()).toBe(false);
  await report(100);
  expect(await isCommitted()).toBe(true);
  expect(await isCommitted(70)).toBe(false);
  await sleep(1_100);
  await create('other');
  expect(await isCommitted()).toBe(true);
  await clickhouse.client.command('ALTER TABLE more_rows ADD COLUMN m UInt8');
  expect(await isCommitted()).toBe(false);
  await sleep(1_100);
  await report(100);
  expect(await isCommitted()).toBe(true);
  // As a restored backup does.
  await clickhouse.client.command('DROP TABLE rows SYNC');
  await sleep(1_100);
  await create('rows');
  expect(await isCommitted()).toBe(false);
});

it('isChunkCommitted is false for progress of the second in which a table was created or changed', async () => {
  for (const table of chunk.tables) await create(table);
  const [row] = await clickhouse.client.query<{ changed: number }>(
    "SELECT toUnixTimestamp(max(metadata_modification_time)) AS changed FROM system.tables WHERE name IN ('rows', 'more_rows')",
  );
  const changedMs = Number(row?.changed) * 1000;
  const writeAt = (ms: number) =>
    clickhouse.client.insertRows('sink_progress', [
      {
        sink: chunk.sink,
        topic: chunk.topic,
        partition: 5,
        next_offset: 100,
        written_at: new Date(ms).toISOString(),
      },
    ]);
  const committed = () => isChunkCommitted(clickhouse.client, { ...chunk, partition: 5 });
  await writeAt(changedMs + 999);
  expect(await committed()).toBe(false);
  await writeAt(changedMs + 1_000);
  expect(await committed()).toBe(true);
});
