import { redactConfig } from '../infra/config/config.js';
import { createLogger } from '../infra/telemetry/logger.js';
import { createMetrics } from '../infra/telemetry/metrics.js';
import { processConfig } from '../infra/telemetry/process-config.js';
import { runProcess } from '../infra/telemetry/run-process.js';
import { runIngest } from './run-ingest.js';

const config = processConfig('ingest');
const logger = createLogger({ process: 'ingest', level: config.logLevel });
logger.info({ config: redactConfig(config) }, 'configuration');
runProcess({
  logger,
  main: (signal) => runIngest({ config, logger, metrics: createMetrics({ process: 'ingest' }), signal }),
});
