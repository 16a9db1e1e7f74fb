import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ClickHouse } from '../../infra/clickhouse/client.js';
import { emptyDatabaseDdl, type Migration, singleServerDdl } from '../../infra/clickhouse/ddl.js';
import { migrate } from '../../infra/clickhouse/migrations.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { migrations } from '../../processors/migrations.js';
import { startTestClickHouse, type TestClickHouse } from '../support/clickhouse.js';

const logger = silentLogger();
let engine: TestClickHouse;
let expected: ReadonlyMap<string, string>;
beforeAll(async () => {
  engine = await startTestClickHouse();
  expected = await migratedSchema();
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
  expect(expected.size).toBeGreaterThan(50);
  const whole = await engine.connect({ database: 'whole' });
  expect(await migrate({ client: whole, migrations, logger })).toEqual(migrations.map(({ id }) => id));
  expect(await migrate({ client: whole, migrations, logger })).toEqual([]);
  expect(await schemaOf(whole)).toEqual(expected);
  await dropDatabase(whole);
});

it('the creation of a database that was killed, by this version or an older one, ends with the same schema', async () => {
  const client = await engine.connect({ database: 'started' });
  for (const statements of [60, 1_000]) {
    let left = statements;
    const command: ClickHouse['command'] = async (statement, ...rest) => {
      left -= 1;
      if (left < 0) throw new Error('killed');
      return client.command(statement, ...rest);
    };
    const insertRows = () => Promise.reject(new Error('killed'));
    await expect(migrate({ client: { ...client, command, insertRows }, migrations, logger })).rejects.toThrow('killed');
  }
  await client.command('DROP TABLE tokens SYNC');
  await client.command('CREATE TABLE tokens (of_an_older_version UInt8) ENGINE = MergeTree ORDER BY ()');
  await client.command('CREATE TABLE of_the_user (n UInt8) ENGINE = MergeTree ORDER BY ()');
  await migrate({ client, migrations, logger });
  const schema = await schemaOf(client);
  expect(schema.delete('of_the_user')).toBe(true);
  expect(schema).toEqual(expected);
  await dropDatabase(client);
});

it('migrations of a database without rows that are killed after any statement, again and again, end with the same schema', async () => {
  const client = await engine.connect({ database: 'killed' });
  // A new database is not migrated.
  const [first, ...later] = migrations as [Migration, ...Migration[]];
  await migrate({ client, migrations: [first], logger });
  const creations = later
    .map((migration) => migration.statements(emptyDatabaseDdl(singleServerDdl)))
    .filter((statements) => statements.length > 0);
  /** Creates the database until the process is killed before that statement. */
  const createUntil = (last: string | undefined) => {
    const command: ClickHouse['command'] = async (statement, ...rest) => {
      if (statement === last) throw new Error('killed');
      return client.command(statement, ...rest);
    };
    return migrate({ client: { ...client, command }, migrations, logger });
  };
  let kills = 0;
  for (const [n, statements] of creations.entries()) {
    // What a process did that was killed after so many statements of a migration; the next one begins with its first again.
    for (let done = 1; done <= statements.length; done += 1) {
      for (const statement of statements.slice(0, done)) await client.command(statement);
      kills += 1;
    }
    const next = creations[n + 1]?.[0];
    if (next === undefined) await createUntil(undefined);
    else await expect(createUntil(next)).rejects.toThrow('killed');
  }
  expect(kills).toBeGreaterThan(100);
  expect(await schemaOf(client)).toEqual(expected);
  expect(await migrate({ client, migrations, logger })).toEqual([]);
  await dropDatabase(client);
}, 240_000);
