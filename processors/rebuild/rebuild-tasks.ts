import type { Ddl, MaterializedViewSpec, Migration, TableSpec } from '../../infra/clickhouse/ddl.js';
import { FatalError } from '../../infra/errors.js';
import { chainTokenTables } from '../activity/chain-tokens.js';
import { activityTables } from '../activity/tables.js';
import { catalogSink } from '../catalog/sink.js';
import { catalogTables } from '../catalog/tables.js';
import { tagTokenTables } from '../catalog/tag-tokens.js';
import { tokenTagTables } from '../catalog/token-tags.js';
import { chainSink } from '../chain/sink.js';
import { chainTables } from '../chain/tables.js';
import { chainCoverage, feedCoverage } from '../coverage/tables.js';
import { binaryHashes } from '../fills/binary-hashes.js';
import { fillsFineGranularity } from '../fills/fine-granularity.js';
import { matchesByDay } from '../fills/matches-by-day.js';
import { fillsSink } from '../fills/sink.js';
import { fillsTables } from '../fills/tables.js';
import { fillTotals, resolutionsInOrder } from '../fills/totals.js';
import { quoteTables } from '../markets/tables.js';
import { oracleSink } from '../oracle/sink.js';
import { oracleTables } from '../oracle/tables.js';
import { comboTables } from '../positions/combo-tables.js';
import { eventHoldings } from '../positions/event-holdings.js';
import { eventTransactions } from '../positions/event-transactions.js';
import { pnlSink, positionsSink } from '../positions/sink.js';
import { pnlTables, positionsTables } from '../positions/tables.js';
import type { SinkDefinition } from '../sink/sink-definition.js';
import { socialSink } from '../social/sink.js';
import { socialTables } from '../social/tables.js';
import { unknownLogTables } from '../unknown-logs/tables.js';
import { usageSink } from '../usage/sink.js';
import { usageKeys, usageTables } from '../usage/tables.js';
import { walletActivitySink } from '../wallet-activity/sink.js';
import { walletActivityTables } from '../wallet-activity/tables.js';
import { walletEventsSink } from '../wallet-events/sink.js';
import { walletEventTables } from '../wallet-events/tables.js';
import { walletTagsComputedTables } from '../wallet-tags/tables.js';

/** Tables that are rebuilt together: the tables of one sink and those that materialized views fill from them. */
export interface RebuildTask {
  readonly definition: SinkDefinition;
  readonly tables: readonly TableSpec[];
  /** Statements that create missing tables and views in the form of the newest migration. */
  readonly create: (ddl: Ddl) => readonly string[];
}

const taskSources: readonly (readonly [SinkDefinition, ...Pick<Migration, 'statements'>[]])[] = [
  [fillsSink, fillsTables, fillTotals, fillsFineGranularity, matchesByDay, binaryHashes],
  [chainSink, chainTables, resolutionsInOrder, activityTables, chainTokenTables, chainCoverage, unknownLogTables],
  [oracleSink, oracleTables, feedCoverage],
  [catalogSink, catalogTables, quoteTables, tagTokenTables, tokenTagTables],
  [usageSink, usageTables, usageKeys],
  [walletEventsSink, walletEventTables],
  [positionsSink, positionsTables],
  [pnlSink, pnlTables, comboTables, eventHoldings, eventTransactions],
  [walletActivitySink, walletActivityTables],
  [socialSink, socialTables],
];

/** Collects the tables and views that the migrations create; for one that a later migration recreates, the later form. */
function rebuildTaskOf(definition: SinkDefinition, migrations: readonly Pick<Migration, 'statements'>[]): RebuildTask {
  const tables = new Map<string, TableSpec>();
  const views = new Map<string, MaterializedViewSpec>();
  const redefine = (spec: TableSpec, part: RegExp, replacement: string): void => {
    const known = tables.get(spec.name) ?? spec;
    const columns = known.columns.replace(part, replacement);
    if (columns === known.columns) throw new Error(`Table ${spec.name} has no ${part}`);
    tables.set(spec.name, { ...known, columns });
  };
  const collecting: Ddl = {
    onCluster: '',
    table: (spec) => {
      tables.set(spec.name, spec);
      return [];
    },
    materializedView: (spec) => {
      views.set(spec.name, spec);
      return [];
    },
    drop: () => [],
    backfill: () => [],
    view: () => [],
    replaceView: () => [],
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
    dropView: (name) => {
      views.delete(name);
      return [];
    },
    index: () => [],
    deduplicationWindow: () => [],
    dropIndex: () => [],
  };
  for (const migration of migrations) migration.statements(collecting);
  return {
    definition,
    tables: [...tables.values()],
    create: (ddl) => [
      ...[...tables.values()].flatMap((spec) => ddl.table(spec)),
      ...[...views.values()].flatMap((spec) => ddl.materializedView(spec)),
    ],
  };
}

const rebuildTasks: readonly RebuildTask[] = taskSources.map(([definition, ...migrations]) =>
  rebuildTaskOf(definition, migrations),
);

/** Tables that processors compute again from those of the tasks, once they are emptied. */
export function computedTablesOf(tasks: readonly Pick<RebuildTask, 'definition'>[]): readonly TableSpec[] {
  const sources = [positionsSink.name, catalogSink.name];
  return tasks.some(({ definition }) => sources.includes(definition.name)) ? walletTagsComputedTables : [];
}

/** All tasks for `all`, or the task that a table belongs to. Throws FatalError that lists the tables for any other name. */
export function rebuildTasksFor(name: string | undefined): readonly RebuildTask[] {
  if (name === 'all') return rebuildTasks;
  const task = rebuildTasks.find(({ tables }) => tables.some((table) => table.name === name));
  if (task !== undefined) return [task];
  const names = rebuildTasks.flatMap(({ tables }) => tables.map((table) => table.name));
  const problem = name === undefined ? 'No table was named.' : `There is no table "${name}" to rebuild.`;
  throw new FatalError(`${problem} Use: npm run rebuild -- <table|all> [--check]\nTables: ${names.join(', ')}`);
}
