import { join } from 'node:path';
import { createClickHouse } from '../infra/clickhouse/client.js';
import { clickHouseConnection } from '../infra/clickhouse/connection.js';
import { createClickHouseCheck } from '../infra/clickhouse/health.js';
import { redactConfig } from '../infra/config/config.js';
import { createMembership } from '../infra/membership/membership.js';
import { openEventLog } from '../infra/registry/open-event-log.js';
import { startAdminServer } from '../infra/telemetry/admin-server.js';
import { createLogger } from '../infra/telemetry/logger.js';
import { createMetrics } from '../infra/telemetry/metrics.js';
import { processConfig } from '../infra/telemetry/process-config.js';
import { createHealthRegistry } from '../infra/telemetry/readiness.js';
import { runProcess } from '../infra/telemetry/run-process.js';
import { assignTasks } from './assignment/assign-tasks.js';
import { createTaskRunner } from './assignment/task-runner.js';
import { processIdentity } from './process-identity.js';
import { createReadiness } from './readiness.js';
import { runConcurrently } from './run-concurrently.js';
import { openStateStores } from './stateful/state-store.js';
import { createStreamTasks } from './stream-tasks.js';
import { createTableTasks } from './table-tasks.js';
import { roleOf, type TaskGroup, taskGroupsOf } from './task-groups.js';

/** Lag gauges are set on every readiness request and at this interval. */
const LAG_INTERVAL_MS = 5_000;

const args = process.argv.slice(2);
const name = args.length === 1 && args[0] === 'stream' ? 'stream' : 'processors';
const config = processConfig(name);
const logger = createLogger({ process: name, level: config.logLevel });

runProcess({
  logger,
  main: async (signal) => {
    const groups = taskGroupsOf(args);
    const { member, stateDirectory } = processIdentity({
      adminPort: config.ports.admin[name],
      memberName: config.memberName,
      portVariable: name === 'stream' ? 'ADMIN_PORT_STREAM' : 'ADMIN_PORT_PROCESSORS',
    });
    logger.info({ config: redactConfig(config) }, 'starting');
    const metrics = createMetrics({ process: name });
    const healthRegistry = createHealthRegistry();
    const admin = await startAdminServer({
      host: config.host,
      port: config.ports.admin[name],
      allowedHosts: config.allowedHosts,
      metrics,
      readiness: healthRegistry.readiness,
    });
    const { log, codec } = await openEventLog(config, { logger, metrics, signal, healthRegistry });
    const connection = await clickHouseConnection(config);
    const clickhouse = createClickHouse(connection, { logger });
    const stores = openStateStores(join(config.dataDir, 'state', stateDirectory), config.logUrl);
    const deps = { log, codec, logger, metrics };
    const tableTasks = groups.includes('tables')
      ? await createTableTasks({
          ...deps,
          ...{ config, connection, clickhouse, stores },
          loading: async () => Object.values(await runner.checks()).some((check) => check.loading === true),
        })
      : null;
    const tasksOf = {
      stream: groups.includes('stream') ? createStreamTasks(deps) : [],
      tables: tableTasks?.tasks ?? [],
    };
    const runner = createTaskRunner({ tasks: [...tasksOf.stream, ...tasksOf.tables], logger, metrics });
    /** Names of the tasks that are assigned to this process, by group; a group is missing until its members are known. */
    const assigned = new Map<TaskGroup, readonly string[]>();
    const readiness = createReadiness({
      tasks: runner.checks,
      joined: () => assigned.size === groups.length,
      tables: tableTasks?.check ?? null,
    });
    if (tableTasks !== null) {
      const clickhouseCheck = createClickHouseCheck({ client: clickhouse, metrics });
      healthRegistry.register('clickhouse', async () => ({ clickhouse: await clickhouseCheck() }));
    }
    healthRegistry.markStarted('processors', async () => (await readiness()).checks);
    const lagGauges = setInterval(() => {
      healthRegistry.readiness().catch((error) => logger.warn({ err: error }, 'cannot measure lag'));
    }, LAG_INTERVAL_MS);

    const joinGroup = (group: TaskGroup, runSignal: AbortSignal): Promise<void> => {
      const names = tasksOf[group].map((task) => task.name);
      return createMembership({ log, codec, logger, role: roleOf(group), member }).run(runSignal, (members) => {
        assigned.set(group, assignTasks(member, members, names));
        if (assigned.size === groups.length) runner.assign([...assigned.values()].flat());
      });
    };

    try {
      await runConcurrently(signal, (runSignal) => [
        ...(tableTasks === null ? [] : [tableTasks.run(runSignal)]),
        runner.run(runSignal),
        ...groups.map((group) => joinGroup(group, runSignal)),
      ]);
    } finally {
      clearInterval(lagGauges);
      await admin.close();
      await clickhouse.close();
      await stores.close();
      await log.close();
    }
  },
});
