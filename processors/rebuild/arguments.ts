import { FatalError } from '../../infra/errors.js';
import { type RebuildTask, rebuildTasksFor } from './rebuild-tasks.js';

export interface RebuildArguments {
  readonly tasks: readonly RebuildTask[];
  readonly checkOnly: boolean;
}

/** Arguments of `npm run rebuild -- <table|all> [--check]`. Throws FatalError that says what is possible. */
export function parseRebuildArguments(args: readonly string[]): RebuildArguments {
  const flags = args.filter((arg) => arg.startsWith('-'));
  const unknown = flags.find((flag) => flag !== '--check');
  if (unknown !== undefined) throw new FatalError(`Unknown option ${unknown}; the only one is --check`);
  const names = args.filter((arg) => !arg.startsWith('-'));
  if (names.length > 1) throw new FatalError(`One table or all, not ${names.join(' ')}`);
  return { tasks: rebuildTasksFor(names[0]), checkOnly: flags.length > 0 };
}
