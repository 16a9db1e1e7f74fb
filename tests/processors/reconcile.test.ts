import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ClickHouse } from '../../infra/clickhouse/client.js';
import { migrate } from '../../infra/clickhouse/migrations.js';
import { createMemoryLog } from '../../infra/log/testing.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { createMetrics } from '../../infra/telemetry/metrics.js';
import { fillsSink, fillsTable } from '../../processors/fills/sink.js';
import { migrations } from '../../processors/migrations.js';
import { oracleSink } from '../../processors/oracle/sink.js';
import { createReconciler } from '../../processors/sink/reconcile.js';
import { createSink } from '../../processors/sink/sink.js';
import { createCodec } from '../../schemas/codec.js';
import { allTopics } from '../../schemas/topics.js';
import { startMigratedClickHouse, type TestClickHouse } from '../support/clickhouse.js';
import { createTestTick, createTestTrade } from './events.js';
import { runToEnd } from './run-sink.js';

let engine: TestClickHouse;
let client: ClickHouse;
beforeAll(async () => {
  engine = await startMigratedClickHouse();
  client = engine.client;
});
afterAll(() => engine.stop());

it('reconciler verifies every row, and reports missing and duplicate rows until they are corrected', async () => {
  const codec = createCodec();
  const log = createMemoryLog();
  await log.ensureTopics(allTopics);
  const values = Array.from({ length: 60 }, (_, n) => codec.encode('trade', createTestTrade(Math.floor(n / 3), n % 3)));
  await log.append(
    'chain.final',
    values.map((value, n) => ({ key: '1', value, timestampMs: n })),
  );
  const metrics = createMetrics({ process: 'test', defaults: false });
  const deps = { definition: fillsSink, partition: 0, store: client, logger: silentLogger(), metrics };
  const reconciler = createReconciler(deps);
  const sink = createSink({
    ...deps,
    log,
    codec,
    maxChunkRecords: 7,
    lingerMs: 1,
    onCommitted: reconciler.recordCommitted,
  });
  const figure = async (name: string) => {
    const text = await metrics.registry.getSingleMetricAsString(`oddstream_${name}`);
    return Number(/\} (-?\d+)$/m.exec(text)?.[1]);
  };
  const trade = (number: number) => createTestTrade(1_000 + number, 0);
  const append = (number: number) =>
    log.append('chain.final', [{ key: '1', value: codec.encode('trade', trade(number)), timestampMs: 1 }]);

  await runToEnd(sink);
  await reconciler.check();
  expect(await figure('sink_row_mismatch')).toBe(0);
  expect(await figure('sink_rows_verified_total')).toBe(60);

  await append(1);
  await runToEnd(sink);
  await client.command('ALTER TABLE fills DELETE WHERE block_number = 1001 SETTINGS mutations_sync = 2', {});
  await append(2);
  await runToEnd(sink);
  await reconciler.check();
  expect(await figure('sink_row_mismatch')).toBe(-1);

  const copy = `INSERT INTO fills SELECT * REPLACE (1001 AS block_number, 60 AS _offset)
    FROM (SELECT * FROM fills WHERE block_number = 1002)`;
  await client.command(copy, {});
  await reconciler.check();
  expect(await figure('sink_row_mismatch')).toBe(0);
  expect(await figure('sink_rows_verified_total')).toBe(62);

  await append(3);
  await runToEnd(sink);
  await client.command(
    `INSERT INTO ${fillsTable.name} SELECT * REPLACE (9 AS log_index) FROM fills WHERE block_number = 1003`,
    {},
  );
  await reconciler.check();
  expect(await figure('sink_row_mismatch')).toBe(1);
});

describe('reconciler of repeated ticks', () => {
  const codec = createCodec();
  const second = (n: number) => 1_790_000_000 + n;

  /** Chunks of 7, on separate tables that merge only on request. */
  const start = async (database: string) => {
    const store = await engine.connect({ database });
    await migrate({ client: store, migrations, logger: silentLogger() });
    await store.command('SYSTEM STOP MERGES ticks', {});
    const log = createMemoryLog();
    await log.ensureTopics(allTopics);
    const metrics = createMetrics({ process: 'test', defaults: false });
    const deps = { definition: oracleSink, partition: 0, store, logger: silentLogger(), metrics };
    const reconciler = createReconciler(deps);
    const sink = createSink({
      ...deps,
      log,
      codec,
      maxChunkRecords: 7,
      lingerMs: 1,
      onCommitted: reconciler.recordCommitted,
    });
    const figure = async (name: string) => {
      const text = await metrics.registry.getSingleMetricAsString(`oddstream_${name}`);
      return Number(/\} (-?\d+)$/m.exec(text)?.[1]);
    };
    const append = async (seconds: readonly number[]) => {
      const ticks = seconds.map((n) => createTestTick('BTC/USD', second(n), BigInt(100 + n)));
      await log.append(
        'oracle.ticks',
        ticks.map((tick) => ({
          key: tick.feed,
          partition: 0,
          timestampMs: tick.timestamp_ms,
          value: codec.encode('price_tick', tick),
        })),
      );
      await runToEnd(sink);
    };
    const merge = async () => {
      await store.command('SYSTEM START MERGES ticks', {});
      await store.command('OPTIMIZE TABLE ticks FINAL', {});
      await store.command('SYSTEM STOP MERGES ticks', {});
    };
    const lose = async (n: number) => {
      await store.command('SYSTEM START MERGES ticks', {});
      await store.command(
        `ALTER TABLE ticks DELETE WHERE timestamp_ms = fromUnixTimestamp64Milli(${second(n)}000) SETTINGS mutations_sync = 2`,
        {},
      );
    };
    const rows = async () => (await store.query<{ n: string }>('SELECT toString(count()) AS n FROM ticks'))[0]?.n;
    return { reconciler, figure, append, merge, lose, rows };
  };
  const upTo = (end: number) => Array.from({ length: end }, (_, n) => n);

  it('reports no mismatch before and after the table merges them', async () => {
    const { reconciler, figure, append, merge, rows } = await start('ticks_repeated');
    // Offsets 0 to 20, then seconds 0 to 9 again under 21 to 30, the last of them twice in one chunk.
    await append([...upTo(21), ...upTo(10), 9]);
    await reconciler.check();
    expect(await figure('sink_row_mismatch')).toBe(0);
    expect(await figure('sink_rows_verified_total')).toBe(21);

    // Seconds 21 to 30 are new; they are repeated, as is second 5 of verified offsets.
    await append([...upTo(31).slice(21), ...upTo(31).slice(21), 5]);
    await merge();
    expect(await rows()).toBe('31');
    await reconciler.check();
    expect(await figure('sink_row_mismatch')).toBe(0);
    // 10 new seconds, and second 5 once more.
    expect(await figure('sink_rows_verified_total')).toBe(32);
  });

  it('reports exactly the lost ticks', async () => {
    const { reconciler, figure, append, merge, lose } = await start('ticks_lost');
    await append([...upTo(21), ...upTo(10)]);
    await merge();
    await lose(12);
    await reconciler.check();
    expect(await figure('sink_row_mismatch')).toBe(-1);
    await lose(3);
    await append([40]);
    await reconciler.check();
    expect(await figure('sink_row_mismatch')).toBe(-2);
    // The feed sends one of the two again.
    await append([12]);
    await reconciler.check();
    expect(await figure('sink_row_mismatch')).toBe(-1);
    expect(await figure('sink_rows_verified_total')).toBeNaN();
  });
});
