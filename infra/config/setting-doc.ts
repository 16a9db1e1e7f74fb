import type { z } from 'zod';

/** Headings of docs/CONFIGURATION.md, in its order. */
export const settingGroups = [
  'General',
  'API and event socket',
  'Accounts',
  'Sources',
  'Log and schema registry',
  'ClickHouse',
  'SQL for analysts',
  'Monitoring',
] as const;
export type SettingGroup = (typeof settingGroups)[number];

/** Documentation of a variable in docs/CONFIGURATION.md. */
export interface SettingDoc {
  readonly group: SettingGroup;
  readonly description: string;
  /** Effective value when the variable is unset and the schema itself has no default. */
  readonly unset?: string;
}

/** Type, default and documentation of one environment variable. */
export const setting = <T extends z.ZodType>(type: T, group: SettingGroup, description: string, unset?: string): T =>
  type.meta({ group, description, unset } satisfies SettingDoc);
