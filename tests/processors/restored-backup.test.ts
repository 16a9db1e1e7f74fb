import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createMemoryLog } from '../../infra/log/testing.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { fillsSink } from '../../processors/fills/sink.js';
import { rebuild } from '../../processors/rebuild/rebuild.js';
import { rebuildTasksFor } from '../../processors/rebuild/rebuild-tasks.js';
import { isChunkCommitted } from '../../processors/sink/committed-chunk.js';
import { createProgressWriter } from '../../processors/sink/progress-table.js';
import { createCodec } from '../../schemas/codec.js';
import { allTopics, topics } from '../../schemas/topics.js';
import { startMigratedClickHouse, type TestClickHouse } from '../support/clickhouse.js';
import { createTestTrade } from './events.js';
import { runToEnd, smallSink } from './run-sink.js';

const codec = createCodec();
const logger = silentLogger();
/** The statement that docs/OPERATIONS.md names for restored tables. */
const documented = /```sql\n(INSERT INTO oddstream\.sink_progress .*)\n```/
  .exec(readFileSync('docs/OPERATIONS.md', 'utf8'))?.[1]
  ?.replaceAll('oddstream.', 'test.');

let clickhouse: TestClickHouse;
beforeAll(async () => {
  clickhouse = await startMigratedClickHouse();
});
afterAll(() => clickhouse.stop());

it('sinks count nothing twice after tables are restored from a backup as documented, and the newest chunk otherwise', async () => {
  const { client: live } = clickhouse;
  const outside = await clickhouse.connect({ database: 'default' });
  const shadow = await clickhouse.connect({ database: 'rebuild' });
  const log = createMemoryLog();
  await log.ensureTopics(allTopics);
  let fills = 0;
  const grow = () => {
    const trades = Array.from({ length: 20 }, () => createTestTrade(Math.floor(fills / 5), fills++ % 5));
    const records = trades.map((trade) => ({
      key: 'block',
      timestampMs: trade.timestamp_ms,
      value: codec.encode('trade', trade),
    }));
    return log.append(topics.chainFinal.name, records);
  };
  const fillTables = async () => {
    const progress = createProgressWriter({ store: live, logger });
    const isCommitted = (chunk: Parameters<typeof isChunkCommitted>[1]) => isChunkCommitted(live, chunk);
    await runToEnd(smallSink(fillsSink, log, live, 7, { progress, isCommitted }).sink);
    await progress.run(AbortSignal.abort());
  };
  const differing = async () => {
    const tasks = rebuildTasksFor('fills');
    const { signal } = new AbortController();
    const reports = await rebuild({ tasks, log, codec, live, shadow, logger, signal, checkOnly: true });
    return reports.filter((report) => !report.identical).map((report) => report.table);
  };
  const restore = async () => {
    await outside.command('DROP DATABASE test SYNC');
    await outside.command("RESTORE DATABASE test FROM File('backup')");
  };

  await grow();
  await fillTables();
  await outside.command("BACKUP DATABASE test TO File('backup')");

  await restore();
  await fillTables();
  expect(await differing()).toContain('token_volumes');

  await grow();
  await fillTables();
  await restore();
  await live.command(documented ?? '');
  // The log has plans of later chunks than the tables.
  expect(await differing()).toEqual([]);
  await fillTables();
  expect(await differing()).toEqual([]);
});
