import { afterAll, beforeAll, describe, it } from 'vitest';
import { createKafkaLog } from '../../infra/log/kafka/kafka-log.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { describeRedisRateLimits } from '../api/rate-limit-suite.js';
import { describeKafkaOnly } from '../conformance/kafka-only.js';
import { describeLog } from '../conformance/log-conformance.js';
import { describeRegistry } from '../registry/registry-suite.js';
import { describeCompose } from './compose.js';
import { whyNoDocker } from './docker.js';
import { type Images, openImages } from './images.js';
import { describeProductImage } from './product-image.js';
import {
  type KafkaContainer,
  startKafkaContainer,
  startRedisContainer,
  startRegistryContainer,
} from './server-containers.js';

// One file: the suites share the Docker daemon and the images, and each needs both cores of a small machine.
const missing = await whyNoDocker();

if (missing !== null) {
  describe('containers', () => {
    it('run the image and the suites of Kafka, the registry and Redis', ({ skip }) => {
      console.warn(`Not run here: ${missing}. In CI it must run.`);
      skip(missing);
    });
  });
} else {
  // Images are built meanwhile.
  describe('containers', { timeout: 180_000 }, () => {
    let images: Images;
    beforeAll(async () => {
      images = await openImages();
    }, 600_000);
    afterAll(() => images?.close(), 600_000);

    describe('of Kafka', () => {
      let kafka: KafkaContainer;
      beforeAll(async () => {
        kafka = await startKafkaContainer(await images.server('kafka'));
      }, 600_000);
      afterAll(() => kafka?.stop());
      describeLog(
        'kafka in a container',
        async () => {
          const open = () => createKafkaLog({ brokers: kafka.brokers, logger: silentLogger() });
          const log = await open();
          return { log, reopen: open, cleanup: () => log.close() };
        },
        { contiguousOffsets: false, maintains: false },
      );
      describeKafkaOnly(() => kafka);
    });

    describeRegistry('schema registry in a container', async () =>
      startRegistryContainer({ registry: await images.server('schema-registry'), kafka: await images.server('kafka') }),
    );
    describeRedisRateLimits('Redis in a container', async (port) =>
      startRedisContainer(await images.server('redis'), port),
    );
    describeProductImage(() => images);
    describeCompose(() => images);
  });
}
