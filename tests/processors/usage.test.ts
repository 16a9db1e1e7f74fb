import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { migrate } from '../../infra/clickhouse/migrations.js';
import { createMemoryLog } from '../../infra/log/testing.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { createMetrics } from '../../infra/telemetry/metrics.js';
import { createUsageRecorder } from '../../infra/usage/usage-recorder.js';
import { migrations } from '../../processors/migrations.js';
import { usageSink } from '../../processors/usage/sink.js';
import { createCodec } from '../../schemas/codec.js';
import { topics } from '../../schemas/topics.js';
import { startTestClickHouse, type TestClickHouse } from '../support/clickhouse.js';
import { runToEnd, smallSink } from './run-sink.js';

let server: TestClickHouse;
beforeAll(async () => {
  server = await startTestClickHouse();
});
afterAll(() => server.stop());

const keyOf = (account: string, key = '1') => ({ accountId: account, keyHash: `${account}${key}`.padEnd(64, '0') });

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
    first.add(keyOf('a'), 'onchain_event_bytes', 1000);
    second.add(keyOf('a'), 'onchain_event_bytes', 5);
    second.add(keyOf('a', '2'), 'onchain_event_bytes', 7);
    second.add(keyOf('b'), 'api_requests', 1);
    responseLost = true;
    await first.flush();
    await second.flush();
    responseLost = false;
    first.add(keyOf('a'), 'onchain_event_bytes', 10);
    await first.flush();
    await second.flush();
    clock.ms += 3000;
    await first.flush();
    first.add(keyOf('a'), 'onchain_event_bytes', 300);
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
      { account_id: 'a', meter: 'onchain_event_bytes', month: '2026-08-01', used: '1022' },
      { account_id: 'a', meter: 'onchain_event_bytes', month: '2026-09-01', used: '300' },
      { account_id: 'b', meter: 'api_requests', month: '2026-08-01', used: '1' },
    ]);
    expect(
      await client.query(
        'SELECT process_id, toString(quantity) AS quantity FROM usage FINAL WHERE account_id = {a:String} ORDER BY hour, process_id, quantity',
        { a: 'a' },
      ),
    ).toEqual([
      { process_id: 'p1', quantity: '1010' },
      { process_id: 'p2', quantity: '5' },
      { process_id: 'p2', quantity: '7' },
      { process_id: 'p1', quantity: '300' },
    ]);
    expect(
      await client.query(
        `SELECT key_id, toString(sum(quantity)) AS used, toString(max(counted_at)) AS last FROM usage FINAL
         WHERE account_id = {a:String} GROUP BY key_id ORDER BY key_id`,
        { a: 'a' },
      ),
    ).toEqual([
      { key_id: 'a100000000000000', used: '1315', last: '2026-09-01 00:00:01.000' },
      { key_id: 'a200000000000000', used: '7', last: '2026-08-31 23:59:58.000' },
    ]);
  });
});
