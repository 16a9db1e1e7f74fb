import { existsSync, mkdirSync, mkdtempSync, renameSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { inject } from 'vitest';
import { type ClickHouse, createClickHouse } from '../../infra/clickhouse/client.js';
import { migrate } from '../../infra/clickhouse/migrations.js';
import { startTestClickHouse, type TestClickHouse } from '../../infra/clickhouse/testing.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { migrations } from '../../processors/migrations.js';
import { startClickHouseProcess } from './clickhouse-process.js';
import { eventually } from './product.js';

/** Re-export for tests; unit tests of the layers import infra/clickhouse/testing.ts. */
export { startTestClickHouse, type TestClickHouse };

const WAIT_MS = 100_000;
const isBuilt = () => existsSync(resolve('dist/infra/clickhouse/main.js'));

/** A closed data directory with the migrated database `test`; created by the first caller of a test run. */
async function migratedDir(): Promise<string> {
  const path = join(inject('runDir'), 'migrated-tables');
  const failure = `${path}.failed`;
  try {
    mkdirSync(`${path}.creating`);
  } catch {
    await eventually('the migrated tables', async () => existsSync(path) || existsSync(failure), WAIT_MS);
    return path;
  }
  const server = await startClickHouseProcess({ dataDir: mkdtempSync(`${path}-`) });
  try {
    const { url, user, password } = server;
    const client = createClickHouse({ url, user, password, database: 'test' }, { logger: silentLogger() });
    await migrate({ client, migrations, logger: silentLogger() });
    await client.close();
    await server.stop('SIGTERM');
    renameSync(server.dataDir, path);
  } catch (error) {
    writeFileSync(failure, '');
    throw error;
  }
  return path;
}

/**
 * `startTestClickHouse` whose database `test` has all tables. Without compiled code, which creates them once per test run, they are created here: that
 * takes some three seconds of CPU time.
 */
export async function startMigratedClickHouse(
  options: Parameters<typeof startTestClickHouse>[0] = {},
): Promise<TestClickHouse> {
  const template = isBuilt() ? await migratedDir() : undefined;
  const clickhouse = await startTestClickHouse({ ...options, template });
  await migrate({ client: clickhouse.client, migrations, logger: silentLogger() });
  return clickhouse;
}

/** Empties all tables but the list of migrations, for the next test: to create them takes a hundred times as long. */
export const emptyTables = (client: ClickHouse): Promise<void> =>
  client.command("TRUNCATE ALL TABLES FROM {name:Identifier} NOT LIKE 'schema_migrations'", { name: client.database });
