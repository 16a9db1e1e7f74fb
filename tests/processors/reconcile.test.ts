import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ClickHouse } from '../../infra/clickhouse/client.js';
import { migrate } from '../../infra/clickhouse/migrations.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { createMetrics } from '../../infra/telemetry/metrics.js';
import { fillsFamily, fillsTable } from '../../processors/fills/family.js';
import { migrations } from '../../processors/migrations.js';
import { createReconciler } from '../../processors/sink/reconcile.js';
import { createSink } from '../../processors/sink/sink.js';
import { createCodec } from '../../schemas/codec.js';
import { allTopics } from '../../schemas/topics.js';
import { startTestClickHouse, type TestClickHouse } from '../support/clickhouse.js';
import { createMemoryLog } from '../support/memory-log.js';
import { makeTrade } from './events.js';
import { runToEnd } from './run-sink.js';

let engine: TestClickHouse;
let client: ClickHouse;
beforeAll(async () => {
  engine = await startTestClickHouse();
  client = await engine.connect({ database: 'reconcile' });
  await migrate({ client, migrations, logger: silentLogger() });
});
afterAll(() => engine.stop());

it('finds every row again, and tells of rows that are missing or double until they are right', async () => {
  const codec = createCodec();
  const log = createMemoryLog();
  await log.ensureTopics(allTopics);
  const values = Array.from({ length: 60 }, (_, n) => codec.encode('trade', makeTrade(Math.floor(n / 3), n % 3)));
  await log.append(
    'chain.final',
    values.map((value, n) => ({ key: '1', value, timestampMs: n })),
  );
  const metrics = createMetrics({ process: 'test', defaults: false });
  const deps = { family: fillsFamily, partition: 0, store: client, logger: silentLogger(), metrics };
  const reconciler = createReconciler(deps);
  const sink = createSink({ ...deps, log, codec, maxChunkRecords: 7, lingerMs: 1, onLanded: reconciler.landed });
  const figure = async (name: string) => {
    const text = await metrics.registry.getSingleMetricAsString(`oddstream_${name}`);
    return Number(/\} (-?\d+)$/m.exec(text)?.[1]);
  };
  const trade = (number: number) => makeTrade(1_000 + number, 0);
  const append = (number: number) =>
    log.append('chain.final', [{ key: '1', value: codec.encode('trade', trade(number)), timestampMs: 1 }]);

  await runToEnd(sink);
  await reconciler.check();
  expect(await figure('sink_rows_off')).toBe(0);
  expect(await figure('sink_rows_proven_total')).toBe(60);

  await append(1);
  await runToEnd(sink);
  await client.command('ALTER TABLE fills DELETE WHERE block_number = 1001 SETTINGS mutations_sync = 2', {});
  await append(2);
  await runToEnd(sink);
  await reconciler.check();
  expect(await figure('sink_rows_off')).toBe(-1);

  const copy = `INSERT INTO fills SELECT * REPLACE (1001 AS block_number, 60 AS _offset)
    FROM (SELECT * FROM fills WHERE block_number = 1002)`;
  await client.command(copy, {});
  await reconciler.check();
  expect(await figure('sink_rows_off')).toBe(0);
  expect(await figure('sink_rows_proven_total')).toBe(62);

  await append(3);
  await runToEnd(sink);
  await client.command(
    `INSERT INTO ${fillsTable.name} SELECT * REPLACE (9 AS log_index) FROM fills WHERE block_number = 1003`,
    {},
  );
  await reconciler.check();
  expect(await figure('sink_rows_off')).toBe(1);
});
