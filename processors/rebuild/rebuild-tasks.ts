import type { Ddl, Migration, TableSpec } from '../../infra/clickhouse/ddl.js';
import { type NewestSchema, newestSchema } from '../../infra/clickhouse/newest-schema.js';
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
import { migrations } from '../migrations.js';
import { oracleSink } from '../oracle/sink.js';
import { oracleTables } from '../oracle/tables.js';
import { comboTables } from '../positions/combo-tables.js';
import { eventHoldings } from '../positions/event-holdings.js';
import { eventTransactions } from '../positions/event-transactions.js';
import { pnlSink, positionsSink } from '../positions/sink.js';
import { pnlTables, positionsTables } from '../positions/tables.js';
import type { SinkDefinition } from '../sink/sink-definition.js';
import { sinkTables } from '../sink/tables.js';
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
  /** Statements that create missing tables, indexes and materialized views in their newest form. */
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

function schemaOf(list: readonly Pick<Migration, 'statements'>[]): NewestSchema {
  const schema = newestSchema(list);
  if (schema === null) throw new Error('A migration has statements of its own, so the newest tables are not known');
  return schema;
}
const newest = schemaOf(migrations);

/** The newest form of what these migrations create: the tables, and the statements that create them and the views that fill them. */
function newestOf(creating: readonly Pick<Migration, 'statements'>[]): Pick<RebuildTask, 'tables' | 'create'> {
  const created = schemaOf(creating);
  const namesOf = (list: readonly { readonly name: string }[]) => new Set(list.map(({ name }) => name));
  const [ownTables, ownViews] = [namesOf(created.tables), namesOf(created.materializedViews)];
  const tables = newest.tables.filter(({ name }) => ownTables.has(name));
  const views = newest.materializedViews.filter(({ name }) => ownViews.has(name));
  return {
    tables,
    create: (ddl) => [
      ...tables.flatMap((spec) => ddl.table(spec)),
      ...views.flatMap((spec) => ddl.materializedView(spec)),
    ],
  };
}

/** Creates the table of chunks, which every sink needs. */
export const createChunksTable = newestOf([sinkTables]).create;

const rebuildTasks: readonly RebuildTask[] = taskSources.map(([definition, ...creating]) => ({
  definition,
  ...newestOf(creating),
}));

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
