import { FatalError } from '../infra/errors.js';

/**
 * Tasks that a process runs together. `stream`: stream.events and accounts, which subscribers and requests wait for; needs no ClickHouse.
 * `tables`: everything that ends in tables.
 */
export const taskGroups = ['stream', 'tables'] as const;
export type TaskGroup = (typeof taskGroups)[number];

/** Role of the members that share the tasks of a group. */
export const roleOf = (group: TaskGroup): string => (group === 'tables' ? 'processors' : 'stream');

/** The groups that the arguments of the process name; all without arguments. */
export function taskGroupsOf(args: readonly string[]): readonly TaskGroup[] {
  const unknown = args.find((arg) => !(taskGroups as readonly string[]).includes(arg));
  if (unknown !== undefined)
    throw new FatalError(`Unknown task group ${unknown}: use ${taskGroups.join(' or ')}, or none to run all`);
  return args.length === 0 ? taskGroups : taskGroups.filter((group) => args.includes(group));
}
