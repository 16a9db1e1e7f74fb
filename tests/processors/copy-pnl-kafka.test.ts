import { describe, it } from 'vitest';
import { createKafkaLog } from '../../infra/log/kafka/kafka-log.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { startTestKafka, whyNoKafka } from '../support/kafka.js';
import { describeCopyPnl } from './copy-pnl-suite.js';

const missing = await whyNoKafka();

if (missing !== null) {
  describe('pools on Kafka', () => {
    it('run on a real broker', ({ skip }) => skip(missing));
  });
} else {
  describeCopyPnl('Kafka', async () => {
    const kafka = await startTestKafka();
    const log = await createKafkaLog({ brokers: kafka.brokers, logger: silentLogger() });
    return {
      log,
      async close() {
        await log.close();
        await kafka.stop();
      },
    };
  });
}
