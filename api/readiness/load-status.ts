import { z } from 'zod';
import type { Check } from '../../infra/telemetry/readiness.js';
import { isoFrom } from '../tables/values.js';
import { type TableGroup, tableGroups } from './table-groups.js';

/** A loaded table group with a larger lag is reported as lagging. */
export const MAX_LAG_S = 60;

/** Load progress of a table group. */
export interface TableGroupState {
  readonly table: TableGroup;
  /** `empty`: no row yet. `loading`: part of the history. `loaded`: all history that the source announced. */
  readonly state: 'empty' | 'loading' | 'loaded';
  /** Records of the log that are in the tables. */
  readonly position: number;
  /** Records of the complete history; null while unknown. */
  readonly target: number | null;
  /** Loaded share of the history, rounded down; null while its size is unknown. */
  readonly percent: number | null;
  /** All records up to this block are in the tables; null while unknown and for sources without blocks. */
  readonly throughBlock: number | null;
  /** All records before this time are in the tables. */
  readonly throughMs: number | null;
  /** Age of the oldest record that is not in the tables; 0 if there is none. */
  readonly lagS: number;
}

export interface LoadStatus {
  readonly groups: Readonly<Record<TableGroup, TableGroupState>>;
  /** Every table group is loaded. */
  readonly ready: boolean;
}

export const tableGroupSchema = z.object({
  table: z.enum(tableGroups as [TableGroup, ...TableGroup[]]),
  state: z
    .enum(['empty', 'loading', 'loaded', 'lagging'])
    .meta({ description: '`lagging`: loaded, but more than a minute behind the log.' }),
  position: z.int().meta({ description: 'Records of the log that are in the tables.' }),
  target: z.int().nullable().meta({ description: 'Number of records of the complete history; null while unknown.' }),
  percent: z
    .int()
    .nullable()
    .meta({ description: 'Loaded share of the history, rounded down; null while its size is unknown.' }),
  complete_through_block: z.int().nullable().meta({ description: 'The table is complete up to this block.' }),
  complete_through: z.string().nullable().meta({ description: 'The table is complete before this time.' }),
  lag_seconds: z.int().meta({ description: 'Age of the oldest record that is not in the tables yet.' }),
});

/** Example of the OpenAPI document. */
export const exampleTableGroup: z.input<typeof tableGroupSchema> = {
  table: 'fills',
  state: 'loaded',
  position: 240000,
  target: 238000,
  percent: 100,
  complete_through_block: 90999989,
  complete_through: '2027-04-12T10:00:00Z',
  lag_seconds: 0,
};

/** Serializes a table group. */
export function tableGroupEntry(group: TableGroupState): z.input<typeof tableGroupSchema> {
  const lagging = group.state === 'loaded' && group.lagS > MAX_LAG_S;
  return {
    table: group.table,
    state: lagging ? 'lagging' : group.state,
    position: group.position,
    target: group.target,
    percent: group.percent,
    complete_through_block: group.throughBlock,
    complete_through: isoFrom(group.throughMs),
    lag_seconds: group.lagS,
  };
}

/** Readiness check of the admin server: loading until every table group is loaded. */
export function loadStatusCheck(loading: LoadStatus | null): Check {
  if (loading === null) return { ok: false, loading: true, detail: 'load progress is not measured yet' };
  return loading.ready ? { ok: true } : { ok: false, loading: true, detail: loadStatusText(loading) };
}

/** Table groups that are not loaded yet: `fills 34 %, positions 12 %`. */
export function loadStatusText(loading: LoadStatus): string {
  return Object.values(loading.groups)
    .filter(({ state }) => state !== 'loaded')
    .map(({ table, percent }) => (percent === null ? table : `${table} ${percent} %`))
    .join(', ');
}
