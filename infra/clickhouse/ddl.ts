import { bytesOfHex } from './hex.js';

export type MergeTreeEngine = 'MergeTree' | 'ReplacingMergeTree' | 'AggregatingMergeTree' | 'SummingMergeTree';

/**
 * The placement of a table's rows in a cluster; a single server ignores it.
 * - `shardBy`: an integer expression of the columns that selects the shard. All versions of one sorting key must have the same value,
 *   else FINAL cannot collapse them.
 * - `with its source`: filled by a materialized view, so a row stays on the shard of the row it came from.
 * - `everywhere`: a complete copy on each node, for small tables that others are joined with.
 */
export type Placement = { readonly shardBy: string } | 'with its source' | 'everywhere';

export interface TableSpec {
  readonly name: string;
  /** Columns and indices: the text between the parentheses of CREATE TABLE. */
  readonly columns: string;
  readonly engine: MergeTreeEngine;
  /** Arguments of the engine, e.g. the version column of a ReplacingMergeTree. */
  readonly engineArgs?: readonly string[];
  readonly partitionBy?: string;
  readonly orderBy: string;
  /** When rows expire, e.g. `at + INTERVAL 1 DAY`. */
  readonly ttl?: string;
  /** Further table settings, e.g. `index_granularity = 256`. */
  readonly settings?: readonly string[];
  /** Inserted blocks that the table remembers; default: `DEDUPLICATION_WINDOW`. */
  readonly deduplicationWindow?: number;
  readonly placement: Placement;
}

export interface MaterializedViewSpec {
  readonly name: string;
  readonly from: TableSpec;
  readonly to: TableSpec;
  /** The SELECT, given the name of the table it reads. */
  readonly select: (from: string) => string;
}

/** A data skipping index: excludes granules that cannot contain rows of a query. */
export interface IndexSpec {
  readonly name: string;
  readonly on: TableSpec;
  readonly expression: string;
  /** Type and granularity, e.g. `bloom_filter(0.01) GRANULARITY 1`. */
  readonly type: string;
}

/** Writes every CREATE statement, for a single server or for a cluster. */
export interface Ddl {
  /** '' or ` ON CLUSTER <name>`; goes right after the name in a statement. */
  readonly onCluster: string;
  /** The table and, when it is sharded, the Distributed table of its name. */
  table(spec: TableSpec): readonly string[];
  /** Drops a table that has a complete copy on each node. */
  dropTable(name: string): readonly string[];
  /** A view that runs on each node on the rows inserted there. */
  materializedView(spec: MaterializedViewSpec): readonly string[];
  /**
   * Fills a view's target with the rows that its source had before the view was created; no process may write the source meanwhile. Empty on
   * a cluster, where no single statement reads and writes each node's local rows: rebuild the tables there.
   */
  backfill(spec: MaterializedViewSpec): readonly string[];
  view(name: string, select: string): readonly string[];
  /** Replaces the view's SELECT. */
  replaceView(name: string, select: string): readonly string[];
  /** For a view that is created again with another SELECT. After MODIFY QUERY instead, a chunk that is inserted again would be stored twice by the view. */
  dropView(name: string): readonly string[];
  /** Drops a view and its target with all rows; the caller recreates both. */
  drop(spec: Pick<MaterializedViewSpec, 'name' | 'to'>): readonly string[];
  /** Adds a column that the table's spec does not have; existing rows read the type's default. `column`: name and type. */
  addColumn(spec: TableSpec, column: string): readonly string[];
  dropColumns(spec: TableSpec, names: readonly string[]): readonly string[];
  /**
   * Stores 32-byte hashes as FixedString(32) that were text of `0x` and 64 digits. No index may contain the columns, no view may fill the table and no
   * process may write it meanwhile.
   */
  hashesToBytes(spec: TableSpec, columns: readonly string[]): readonly string[];
  /** Changes how many inserted blocks the table remembers; a new table remembers `DEDUPLICATION_WINDOW`. */
  deduplicationWindow(spec: TableSpec, blocks: number): readonly string[];
  /** Adds the index to the table that stores the rows, and builds it over existing rows in the background. */
  index(spec: IndexSpec): readonly string[];
  dropIndex(spec: IndexSpec): readonly string[];
}

/** The DDL for migrations of a database without rows: it backfills no views, converts no values and builds no indices. */
export const emptyDatabaseDdl = (ddl: Ddl): Ddl => ({
  ...ddl,
  backfill: () => [],
  hashesToBytes: (...args) => ddl.hashesToBytes(...args).filter((statement) => !statement.includes(UPDATE)),
  index: (spec) => ddl.index(spec).filter((statement) => !statement.includes(MATERIALIZE)),
});

/** One step of the schema's history, applied once, in order of the list, and never edited after it has shipped. */
export interface Migration {
  /** `0001_name`; unique and ascending. */
  readonly id: string;
  /**
   * One statement per entry. Unqualified table names: the connection's database is the target. The product's own come from `Ddl`, so that
   * `newestSchema` can collect them.
   */
  readonly statements: (ddl: Ddl) => readonly string[];
}

/** Number of inserted blocks whose tokens a table remembers, so that a repeated insert has no effect. */
export const DEDUPLICATION_WINDOW = 1000;

/** CREATE TABLE with the engine clause, name and deduplication settings of one kind of deployment. */
export function createTable(
  spec: TableSpec,
  target: { name: string; onCluster: string; engine: string; settings: readonly string[] },
): string {
  const partition = spec.partitionBy === undefined ? '' : `\n    PARTITION BY ${spec.partitionBy}`;
  return `CREATE TABLE IF NOT EXISTS ${target.name}${target.onCluster} (${spec.columns}
    ) ENGINE = ${target.engine}${partition}
    ORDER BY ${spec.orderBy}${spec.ttl === undefined ? '' : `\n    TTL ${spec.ttl}`}
    SETTINGS ${[...target.settings, ...(spec.settings ?? [])].join(', ')}`;
}

const MATERIALIZE = ' MATERIALIZE INDEX ';

/** ALTER TABLE statements that add an index to the target table and build it. */
export function addIndex(spec: IndexSpec, target: { table: string; onCluster: string }): readonly string[] {
  const alter = `ALTER TABLE ${target.table}${target.onCluster}`;
  return [
    `${alter} ADD INDEX IF NOT EXISTS ${spec.name} ${spec.expression} TYPE ${spec.type}`,
    `${alter}${MATERIALIZE}${spec.name}`,
  ];
}

const UPDATE = ' UPDATE ';

/**
 * Statements that convert text of hashes to bytes, in the table that stores the rows, and then the type in all of its tables. Repeating them has no effect,
 * whatever statement a killed process was at: bytes are no text of 66 characters.
 */
export function convertHashes(
  columns: readonly string[],
  target: { stored: string; tables: readonly string[]; onCluster: string },
): readonly string[] {
  // The initiator of a statement ON CLUSTER gives up after three minutes by default.
  const ddlTimeout = target.onCluster === '' ? '' : ', distributed_ddl_task_timeout = 3600';
  const wait = `SETTINGS mutations_sync = 2, alter_sync = 2${ddlTimeout}`;
  return [
    ...columns.map(
      (column) =>
        `ALTER TABLE ${target.stored}${target.onCluster}${UPDATE}${column} = ${bytesOfHex(column)} WHERE length(${column}) = 66 ${wait}`,
    ),
    ...target.tables.map((table) => {
      const changes = columns.map((column) => `MODIFY COLUMN ${column} FixedString(32)`);
      return `ALTER TABLE ${table}${target.onCluster} ${changes.join(', ')} ${wait}`;
    }),
  ];
}

/** Statements that drop columns from all tables of a spec. */
export const dropColumnsFrom = (
  names: readonly string[],
  target: { tables: readonly string[]; onCluster: string },
): readonly string[] =>
  target.tables.map(
    (table) =>
      `ALTER TABLE ${table}${target.onCluster} ${names.map((name) => `DROP COLUMN IF EXISTS ${name}`).join(', ')}`,
  );

/** A backfill aggregates a complete table within the memory limit of one query of the embedded engine. */
const LOW_MEMORY_SETTINGS =
  'max_threads = 1, max_block_size = 16384, max_bytes_before_external_group_by = 50000000, min_insert_block_size_rows = 65536, min_insert_block_size_bytes = 33554432';

export const singleServerDdl: Ddl = {
  onCluster: '',
  table: (spec) => [
    createTable(spec, {
      name: spec.name,
      onCluster: '',
      engine: `${spec.engine}(${(spec.engineArgs ?? []).join(', ')})`,
      settings: [`non_replicated_deduplication_window = ${spec.deduplicationWindow ?? DEDUPLICATION_WINDOW}`],
    }),
  ],
  dropTable: (name) => [`DROP TABLE IF EXISTS ${name} SYNC`],
  materializedView: ({ name, from, to, select }) => [
    `CREATE MATERIALIZED VIEW IF NOT EXISTS ${name} TO ${to.name} AS\n    ${select(from.name)}`,
  ],
  backfill: ({ from, to, select }) => [
    `TRUNCATE TABLE ${to.name}`,
    `INSERT INTO ${to.name} ${select(from.name)} SETTINGS ${LOW_MEMORY_SETTINGS}`,
  ],
  view: (name, select) => [`CREATE VIEW IF NOT EXISTS ${name} AS\n    ${select}`],
  drop: ({ name, to }) => [`DROP VIEW IF EXISTS ${name} SYNC`, `DROP TABLE IF EXISTS ${to.name} SYNC`],
  replaceView: (name, select) => [`CREATE OR REPLACE VIEW ${name} AS\n    ${select}`],
  addColumn: ({ name }, column) => [`ALTER TABLE ${name} ADD COLUMN IF NOT EXISTS ${column}`],
  dropColumns: ({ name }, names) => dropColumnsFrom(names, { tables: [name], onCluster: '' }),
  hashesToBytes: ({ name }, columns) => convertHashes(columns, { stored: name, tables: [name], onCluster: '' }),
  dropView: (name) => [`DROP VIEW IF EXISTS ${name} SYNC`],
  deduplicationWindow: ({ name }, blocks) => [
    `ALTER TABLE ${name} MODIFY SETTING non_replicated_deduplication_window = ${blocks}`,
  ],
  index: (spec) => addIndex(spec, { table: spec.on.name, onCluster: '' }),
  dropIndex: ({ name, on }) => [`ALTER TABLE ${on.name} DROP INDEX IF EXISTS ${name}`],
};
