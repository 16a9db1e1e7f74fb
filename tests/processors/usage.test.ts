import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { migrate } from '../../infra/clickhouse/migrations.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { createMetrics } from '../../infra/telemetry/metrics.js';
import { createUsageRecorder } from '../../infra/usage/usage-recorder.js';
import { migrations } from '../../processors/migrations.js';
import { usageSink } from '../../processors/usage/sink.js';
import { createCodec } from '../../schemas/codec.js';
import { topics } from '../../schemas/topics.js';
import { startTestClickHouse, type TestClickHouse } from '../support/clickhouse.js';
import { createMemoryLog } from '../support/memory-log.js';
import { runToEnd, smallSink } from './run-sink.js';

let server: TestClickHouse;
beforeAll(async () => {
  server = await startTestClickHouse();
});
afterAll(() => server.stop());

describe('usage tables', () => {
  it('contain each total once for repeated records in any order', async () => {
    const client = server.client;
    await migrate({ client, migrations, logger: silentLogger() });
    let responseLost = false;
    const store = createMemoryLog();
    await store.ensureTopics([{ ...topics.usage, partitions: 1 }, topics.plansUsage]);
    const append: typeof store.append = async (topic, records) => {
      const ranges = await store.append(topic, records);
      if (responseLost) throw new Error('response lost');
      return ranges;
    };
    const clock = { ms: Date.UTC(2026, 7, 31, 23, 59, 58) };
    const recorder = (processId: string) =>
      createUsageRecorder({
        log: { append },
        codec: createCodec(),
        logger: silentLogger(),
        metrics: createMetrics({ process: 'test', defaults: false }),
        nowMs: () => clock.ms,
        processId,
        tickMs: 0,
      });
    const first = recorder('p1');
    const second = recorder('p2');
    first.add('a', 'onchain_event_bytes', 1000);
    second.add('a', 'onchain_event_bytes', 5);
    second.add('b', 'api_requests', 1);
    responseLost = true;
    await first.flush();
    await second.flush();
    responseLost = false;
    first.add('a', 'onchain_event_bytes', 10);
    await first.flush();
    await second.flush();
    clock.ms += 3000;
    await first.flush();
    first.add('a', 'onchain_event_bytes', 300);
    await first.flush();
    const late = store.all(topics.usage.name)[0];
    if (late === undefined) throw new Error('nothing appended');
    await store.append(topics.usage.name, [late]);

    await runToEnd(smallSink(usageSink, store, client).sink);
    expect(
      await client.query(
        'SELECT account_id, meter, toString(month) AS month, toString(used) AS used FROM usage_monthly ORDER BY ALL',
      ),
    ).toEqual([
      { account_id: 'a', meter: 'onchain_event_bytes', month: '2026-08-01', used: '1015' },
      { account_id: 'a', meter: 'onchain_event_bytes', month: '2026-09-01', used: '300' },
      { account_id: 'b', meter: 'api_requests', month: '2026-08-01', used: '1' },
    ]);
    expect(
      await client.query(
        'SELECT process_id, toString(quantity) AS quantity FROM usage FINAL WHERE account_id = {a:String} ORDER BY hour, process_id',
        { a: 'a' },
      ),
    ).toEqual([
      { process_id: 'p1', quantity: '1010' },
      { process_id: 'p2', quantity: '5' },
      { process_id: 'p1', quantity: '300' },
    ]);
  });
});
