import { join } from 'node:path';
import { RetryableError } from '../errors.js';
import { createLogger } from '../telemetry/logger.js';
import { processConfig } from '../telemetry/process-config.js';
import { runProcess } from '../telemetry/run-process.js';
import { requireJava, startBroker } from './broker.js';
import { ensureJars, kafkaVersion } from './jars.js';

/** `npm run kafka`: a single-node Apache Kafka on 127.0.0.1:9092 with its data under `<data>/kafka`, until Ctrl-C. */
const PORT = 9092;
const CONTROLLER_PORT = 9093;
const HEAP_MB = 512;

const config = processConfig('kafka');
const logger = createLogger({ process: 'kafka', level: config.logLevel });

runProcess({
  logger,
  drainMs: 25_000,
  main: async (signal) => {
    await requireJava();
    const jarsDir = await ensureJars(config.dataDir, () =>
      logger.info('fetching Apache Kafka with Maven (once, 44 MB)'),
    );
    const dir = join(config.dataDir, 'kafka');
    logger.info({ version: await kafkaVersion(), dir }, 'starting Apache Kafka');
    const broker = await startBroker({
      dir,
      jarsDir,
      port: PORT,
      controllerPort: CONTROLLER_PORT,
      heapMb: HEAP_MB,
      onLine: (line) => logger.warn({ broker: line }, 'kafka'),
    });
    logger.info(
      { url: `kafka://127.0.0.1:${PORT}`, pid: broker.pid },
      'Kafka is ready; to use it, set LOG_URL to this URL',
    );
    const stopped = new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
    await Promise.race([stopped, broker.ended]);
    if (!signal.aborted) {
      const { code, lastLines } = await broker.ended;
      throw new RetryableError(`Kafka ended by itself with ${code}:\n${lastLines.join('\n')}`);
    }
    await broker.stop();
  },
});
