import { describe, it } from 'vitest';
import { createKafkaLog } from '../../infra/log/kafka/kafka-log.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { startTestKafka, whyNoKafka } from '../support/kafka.js';
import { describeAdmin } from './admin-suite.js';

const missing = await whyNoKafka();

if (missing !== null) {
  describe('the admin command on Kafka', () => {
    it('runs beside a real broker', ({ skip }) => skip(missing));
  });
} else {
  describeAdmin('Kafka', async () => {
    const kafka = await startTestKafka();
    const log = await createKafkaLog({ brokers: kafka.brokers, logger: silentLogger() });
    return {
      log,
      url: kafka.url,
      async close() {
        await log.close();
        await kafka.stop();
      },
    };
  });
}
