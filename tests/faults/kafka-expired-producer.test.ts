import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCluster } from '../../infra/log/kafka/cluster.js';
import { createKafkaLog } from '../../infra/log/kafka/kafka-log.js';
import { encodeBatch, stampBatch } from '../../infra/log/kafka/record-batch.js';
import type { Log } from '../../infra/log/port.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { makeTopic, readAll, record, T0, texts, uniqueName } from '../conformance/log-harness.js';
import { startTestKafka, type TestKafka, whyNoKafka } from '../support/kafka.js';

const missing = await whyNoKafka();

describe.skipIf(missing !== null)(
  `a transaction its broker has forgotten${missing === null ? '' : ` (not run: ${missing})`}`,
  () => {
    let kafka: TestKafka;
    let log: Log;
    beforeAll(async () => {
      // Permits records in a transaction that the coordinator does not know: the state after it lost its log on a full disk.
      kafka = await startTestKafka({ properties: { 'transaction.partition.verification.enable': false } });
      log = await createKafkaLog({ brokers: kafka.brokers, logger: silentLogger() });
    });
    afterAll(async () => {
      await log?.close();
      await kafka?.stop();
    });

    it.each([0, 1])(
      'is rolled back before the next step of its writer, which wrote %i steps before it',
      async (before) => {
        const topic = await makeTopic(log, { partitions: 1 });
        const group = uniqueName('group');
        const step = (value: string) => ({ outputs: [{ topic, records: [record('k', value, T0, 0)] }], offsets: [] });
        const first = await log.acquireOwnership(group);
        for (let n = 0; n < before; n++) await first.appendAndCommit(step(`before ${n}`));

        const id = `oddstream/${group}/claim`;
        const cluster = createCluster({ brokers: kafka.brokers, logger: silentLogger(), unavailableAfterMs: 10_000 });
        const producer = await cluster.retry('test', async () =>
          (await cluster.coordinator('transaction', id)).initProducerId(id),
        );
        const forgotten = { key: Buffer.from('k'), value: Buffer.from('forgotten'), timestampMs: T0 };
        const batch = await encodeBatch([forgotten], { transactional: true, compress: false });
        stampBatch(batch, producer, 0);
        const [sent] = await (await cluster.leader(topic, 0, 'control')).produce(id, [{ topic, partition: 0, batch }]);
        expect(sent?.error).toBeNull();
        cluster.close();

        const second = await log.acquireOwnership(group);
        await second.appendAndCommit(step('after'));
        await second.appendAndCommit(step('last'));
        const visible = texts(await readAll(log, topic));
        expect(visible).toEqual([...Array.from({ length: before }, (_, n) => `before ${n}`), 'after', 'last']);
      },
    );
  },
);
