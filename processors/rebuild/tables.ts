import type { Ddl, MaterializedViewSpec, Migration, TableSpec } from '../../infra/clickhouse/ddl.js';
import { FatalError } from '../../infra/errors.js';
import { chainTokenTables } from '../activity/chain-tokens.js';
import { activityTables } from '../activity/tables.js';
import { catalogFamily } from '../catalog/family.js';
import { catalogTables } from '../catalog/tables.js';
import { chainFamily } from '../chain/family.js';
import { chainTables } from '../chain/tables.js';
import { chainCoverage, feedCoverage } from '../coverage/tables.js';
import { matchesByDay } from '../fills/by-day.js';
import { fillsFamily } from '../fills/family.js';
import { finerFills } from '../fills/finer.js';
import { fillsTables } from '../fills/tables.js';
import { fillTotals, resolutionsInOrder } from '../fills/totals.js';
import { quoteTables } from '../markets/tables.js';
import { oracleFamily } from '../oracle/family.js';
import { oracleTables } from '../oracle/tables.js';
import { comboTables } from '../positions/combo-tables.js';
import { pnlFamily, positionsFamily } from '../positions/family.js';
import { pnlTables, positionsTables } from '../positions/tables.js';
import type { Family } from '../sink/family.js';
import { usageFamily } from '../usage/family.js';
import { usageTables } from '../usage/tables.js';
import { walletEventsFamily } from '../wallet-events/family.js';
import { walletEventTables } from '../wallet-events/tables.js';

/** Tables that are rebuilt together: those one sink writes, and those materialized views fill from them. */
export interface Unit {
  readonly family: Family;
  readonly tables: readonly TableSpec[];
  /** Makes what is missing of the tables and their views, as the newest migration has them. */
  readonly create: (ddl: Ddl) => readonly string[];
}

const sources: readonly (readonly [Family, ...Pick<Migration, 'statements'>[]])[] = [
  [fillsFamily, fillsTables, fillTotals, finerFills, matchesByDay],
  [chainFamily, chainTables, resolutionsInOrder, activityTables, chainTokenTables, chainCoverage],
  [oracleFamily, oracleTables, feedCoverage],
  [catalogFamily, catalogTables, quoteTables],
  [usageFamily, usageTables],
  [walletEventsFamily, walletEventTables],
  [positionsFamily, positionsTables],
  [pnlFamily, pnlTables, comboTables],
];

/** Tables and views that migrations make; of one that a later migration makes anew, the later form. */
function unitOf(family: Family, migrations: readonly Pick<Migration, 'statements'>[]): Unit {
  const tables = new Map<string, TableSpec>();
  const views = new Map<string, MaterializedViewSpec>();
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
    index: () => [],
  };
  for (const migration of migrations) migration.statements(collecting);
  return {
    family,
    tables: [...tables.values()],
    create: (ddl) => [
      ...[...tables.values()].flatMap((spec) => ddl.table(spec)),
      ...[...views.values()].flatMap((spec) => ddl.materializedView(spec)),
    ],
  };
}

const units: readonly Unit[] = sources.map(([family, ...migrations]) => unitOf(family, migrations));

/** `all`, or the unit a table belongs to. Throws FatalError that lists the tables for any other name. */
export function unitsFor(name: string | undefined): readonly Unit[] {
  if (name === 'all') return units;
  const unit = units.find(({ tables }) => tables.some((table) => table.name === name));
  if (unit !== undefined) return [unit];
  const names = units.flatMap(({ tables }) => tables.map((table) => table.name));
  throw new FatalError(`Rebuild what? One of: all, ${names.join(', ')}`);
}
