import { createHash, randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { FatalError } from '../errors.js';
import type { Logger } from '../telemetry/logger.js';
import type { ClickHouse } from './client.js';
import { ddlFor } from './cluster-ddl.js';
import { type Ddl, emptyDatabaseDdl, type Migration, singleServerDdl, type TableSpec } from './ddl.js';
import { withMigrationLock } from './migration-lock.js';
import { type NewestSchema, newestSchema } from './newest-schema.js';

export interface MigrateOptions {
  readonly client: ClickHouse;
  /** In ascending order of id. */
  readonly migrations: readonly Migration[];
  /** Default: the DDL of the client's server or cluster. */
  readonly ddl?: Ddl;
  readonly logger: Logger;
}

/** Applied migrations; the newest row per id counts. */
export const migrationsTable: TableSpec = {
  name: 'schema_migrations',
  columns: "id String, checksum String, applied_at DateTime64(3, 'UTC')",
  engine: 'ReplacingMergeTree',
  engineArgs: ['applied_at'],
  orderBy: 'id',
  placement: 'everywhere',
};

interface AppliedRow {
  readonly id: string;
  readonly checksum: string;
}

/**
 * Creates the client's database if it does not exist and applies, in order, the migrations that `schema_migrations` does not list. Processes
 * that start at the same time run one after another. A migration whose process was killed is run again from its first statement, so
 * statements say IF [NOT] EXISTS. Earlier migrations are not: their statements may not fit tables that a later one has changed. A database without rows
 * is not backfilled; a new one of a single server gets all tables in their newest form. Throws FatalError when ids are not ascending, or when an
 * applied migration has changed since. Returns the ids applied by this call.
 */
export async function migrate(options: MigrateOptions): Promise<readonly string[]> {
  const { client, migrations, logger } = options;
  const ddl = options.ddl ?? ddlFor(client);
  const ids = migrations.map((migration) => migration.id);
  if (ids.some((id, i) => i > 0 && id <= ids[i - 1]!)) {
    throw new FatalError(`Migrations must have unique, ascending ids: ${ids.join(', ')}`);
  }
  await client.ensureDatabase();
  for (const statement of ddl.table(migrationsTable)) await client.command(statement);
  if ((await pending(client, migrations)).length === 0) return [];
  return withMigrationLock(
    { client, logger, onCluster: ddl.onCluster, owner: { host: hostname(), pid: process.pid, id: randomUUID() } },
    async () => {
      // Queried again: another process may have applied migrations while this one waited for the lock.
      const due = await pending(client, migrations);
      const empty = await isEmpty(client);
      const isNew = empty && due.length === migrations.length && client.cluster === undefined;
      const newest = isNew ? newestSchema(migrations) : null;
      if (newest !== null) {
        await createNewest(client, newest, ddl);
        await recordApplied(client, migrations);
      } else {
        const effectiveDdl = empty ? emptyDatabaseDdl(ddl) : ddl;
        for (const migration of due) {
          for (const statement of migration.statements(effectiveDdl)) await client.command(statement);
          await recordApplied(client, [migration]);
          if (!empty) logger.info({ migration: migration.id }, 'migration applied');
        }
      }
      if (empty) logger.info({ migrations: due.length }, 'tables created');
      return due.map(({ id }) => id);
    },
  );
}

/** Creates everything in a database without rows. What a killed process has left there may be of an older version, and is dropped. */
async function createNewest(client: ClickHouse, newest: NewestSchema, ddl: Ddl): Promise<void> {
  const { tables, views, materializedViews } = newest;
  const existing = await client.query<{ name: string }>(
    "SELECT name FROM system.tables WHERE database = currentDatabase() AND NOT startsWith(name, {migrations:String}) ORDER BY engine NOT LIKE '%View'",
    { migrations: migrationsTable.name },
  );
  const own = new Set([...tables, ...views, ...materializedViews].map(({ name }) => name));
  const statements = [
    ...existing.flatMap(({ name }) => (own.has(name) ? ddl.dropTable(name) : [])),
    ...tables.flatMap((spec) => ddl.table(spec)),
    ...views.flatMap(({ name, select }) => ddl.view(name, select)),
    ...materializedViews.flatMap((spec) => ddl.materializedView(spec)),
  ];
  for (const statement of statements) await client.command(statement);
}

const recordApplied = (client: ClickHouse, migrations: readonly Migration[]): Promise<void> =>
  client.insertRows(
    migrationsTable.name,
    migrations.map((migration) => ({
      id: migration.id,
      checksum: checksumOf(migration),
      applied_at: new Date().toISOString(),
    })),
  );

/** Whether no table but `schema_migrations` has a row. */
async function isEmpty(client: ClickHouse): Promise<boolean> {
  const found = await client.query(
    'SELECT 1 AS found FROM system.parts WHERE database = currentDatabase() AND table != {migrations:String} AND active AND rows > 0 LIMIT 1',
    { migrations: migrationsTable.name },
  );
  return found.length === 0;
}

async function pending(client: ClickHouse, migrations: readonly Migration[]): Promise<readonly Migration[]> {
  const rows = await client.query<AppliedRow>('SELECT id, checksum FROM schema_migrations FINAL');
  const applied = new Map(rows.map((row) => [row.id, row.checksum]));
  for (const migration of migrations) {
    const checksum = applied.get(migration.id);
    if (checksum !== undefined && checksum !== checksumOf(migration)) {
      throw new FatalError(
        `Migration ${migration.id} was changed after it had been applied to database ${client.database}. Restore its text and write a new migration, or rebuild the tables in a new database.`,
      );
    }
  }
  return migrations.filter((migration) => !applied.has(migration.id));
}

/** Checksum of the single-server statements, so that it is the same for every deployment. */
function checksumOf(migration: Migration): string {
  return createHash('sha256').update(migration.statements(singleServerDdl).join('\n;\n')).digest('hex');
}
