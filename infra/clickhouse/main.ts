import { redactConfig } from '../config/config.js';
import { FatalError } from '../errors.js';
import { startAdminServer } from '../telemetry/admin-server.js';
import { createLogger } from '../telemetry/logger.js';
import { createMetrics } from '../telemetry/metrics.js';
import { processConfig } from '../telemetry/process-config.js';
import { runProcess } from '../telemetry/run-process.js';
import { clickHouseConnection } from './connection.js';
import { endIfStuck } from './embedded/leave.js';
import { lowerProcessPriority } from './embedded/niceness.js';
import { startEmbeddedServer } from './embedded/server.js';

/**
 * The embedded ClickHouse server on CLICKHOUSE_EMBEDDED_HOST and CLICKHOUSE_EMBEDDED_PORT. Start it with UV_THREADPOOL_SIZE=16 (the supervisor and
 * `npm run clickhouse` do): libuv sizes its pool before this file runs, and every query occupies one of its threads.
 */
const SPARE_THREADS = 4;
/** libuv's own. */
const DEFAULT_THREADS = 4;
/** The engine's destructors take some 100 ms. */
const LEAVE_MS = 2_000;

const config = processConfig('clickhouse');
const logger = createLogger({ process: 'clickhouse', level: config.logLevel });
const metrics = createMetrics({ process: 'clickhouse' });

runProcess({
  logger,
  main: async (signal) => {
    logger.info({ config: redactConfig(config) }, 'starting');
    const { embedded, threads = DEFAULT_THREADS, analyst } = config.clickhouse;
    if (embedded === null)
      throw new FatalError(
        'CLICKHOUSE_URL names an external ClickHouse server, so the embedded one does not start. Unset CLICKHOUSE_URL; to change the port of the embedded one, set CLICKHOUSE_EMBEDDED_PORT.',
      );
    if (threads < 8) logger.warn({ threads }, 'too few libuv threads for queries: start with UV_THREADPOOL_SIZE=16');
    lowerProcessPriority();
    const { user, password } = await clickHouseConnection(config);
    // The exit of the process runs the engine's destructors. They block forever when the engine was not closed or was still being opened, and
    // sometimes after it was closed.
    let open = true;
    process.once('exit', () => {
      if (open) process.kill(process.pid, 'SIGKILL');
      else endIfStuck(LEAVE_MS);
    });
    const server = await startEmbeddedServer({
      dataDir: config.dataDir,
      host: embedded.host.replace(/^\[|\]$/g, ''),
      port: embedded.port,
      memoryBytes: embedded.memoryBytes,
      owners: [{ user, password }],
      analyst: {
        password: analyst.password,
        database: config.clickhouse.analystDatabase,
        concurrency: analyst.queries,
        limits: analyst,
      },
      allowedHosts: config.allowedHosts,
      concurrency: Math.max(1, Math.min(threads - 1, Math.max(3, threads - SPARE_THREADS - analyst.queries))),
      logger,
      metrics,
    }).catch((error: unknown) => {
      // A failed start has closed the engine, so the process can exit with the error's exit code.
      open = false;
      throw error;
    });
    // Replaces the engine's signal handler, which waits five minutes for a crash report that is never written here. An abort() inside the
    // engine now runs libuv's handler and then ends the process at once, so that the supervisor restarts it at once.
    process.on('SIGABRT', () => process.kill(process.pid, 'SIGKILL'));
    const admin = await startAdminServer({
      host: config.host,
      port: config.ports.admin.clickhouse,
      allowedHosts: config.allowedHosts,
      metrics,
      readiness: async () => {
        try {
          await server.check();
          return { ready: true, checks: { engine: { ok: true, detail: server.version } } };
        } catch (error) {
          return { ready: false, checks: { engine: { ok: false, detail: String(error) } } };
        }
      },
    });
    logger.info({ url: server.url, version: server.version }, 'serving');
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    await server.close({ drainMs: 2000 });
    open = false;
    await admin.close();
  },
});
