import { setTimeout as sleep } from 'node:timers/promises';
import { createClickHouse } from '../../infra/clickhouse/client.js';
import { clickHouseConnection } from '../../infra/clickhouse/connection.js';
import { redactConfig } from '../../infra/config/config.js';
import { exitCodeFor, FatalError, RetryableError } from '../../infra/errors.js';
import { DEAD_AFTER_MS } from '../../infra/membership/failure-detector.js';
import { readLiveMembers } from '../../infra/membership/membership.js';
import { openEventLog } from '../../infra/registry/open-event-log.js';
import { createLogger } from '../../infra/telemetry/logger.js';
import { createMetrics } from '../../infra/telemetry/metrics.js';
import { processConfig } from '../../infra/telemetry/process-config.js';
import { runProcess } from '../../infra/telemetry/run-process.js';
import { parseRebuildArguments, type RebuildArguments } from './arguments.js';
import { rebuild } from './rebuild.js';

/** `npm run rebuild -- <table|all> [--check]`, while processors are stopped. Exit code 78 when `--check` finds a difference. */
function argumentsOrExit(): RebuildArguments {
  try {
    return parseRebuildArguments(process.argv.slice(2));
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(exitCodeFor(error));
  }
}

/** Bound of one statement: a fingerprint reads a whole table and sends nothing before its end. */
const STATEMENT_TIMEOUT_MS = 12 * 3_600_000;

const { tasks, checkOnly } = argumentsOrExit();
const config = processConfig('rebuild');
const logger = createLogger({ process: 'rebuild', level: config.logLevel });

runProcess({
  logger,
  main: async (signal) => {
    logger.info(
      { config: redactConfig(config), sinks: tasks.map((task) => task.definition.name), checkOnly },
      'starting',
    );
    const metrics = createMetrics({ process: 'rebuild', defaults: false });
    const { log, codec } = await openEventLog(config, { logger, metrics, signal, maintenance: false });
    const connection = { ...(await clickHouseConnection(config)), requestTimeoutMs: STATEMENT_TIMEOUT_MS };
    const live = createClickHouse(connection, { logger });
    const shadow = createClickHouse({ ...connection, database: `${connection.database}_rebuild` }, { logger });
    /** A killed process stays in the member list until its heartbeat expires. */
    const untilStopped = async (): Promise<void> => {
      const deadline = performance.now() + 2 * DEAD_AFTER_MS;
      for (let reportedMs = false; ; reportedMs = true) {
        const members = await readLiveMembers({ log, codec, logger, role: 'processors' });
        if (members.length === 0) return;
        if (performance.now() > deadline)
          throw new RetryableError(`Stop processors first; these run on this log: ${members.join(', ')}`);
        if (!reportedMs) logger.info({ members }, 'waiting until all processors have stopped');
        await sleep(500, undefined, { signal });
      }
    };
    try {
      await untilStopped();
      const reports = await rebuild({ tasks, log, codec, live, shadow, logger, signal, checkOnly });
      const different = reports.filter((report) => !report.identical).map((report) => report.table);
      logger.info({ tables: reports.length, different }, checkOnly ? 'checked' : 'rebuilt');
      if (checkOnly && different.length > 0)
        throw new FatalError(`Tables differ from the log: ${different.join(', ')}; run the rebuild without --check`);
    } finally {
      await shadow.close();
      await live.close();
      await log.close();
    }
  },
});
