import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ClickHouse } from '../../infra/clickhouse/client.js';
import { emptyDatabaseDdl, singleServerDdl } from '../../infra/clickhouse/ddl.js';
import { migrate } from '../../infra/clickhouse/migrations.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { migrations } from '../../processors/migrations.js';
import { startTestClickHouse, type TestClickHouse } from '../support/clickhouse.js';

const logger = silentLogger();
let engine: TestClickHouse;
beforeAll(async () => {
  engine = await startTestClickHouse();
});
afterAll(() => engine.stop());

/** The CREATE statement of every table and view. */
async function schemaOf(client: ClickHouse): Promise<Map<string, string>> {
  const rows = await client.query<{ name: string; text: string }>(
    'SELECT name, create_table_query AS text FROM system.tables WHERE database = currentDatabase()',
  );
  return new Map(rows.map(({ name, text }) => [name, text.replaceAll(`${client.database}.`, '')]));
}

/** Schema of a database in which the statements of all migrations ran, including backfills. */
async function migratedSchema(): Promise<Map<string, string>> {
  const client = await engine.connect({ database: 'grown' });
  const statements = migrations.flatMap((migration) => migration.statements(singleServerDdl));
  for (const statement of statements) await client.command(statement);
  await migrate({ client, migrations: [], logger });
  const schema = await schemaOf(client);
  await dropDatabase(client);
  return schema;
}

/** All databases at once would exceed the engine's memory. */
const dropDatabase = (client: ClickHouse) =>
  client.command('DROP DATABASE {name:Identifier} SYNC', { name: client.database });

it('the schema of a new database equals that of a migrated one', async () => {
  const expected = await migratedSchema();
  expect(expected.size).toBeGreaterThan(50);
  const whole = await engine.connect({ database: 'whole' });
  expect(await migrate({ client: whole, migrations, logger })).toEqual(migrations.map(({ id }) => id));
  expect(await migrate({ client: whole, migrations, logger })).toEqual([]);
  expect(await schemaOf(whole)).toEqual(expected);
  await dropDatabase(whole);
}, 120_000);

it('the creation of a database that is killed after any of its statements, again and again, ends with the same schema', async () => {
  const expected = await migratedSchema();
  const client = await engine.connect({ database: 'killed' });
  let kills = 0;
  for (const [n, migration] of migrations.entries()) {
    const statements = migration.statements(emptyDatabaseDdl(singleServerDdl));
    // What a process did that was killed after so many statements; the next one begins with the first again.
    for (let done = 1; done <= statements.length; done += 1) {
      for (const statement of statements.slice(0, done)) await client.command(statement);
      kills += 1;
    }
    expect(await migrate({ client, migrations: migrations.slice(0, n + 1), logger })).toEqual([migration.id]);
  }
  expect(kills).toBeGreaterThan(100);
  expect(await schemaOf(client)).toEqual(expected);
  await dropDatabase(client);
}, 240_000);
