import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LogUnavailableError } from '../../infra/log/errors.js';
import { createKafkaLog } from '../../infra/log/kafka/kafka-log.js';
import type { Log } from '../../infra/log/port.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { makeTopic, readAll, record, T0, tail, texts, uniqueName } from '../conformance/log-harness.js';
import { startTestKafka, type TestKafka, whyNoKafka } from '../support/kafka.js';

const missing = await whyNoKafka();

describe.skipIf(missing !== null)(
  `the Kafka log while its broker restarts${missing === null ? '' : ` (not run: ${missing})`}`,
  () => {
    let kafka: TestKafka;
    let log: Log;
    beforeAll(async () => {
      kafka = await startTestKafka();
      log = await createKafkaLog({ brokers: kafka.brokers, logger: silentLogger() });
    });
    afterAll(async () => {
      await log?.close();
      await kafka?.stop();
    });

    /** Appends to one partition continuously until it is stopped; `acked`: acknowledged values. */
    const writing = (topic: string, partition: number) => {
      const acked: string[] = [];
      let stopping = false;
      const ended = (async () => {
        for (let i = 0; !stopping; i++) {
          await log.append(topic, [record('k', `v${i}`, T0, partition)]);
          acked.push(`v${i}`);
        }
      })();
      return {
        acked,
        async reached(count: number) {
          while (acked.length < count) await Promise.race([ended, new Promise((resolve) => setImmediate(resolve))]);
        },
        async stop() {
          stopping = true;
          await ended;
        },
      };
    };

    // With record times years in the past, a restarted broker does not remember the producer, so the client must check whether its batch was appended.
    it.each(['stop', 'kill'] as const)(
      'after %s: contains every acknowledged append once and in order; writers and readers resume',
      async (how) => {
        const partitions = [0, 1, 2, 3];
        const topic = await makeTopic(log, { partitions: partitions.length });
        const readers = partitions.map((partition) => tail(log, { topic, partition, from: 'earliest' }));
        const writers = partitions.map((partition) => writing(topic, partition));
        for (const writer of writers) await writer.reached(50);
        await kafka.halt(how);
        await kafka.start();
        for (const writer of writers) await writer.reached(writer.acked.length + 50);
        for (const [partition, { acked, stop }] of writers.entries()) {
          await stop();
          const reader = readers[partition]!;
          await reader.until((records) => records.length >= acked.length);
          await reader.stop();
          expect(texts(reader.records)).toEqual(acked);
          expect(texts(await readAll(log, topic, 'earliest', partition))).toEqual(acked);
        }
      },
    );

    it('commits each consume-transform-produce step once across a killed broker', async () => {
      const [input, output] = [await makeTopic(log), await makeTopic(log, { partitions: 3 })];
      const group = uniqueName('group');
      const step = (i: number) =>
        log.appendAndCommit({
          outputs: [{ topic: output, records: [0, 1, 2].map((partition) => record('k', `v${i}`, T0, partition)) }],
          group,
          offsets: [{ topic: input, partition: 0, nextOffset: i + 1 }],
        });
      const steps = 150;
      let restart: Promise<void> | undefined;
      const all = (async () => {
        for (let i = 0; i < steps; i++) {
          await step(i);
          if (i === 50) restart = kafka.halt('kill').then(() => kafka.start());
        }
      })();
      await all;
      await restart;
      const expected = Array.from({ length: steps }, (_, i) => `v${i}`);
      for (const partition of [0, 1, 2])
        expect(texts(await readAll(log, output, 'earliest', partition))).toEqual(expected);
      expect(await log.committed(group, input)).toEqual([{ topic: input, partition: 0, nextOffset: steps }]);
    });

    it('reports an unreachable broker, and recovers once it is back', async () => {
      const topic = await makeTopic(log);
      const impatient = await createKafkaLog({
        brokers: kafka.brokers,
        logger: silentLogger(),
        unavailableAfterMs: 500,
      });
      await impatient.append(topic, [record('k', 'before')]);
      const patient = tail(impatient, { topic, partition: 0, from: 'earliest' });
      await patient.until((records) => records.length === 1);
      await kafka.halt('kill');
      const position = { topic, partition: 0, nextOffset: 1 };
      for (const call of [
        () => impatient.append(topic, [record('k', 'lost')]),
        () => impatient.appendAndCommit({ outputs: [], group: 'group', offsets: [position] }),
        () => impatient.bounds(topic, 0),
        () => readAll(impatient, topic),
        () => impatient.commit('group', [position]),
        () => createKafkaLog({ brokers: kafka.brokers, logger: silentLogger(), unavailableAfterMs: 100 }),
      ]) {
        await expect(call()).rejects.toBeInstanceOf(LogUnavailableError);
      }
      await kafka.start();
      await impatient.append(topic, [record('k', 'after')]);
      await impatient.commit('group', [position]);
      expect(texts(await readAll(impatient, topic))).toEqual(['before', 'after']);
      // The following reader has waited, and resumes from its position.
      await patient.until((records) => records.length === 2);
      await patient.stop();
      expect(texts(patient.records)).toEqual(['before', 'after']);
      await impatient.close();
    });
  },
);
