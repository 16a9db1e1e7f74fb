import { afterAll, beforeAll, expect, it } from 'vitest';
import { migrate } from '../../infra/clickhouse/migrations.js';
import { startTestClickHouse, type TestClickHouse } from '../../infra/clickhouse/testing.js';
import { FatalError } from '../../infra/errors.js';
import { createMemoryLog } from '../../infra/log/testing.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { allTopics } from '../../schemas/topics.js';
import { sinkProgressTable } from './progress-table.js';
import { requireSameLog } from './same-log.js';

let clickhouse: TestClickHouse;
beforeAll(async () => {
  clickhouse = await startTestClickHouse();
  await migrate({ client: clickhouse.client, migrations: [sinkProgressTable], logger: silentLogger() });
});
afterAll(() => clickhouse.stop());

it('requireSameLog compares key and time of the last inserted record with the log, if both are known', async () => {
  const log = createMemoryLog();
  await log.ensureTopics(allTopics);
  const topic = 'chain.final';
  const records = [1, 2, 3].map((n) => ({ key: `b${n}`, value: Buffer.of(n), timestampMs: 1_790_000_000_120 + n }));
  await log.append(topic, records);
  const insert = (sink: string, record_key: string, recordMs: number) =>
    clickhouse.client.insertRows('sink_progress', [
      { sink, topic, partition: 0, next_offset: 2, record_key, record_time: new Date(recordMs).toISOString() },
    ]);
  const signal = new AbortController().signal;
  const check = (sink: string, lastOffset = 1) =>
    requireSameLog({ store: clickhouse.client, log, sink, topic, partition: 0, lastOffset, signal });
  await insert('same', 'b2', 1_790_000_000_122);
  await insert('other-key', 'b9', 1_790_000_000_122);
  await insert('other-time', 'b2', 1_790_000_000_123);
  await check('same');
  await check('unknown');
  await check('other-key', 2);
  await expect(check('other-key')).rejects.toThrow(FatalError);
  await expect(check('other-time')).rejects.toThrow(
    /end with record b2 of .*\.123Z at offset 1 .* record b2 of .*\.122Z/,
  );
});
