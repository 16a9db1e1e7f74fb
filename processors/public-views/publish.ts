import type { ClickHouse } from '../../infra/clickhouse/client.js';
import { ddlFor } from '../../infra/clickhouse/cluster-ddl.js';
import { FatalError } from '../../infra/errors.js';
import type { Logger } from '../../infra/telemetry/logger.js';
import type { PublicView } from './spec.js';
import { commentOf } from './views.js';

/** Settings that analysts may change and that change what a statement means; within the views they have their defaults. */
const FIXED_SETTINGS = [
  'join_use_nulls',
  'group_by_use_nulls',
  'aggregate_functions_null_for_empty',
  'transform_null_in',
  'prefer_column_name_to_alias',
  'cast_keep_nullable',
]
  .map((name) => `${name} = 0`)
  .join(', ');

const literal = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

/** Regular expression of a database as the qualifier of a table, quoted or not. */
const qualifierPattern = (database: string): string => {
  const escaped = database.replaceAll(/[^A-Za-z0-9_]/g, (one) => `\\${one}`);
  return `(^|[^A-Za-z0-9_])\`?${escaped}\`?\\.`;
};

/**
 * The engine converts to the declared types, with two exceptions: it prints UInt8 as 0 and 1 in place of Bool, and it reads `x != ''` and
 * `length(x)` from the subcolumn `x.size`, which LowCardinality and Enum columns do not have.
 */
const CAST_TYPES: ReadonlySet<string> = new Set(['Bool', 'String']);

/**
 * CREATE OR REPLACE VIEW. The view reads its tables as its definer, so readers need no grant on them. The engine writes the connection's database
 * into the view's text.
 */
export function viewStatement(
  view: PublicView,
  target: { database: string; onCluster: string; definer: string },
): string {
  const columns = view.columns.map(({ name, type, comment }) => `\`${name}\` ${type} COMMENT ${literal(comment)}`);
  const selected = view.columns.map(
    ({ name, type, expression }) =>
      `${CAST_TYPES.has(type) ? `CAST(${expression}, '${type}')` : expression} AS \`${name}\``,
  );
  return `CREATE OR REPLACE VIEW \`${target.database}\`.\`${view.name}\`${target.onCluster} (
      ${columns.join(',\n      ')}
    ) DEFINER = ${literal(target.definer)} SQL SECURITY DEFINER AS
    SELECT ${selected.join(',\n      ')}
    FROM ${view.from}
    SETTINGS ${FIXED_SETTINGS}
    COMMENT ${literal(commentOf(view))}`;
}

/**
 * Creates the public database and creates or replaces its views; their tables must exist. Safe to repeat and to run from several processes. Throws
 * FatalError when the database has a table with the name of a view, which CREATE OR REPLACE would drop with its rows, or a view of another database's
 * tables: analysts would silently read a copy that is still being loaded.
 */
export async function publishViews(options: {
  readonly client: ClickHouse;
  readonly database: string;
  readonly views: readonly PublicView[];
  readonly logger: Logger;
}): Promise<void> {
  const { client, database, views, logger } = options;
  const { onCluster } = ddlFor(client);
  await client.command(`CREATE DATABASE IF NOT EXISTS {name:Identifier}${onCluster}`, { name: database });
  const tables = await client.query<{ name: string }>(
    "SELECT name FROM system.tables WHERE database = {database:String} AND engine != 'View' AND name IN {names:Array(String)} ORDER BY name",
    { database, names: views.map(({ name }) => name) },
  );
  if (tables.length > 0)
    throw new FatalError(
      `Database ${database} has tables named ${tables.map(({ name }) => name).join(', ')}. Set ANALYST_DATABASE to another name: the public views need a separate database.`,
    );
  const [foreign] = await client.query<{ name: string; source: string }>(
    `SELECT name, extract(as_select, '(?:FROM|JOIN) ([^ (.]+)[.]') AS source FROM system.tables
      WHERE database = {database:String} AND engine = 'View' AND name IN {names:Array(String)} AND NOT match(as_select, {own:String})
      ORDER BY name LIMIT 1`,
    { database, names: views.map(({ name }) => name), own: qualifierPattern(client.database) },
  );
  if (foreign !== undefined)
    throw new FatalError(
      `View ${database}.${foreign.name} reads tables of ${foreign.source}, not of ${client.database}. Set ANALYST_DATABASE to another name for a second set of tables; to move the views to ${client.database}, drop database ${database} first.`,
    );
  const [user] = await client.query<{ name: string }>('SELECT currentUser() AS name');
  const definer = user?.name ?? 'default';
  for (const view of views) await client.command(viewStatement(view, { database, onCluster, definer }));
  logger.info({ database, views: views.length }, 'public views published');
}
