import { FatalError } from '../errors.js';
import {
  addIndex,
  convertHashes,
  createTable,
  type Ddl,
  DEDUPLICATION_WINDOW,
  dropColumnsFrom,
  singleServerDdl,
  type TableSpec,
} from './ddl.js';

const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** A week: longer than any insert is retried. The server's default of one hour is shorter. */
const DEDUPLICATION_WINDOW_SECONDS = 604_800;

/**
 * DDL of a replicated, sharded cluster. Nodes need the macros `{shard}` and `{replica}`, Keeper, and `internal_replication` on.
 *
 * - A sharded table `t` is `t_local` on every shard (ReplicatedMergeTree family) and `t`, a Distributed table over them, so queries and
 *   inserts use the name `t` as on a single server. Inserts are distributed in the foreground, and an insert's token reaches every shard
 *   that gets rows of it: each shard drops a block that it already has.
 * - Materialized views read `t_local` and write the `_local` of their target. They must not write a Distributed table: parts of one
 *   insert that come from two source shards would reach a target shard under the same token, and the second would be dropped.
 *   So a target is sharded as its source is, and a query by the target's sorting key reads every shard.
 * - Tables `everywhere` are one replicated set over all shards, under the table's name.
 *
 * Keeper paths contain the table's UUID, which ON CLUSTER assigns equally on all nodes: tables can be renamed and recreated.
 * Throws FatalError when a name is not an identifier.
 */
export function clusterDdl(options: { cluster: string; database: string }): Ddl {
  const { cluster, database } = options;
  for (const name of [cluster, database])
    if (!IDENTIFIER.test(name)) throw new FatalError(`Not a name for a cluster or its database: ${name}`);
  const onCluster = ` ON CLUSTER ${cluster}`;
  const settingsOf = (spec: TableSpec) => [
    `replicated_deduplication_window = ${spec.deduplicationWindow ?? DEDUPLICATION_WINDOW}`,
    `replicated_deduplication_window_seconds = ${DEDUPLICATION_WINDOW_SECONDS}`,
  ];
  const replicated = (spec: TableSpec, path: string, replica: string) =>
    `Replicated${spec.engine}(${[`'/clickhouse/tables/{uuid}/${path}'`, `'${replica}'`, ...(spec.engineArgs ?? [])].join(', ')})`;

  return {
    onCluster,
    table: (spec) => {
      if (spec.placement === 'everywhere') {
        const engine = replicated(spec, 'everywhere', '{shard}-{replica}');
        return [createTable(spec, { name: spec.name, onCluster, engine, settings: settingsOf(spec) })];
      }
      const local = localName(spec);
      const target = [cluster, database, local].map((name) => `'${name}'`);
      if (spec.placement !== 'with its source') target.push(spec.placement.shardBy);
      return [
        createTable(spec, {
          name: local,
          onCluster,
          engine: replicated(spec, '{shard}', '{replica}'),
          settings: settingsOf(spec),
        }),
        `CREATE TABLE IF NOT EXISTS ${spec.name}${onCluster} AS ${local} ENGINE = Distributed(${target.join(', ')})`,
      ];
    },
    dropTable: (name) => [`DROP TABLE IF EXISTS ${name}${onCluster} SYNC`],
    materializedView: ({ name, from, to, select }) => [
      `CREATE MATERIALIZED VIEW IF NOT EXISTS ${name}${onCluster} TO ${localName(to)} AS\n    ${select(localName(from))}`,
    ],
    backfill: () => [],
    view: (name, select) => [`CREATE VIEW IF NOT EXISTS ${name}${onCluster} AS\n    ${select}`],
    replaceView: (name, select) => [`CREATE OR REPLACE VIEW ${name}${onCluster} AS\n    ${select}`],
    drop: ({ name, to }) => [
      `DROP VIEW IF EXISTS ${name}${onCluster} SYNC`,
      `DROP TABLE IF EXISTS ${to.name}${onCluster} SYNC`,
      ...(to.placement === 'everywhere' ? [] : [`DROP TABLE IF EXISTS ${localName(to)}${onCluster} SYNC`]),
    ],
    addColumn: (spec, column) =>
      tablesOf(spec).map((table) => `ALTER TABLE ${table}${onCluster} ADD COLUMN IF NOT EXISTS ${column}`),
    dropColumns: (spec, names) => dropColumnsFrom(names, { tables: tablesOf(spec), onCluster }),
    hashesToBytes: (spec, columns) =>
      convertHashes(columns, { stored: localName(spec), tables: tablesOf(spec), onCluster }),
    dropView: (name) => [`DROP VIEW IF EXISTS ${name}${onCluster} SYNC`],
    deduplicationWindow: (spec, blocks) => [
      `ALTER TABLE ${localName(spec)}${onCluster} MODIFY SETTING replicated_deduplication_window = ${blocks}`,
    ],
    index: (spec) => addIndex(spec, { table: localName(spec.on), onCluster }),
    dropIndex: ({ name, on }) => [`ALTER TABLE ${localName(on)}${onCluster} DROP INDEX IF EXISTS ${name}`],
  };
}

/** The table that stores the rows first. A complete copy on each node has no Distributed table. */
const tablesOf = (spec: TableSpec): readonly string[] =>
  spec.placement === 'everywhere' ? [spec.name] : [localName(spec), spec.name];

/** The DDL of the target: of a cluster when one is named, else of a single server. */
export function ddlFor(target: { readonly cluster?: string; readonly database: string }): Ddl {
  return target.cluster === undefined
    ? singleServerDdl
    : clusterDdl({ cluster: target.cluster, database: target.database });
}

/** The name of the table that stores a node's rows of a table. */
export function localName(spec: TableSpec): string {
  return spec.placement === 'everywhere' ? spec.name : `${spec.name}_local`;
}
