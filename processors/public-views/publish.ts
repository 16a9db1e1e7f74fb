import type { ClickHouse } from '../../infra/clickhouse/client.js';
import { ddlFor } from '../../infra/clickhouse/cluster-ddl.js';
import { FatalError } from '../../infra/errors.js';
import type { Logger } from '../../infra/telemetry/logger.js';
import type { PublicView } from './spec.js';
import { commentOf } from './views.js';

const literal = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

/**
 * CREATE OR REPLACE VIEW. Its readers need no grant on the tables below it: it reads them as its definer. `tables` is the connection's database, which
 * the engine writes into the view's text.
 */
export function viewStatement(view: PublicView, own: { database: string; onCluster: string; definer: string }): string {
  const columns = view.columns.map(({ name, type, comment }) => `\`${name}\` ${type} COMMENT ${literal(comment)}`);
  // The engine converts to the declared types, but takes a UInt8 for a Bool as it is, and then prints 0 and 1.
  const selected = view.columns.map(
    ({ name, type, expression }) => `${type === 'Bool' ? `CAST(${expression}, 'Bool')` : expression} AS \`${name}\``,
  );
  return `CREATE OR REPLACE VIEW \`${own.database}\`.\`${view.name}\`${own.onCluster} (
      ${columns.join(',\n      ')}
    ) DEFINER = ${literal(own.definer)} SQL SECURITY DEFINER AS
    SELECT ${selected.join(',\n      ')}
    FROM ${view.from}
    COMMENT ${literal(commentOf(view))}`;
}

/**
 * Creates the public database and puts this version's text into its views; their tables exist already. Safe to repeat and to run from several processes. FatalError when
 * the database holds a table under the name of a view, which CREATE OR REPLACE would drop with its rows.
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
      `Database ${database} holds tables of its own named ${tables.map(({ name }) => name).join(', ')}. Set ANALYST_DATABASE to another name: the public views need a database for themselves.`,
    );
  const [who] = await client.query<{ name: string }>('SELECT currentUser() AS name');
  const definer = who?.name ?? 'default';
  for (const view of views) await client.command(viewStatement(view, { database, onCluster, definer }));
  logger.info({ database, views: views.length }, 'public views published');
}
