import { DEFAULT_ANALYST_LIMITS } from '/app/dist/infra/clickhouse/embedded/analyst-profile.js';
import { startEmbeddedServer } from '/app/dist/infra/clickhouse/embedded/server.js';
import { createLogger } from '/app/dist/infra/telemetry/logger.js';
import { createMetrics } from '/app/dist/infra/telemetry/metrics.js';

const { ODDSTREAM_WRITER_PASSWORD, ODDSTREAM_READER_PASSWORD, ODDSTREAM_ANALYST_PASSWORD } = process.env;
const server = await startEmbeddedServer({
  dataDir: '/var/lib/clickhouse',
  host: '0.0.0.0',
  port: 8123,
  owners: [
    { user: 'oddstream', password: ODDSTREAM_WRITER_PASSWORD },
    { user: 'api', password: ODDSTREAM_READER_PASSWORD },
  ],
  analyst: { password: ODDSTREAM_ANALYST_PASSWORD, database: 'market', concurrency: 2, limits: DEFAULT_ANALYST_LIMITS },
  allowedHosts: ['clickhouse'],
  concurrency: 8,
  logger: createLogger({ process: 'clickhouse', level: 'info' }),
  metrics: createMetrics({ process: 'clickhouse' }),
});
process.once('SIGTERM', async () => {
  await server.close({ drainMs: 2000 });
  // The engine's destructors may not return.
  process.kill(process.pid, 'SIGKILL');
});
