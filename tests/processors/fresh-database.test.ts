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

it('the schema of a new database equals that of a migrated one, also after a process was killed during its creation', async () => {
  const expected = await migratedSchema();
  expect(expected.size).toBeGreaterThan(50);
  const whole = await engine.connect({ database: 'whole' });
  expect(await migrate({ client: whole, migrations, logger })).toEqual(migrations.map(({ id }) => id));
  expect(await migrate({ client: whole, migrations, logger })).toEqual([]);
  expect(await schemaOf(whole)).toEqual(expected);
  await dropDatabase(whole);

  for (const id of ['0002_fills', '0041_finer_fills']) {
    const at = migrations.findIndex((migration) => migration.id === id);
    const statements = migrations[at]?.statements(emptyDatabaseDdl(singleServerDdl)) ?? [];
    expect(statements.length).toBeGreaterThan(5);
    for (const share of [0.4, 1]) {
      const killed = await engine.connect({ database: `killed_${at}_${share * 10}` });
      await migrate({ client: killed, migrations: migrations.slice(0, at), logger });
      for (const statement of statements.slice(0, Math.round(statements.length * share)))
        await killed.command(statement);
      await migrate({ client: killed, migrations, logger });
      expect(await schemaOf(killed)).toEqual(expected);
      await dropDatabase(killed);
    }
  }
}, 120_000);
