import { type Ddl, type Migration, singleServerDdl, type TableSpec } from '../../infra/clickhouse/ddl.js';
import { FatalError } from '../../infra/errors.js';
import { activityTables } from '../activity/tables.js';
import { catalogFamily } from '../catalog/family.js';
import { catalogTables } from '../catalog/tables.js';
import { chainFamily } from '../chain/family.js';
import { chainTables } from '../chain/tables.js';
import { fillsFamily } from '../fills/family.js';
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
  readonly migrations: readonly Migration[];
  readonly tables: readonly TableSpec[];
}

const sources: readonly (readonly [Family, ...Migration[]])[] = [
  [fillsFamily, fillsTables, fillTotals],
  [chainFamily, chainTables, resolutionsInOrder, activityTables],
  [oracleFamily, oracleTables],
  [catalogFamily, catalogTables, quoteTables],
  [usageFamily, usageTables],
  [walletEventsFamily, walletEventTables],
  [positionsFamily, positionsTables],
  [pnlFamily, pnlTables, comboTables],
];

/** The tables a migration makes. */
function tablesOf(migration: Migration): readonly TableSpec[] {
  const found: TableSpec[] = [];
  const collecting: Ddl = {
    ...singleServerDdl,
    table: (spec) => {
      found.push(spec);
      return [];
    },
  };
  migration.statements(collecting);
  return found;
}

const units: readonly Unit[] = sources.map(([family, ...migrations]) => ({
  family,
  migrations,
  tables: migrations.flatMap(tablesOf),
}));

/** `all`, or the unit a table belongs to. Throws FatalError that lists the tables for any other name. */
export function unitsFor(name: string | undefined): readonly Unit[] {
  if (name === 'all') return units;
  const unit = units.find(({ tables }) => tables.some((table) => table.name === name));
  if (unit !== undefined) return [unit];
  const names = units.flatMap(({ tables }) => tables.map((table) => table.name));
  throw new FatalError(`Rebuild what? One of: all, ${names.join(', ')}`);
}
