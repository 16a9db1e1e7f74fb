import type { Ddl, IndexSpec, MaterializedViewSpec, Migration, TableSpec } from './ddl.js';

/** What all statements of a list of migrations together leave in a database without rows. */
export interface NewestSchema {
  readonly tables: readonly TableSpec[];
  /** In an order in which they can be created. */
  readonly views: readonly { readonly name: string; readonly select: string }[];
  readonly materializedViews: readonly MaterializedViewSpec[];
}

const indexColumn = ({ name, expression, type }: IndexSpec) => `,\n      INDEX ${name} ${expression} TYPE ${type}`;

/**
 * Collects the newest form of each table and view instead of creating and changing them. null when a migration has a statement of its own: only those
 * of Ddl can be collected. Throws when one changes what the columns of a table do not have.
 */
export function newestSchema(migrations: readonly Pick<Migration, 'statements'>[]): NewestSchema | null {
  /** undefined: dropped. A table that is created again keeps its place. */
  const tables = new Map<string, TableSpec | undefined>();
  const indexes = new Map<string, Map<string, IndexSpec>>();
  const views = new Map<string, string>();
  const materializedViews = new Map<string, MaterializedViewSpec>();
  const indexesOf = (table: string) => indexes.get(table) ?? new Map<string, IndexSpec>();
  const redefine = (spec: TableSpec, part: RegExp, replacement: string): void => {
    const known = tables.get(spec.name) ?? spec;
    const columns = known.columns.replace(part, replacement);
    if (columns === known.columns) throw new Error(`Table ${spec.name} has no ${part}`);
    tables.set(spec.name, { ...known, columns });
  };
  const forget = (table: string): void => {
    tables.set(table, undefined);
    indexes.delete(table);
  };
  const collecting: Ddl = {
    onCluster: '',
    table: (spec) => {
      tables.set(spec.name, spec);
      return [];
    },
    dropTable: (name) => {
      forget(name);
      return [];
    },
    materializedView: (spec) => {
      materializedViews.set(spec.name, spec);
      return [];
    },
    drop: ({ name, to }) => {
      materializedViews.delete(name);
      forget(to.name);
      return [];
    },
    backfill: () => [],
    view: (name, select) => {
      views.set(name, select);
      return [];
    },
    replaceView: (name, select) => {
      // It may read views that were created after its first form.
      views.delete(name);
      views.set(name, select);
      return [];
    },
    dropView: (name) => {
      materializedViews.delete(name);
      return [];
    },
    addColumn: (spec, column) => {
      redefine(spec, /$/, `,\n      ${column}`);
      return [];
    },
    dropColumns: (spec, names) => {
      for (const name of names) redefine(spec, new RegExp(`\\n +${name} [A-Za-z]+(\\([A-Za-z]+\\))?,`), '');
      return [];
    },
    hashesToBytes: (spec, names) => {
      for (const name of names) redefine(spec, new RegExp(`\\b${name} String\\b`), `${name} FixedString(32)`);
      return [];
    },
    deduplicationWindow: (spec, blocks) => {
      tables.set(spec.name, { ...(tables.get(spec.name) ?? spec), deduplicationWindow: blocks });
      return [];
    },
    index: (spec) => {
      indexes.set(spec.on.name, new Map(indexesOf(spec.on.name)).set(spec.name, spec));
      return [];
    },
    dropIndex: ({ name, on }) => {
      indexes.get(on.name)?.delete(name);
      return [];
    },
  };
  if (migrations.some(({ statements }) => statements(collecting).length > 0)) return null;
  const withIndexes = (spec: TableSpec): TableSpec => {
    const added = [...indexesOf(spec.name).values()].map(indexColumn);
    return { ...spec, columns: spec.columns + added.join('') };
  };
  return {
    tables: [...tables.values()].flatMap((spec) => (spec === undefined ? [] : [withIndexes(spec)])),
    views: [...views].map(([name, select]) => ({ name, select })),
    materializedViews: [...materializedViews.values()],
  };
}
