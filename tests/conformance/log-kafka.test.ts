import { afterAll, beforeAll, describe, it } from 'vitest';
import { createKafkaLog } from '../../infra/log/kafka/kafka-log.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { startTestKafka, type TestKafka, whyNoKafka } from '../support/kafka.js';
import { describeKafkaOnly } from './kafka-only.js';
import { describeLog } from './log-conformance.js';

const missing = await whyNoKafka();

if (missing !== null) {
  describe('log: kafka', () => {
    it('runs the conformance suite on a real broker', ({ skip }) => {
      console.warn(`Not run here: ${missing}. In CI it must run.`);
      skip(missing);
    });
  });
} else {
  let kafka: TestKafka;
  beforeAll(async () => {
    kafka = await startTestKafka();
  });
  afterAll(() => kafka?.stop());
  describeLog(
    'kafka',
    async () => {
      const open = () => createKafkaLog({ brokers: kafka.brokers, logger: silentLogger() });
      const log = await open();
      return { log, reopen: open, cleanup: () => log.close() };
    },
    { contiguousOffsets: false, maintains: false },
  );
  describeKafkaOnly(() => kafka);
}
