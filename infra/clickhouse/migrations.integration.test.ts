import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { FatalError } from '../errors.js';
import { silentLogger } from '../telemetry/logger.js';
import type { Migration } from './ddl.js';
import { withMigrationLock } from './migration-lock.js';
import { migrate } from './migrations.js';
import { startTestClickHouse, type TestClickHouse } from './testing.js';

let ch: TestClickHouse;
beforeAll(async () => {
  ch = await startTestClickHouse();
});
afterAll(() => ch.stop());

const logger = silentLogger();
const first: Migration = {
  id: '0001_first',
  statements: (ddl) => [
    ...ddl.table({ name: 'a', columns: 'x UInt64', engine: 'MergeTree', orderBy: 'x', placement: 'everywhere' }),
    ...ddl.view('av', 'SELECT sum(x) AS total FROM a'),
  ],
};
/** Not safe to run twice: a second run inserts a second row. */
const second: Migration = {
  id: '0002_second',
  statements: () => ['INSERT INTO a SELECT 1', 'ALTER TABLE a ADD COLUMN y UInt8'],
};
const applied = async (client: TestClickHouse['client']) =>
  (await client.query<{ id: string }>('SELECT id FROM schema_migrations ORDER BY id')).map((row) => row.id);

test('migrate creates a missing database and runs migrations in order, once', async () => {
  const client = await ch.connect({ database: 'fresh' });
  await client.command('DROP DATABASE {d:Identifier} SYNC', { d: 'fresh' }).catch(() => undefined);
  expect(await migrate({ client, migrations: [first], logger })).toEqual(['0001_first']);
  expect(await migrate({ client, migrations: [first, second], logger })).toEqual(['0002_second']);
  expect(await migrate({ client, migrations: [first, second], logger })).toEqual([]);
  expect(await client.query('SELECT total FROM av')).toEqual([{ total: '1' }]);
  expect(await applied(client)).toEqual(['0001_first', '0002_second']);
});

test('concurrent migrate calls run each migration once', async () => {
  const clients = await Promise.all(Array.from({ length: 4 }, () => ch.connect({ database: 'crowd' })));
  const results = await Promise.all(clients.map((client) => migrate({ client, migrations: [first, second], logger })));
  expect(results.flat().sort()).toEqual(['0001_first', '0002_second']);
  expect(await clients[0]!.query('SELECT total FROM av')).toEqual([{ total: '1' }]);
  expect(
    await clients[0]!.query("SELECT name FROM system.tables WHERE database = 'crowd' AND name LIKE '%lock%'"),
  ).toEqual([]);
});

test('migrate throws FatalError for a changed migration before it runs any', async () => {
  const client = await ch.connect({ database: 'changed' });
  await migrate({ client, migrations: [first], logger });
  const edited: Migration = { id: first.id, statements: (ddl) => [...first.statements(ddl), 'SELECT 1'] };
  await expect(migrate({ client, migrations: [edited, second], logger })).rejects.toThrow(FatalError);
  expect(await applied(client)).toEqual(['0001_first']);
  await expect(migrate({ client, migrations: [second, first], logger })).rejects.toThrow(/ascending/);
});

test('a failed migration is not recorded and can be run again', async () => {
  const client = await ch.connect({ database: 'failing' });
  let broken = true;
  const flaky: Migration = { id: '0001_flaky', statements: (ddl) => [...first.statements(ddl)] };
  const failing: Migration = {
    id: '0001_flaky',
    statements: (ddl) => [...first.statements(ddl), 'CREATE TABLE b (x Nope) ENGINE = Memory'],
  };
  await expect(migrate({ client, migrations: [broken ? failing : flaky], logger })).rejects.toMatchObject({
    code: '50',
  });
  broken = false;
  expect(await applied(client)).toEqual([]);
  expect(await migrate({ client, migrations: [broken ? failing : flaky], logger })).toEqual(['0001_flaky']);
});

test('withMigrationLock takes over an expired lock, one process at a time', async () => {
  const client = await ch.connect({ database: 'locked' });
  const ended = { host: 'elsewhere', pid: 1, id: randomUUID(), expiresMs: Date.now() - 1 };
  await client.command(
    `CREATE TABLE schema_migrations_lock_1 (unused UInt8) ENGINE = MergeTree ORDER BY unused COMMENT '${JSON.stringify(ended)}'`,
  );
  let inside = 0;
  let most = 0;
  let runs = 0;
  const one = () =>
    withMigrationLock({ client, logger, owner: { host: 'here', pid: process.pid, id: randomUUID() } }, async () => {
      inside += 1;
      runs += 1;
      most = Math.max(most, inside);
      await client.query('SELECT 1');
      inside -= 1;
    });
  await Promise.all([one(), one(), one()]);
  expect([runs, most]).toEqual([3, 1]);
  expect(await client.query("SELECT name FROM system.tables WHERE database = 'locked'")).toEqual([]);
});
