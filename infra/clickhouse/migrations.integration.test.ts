import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { FatalError } from '../errors.js';
import { silentLogger } from '../telemetry/logger.js';
import type { ClickHouse } from './client.js';
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

const lockElsewhere = (client: ClickHouse, expiresMs: number) => {
  const comment = JSON.stringify({ host: 'elsewhere', pid: 1, id: randomUUID(), expiresMs });
  return client.command(
    `CREATE TABLE schema_migrations_lock_1 (unused UInt8) ENGINE = MergeTree ORDER BY unused COMMENT '${comment}'`,
  );
};
const owner = () => ({ host: 'here', pid: process.pid, id: randomUUID() });

test('withMigrationLock takes over an expired lock, one process at a time', async () => {
  const client = await ch.connect({ database: 'locked' });
  await lockElsewhere(client, Date.now() - 1);
  let inside = 0;
  let most = 0;
  let runs = 0;
  const one = () =>
    withMigrationLock({ client, logger, owner: owner() }, async () => {
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

test('withMigrationLock takes over a lock of another host that a clock which ran ahead has written', async () => {
  const client = await ch.connect({ database: 'locked_ahead' });
  await lockElsewhere(client, Date.now() + 3_600_000);
  expect(await withMigrationLock({ client, logger, owner: owner() }, async () => 'done')).toBe('done');
});

test('withMigrationLock waits for the lock of another host and writes one by the clock of the server, also if its own runs ahead', async () => {
  const client = await ch.connect({ database: 'locked_skewed' });
  await lockElsewhere(client, Date.now() + 25_000);
  const now = Date.now;
  const clock = vi.spyOn(Date, 'now').mockImplementation(() => now() + 3_600_000);
  const steps: string[] = [];
  const watched: ClickHouse = {
    ...client,
    async query<T>(...call: Parameters<ClickHouse['query']>) {
      const rows = await client.query<T>(...call);
      if (steps.push('query') === 3) await client.command('DROP TABLE schema_migrations_lock_1 SYNC');
      return rows;
    },
  };
  try {
    await withMigrationLock({ client: watched, logger, owner: owner() }, async () => {
      steps.push('work');
      const [lock] = await client.query<{ left_ms: string }>(
        "SELECT JSONExtractInt(comment, 'expiresMs') - toUnixTimestamp64Milli(now64(3)) AS left_ms FROM system.tables WHERE database = 'locked_skewed'",
      );
      expect(Number(lock?.left_ms)).toBeGreaterThan(0);
      expect(Number(lock?.left_ms)).toBeLessThanOrEqual(15_000);
    });
  } finally {
    clock.mockRestore();
  }
  expect(steps.indexOf('work')).toBeGreaterThan(3);
});
