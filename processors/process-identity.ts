import { hostname } from 'node:os';
import { FatalError } from '../infra/errors.js';

export interface ProcessIdentity {
  /** Name among the processes that share tasks. */
  readonly member: string;
  /** Directory of the state stores below `state` in the data directory. One per process of a machine: a store has one write lock, which a suspended process may keep. */
  readonly stateDirectory: string;
}

/**
 * Both contain the configured admin port, so that a process finds its state again after a restart; with port 0, which is another one at each start, the
 * member name. Throws FatalError when there is neither.
 */
export function processIdentity(options: {
  readonly adminPort: number;
  readonly memberName: string | undefined;
  /** The setting of the port. */
  readonly portVariable: string;
}): ProcessIdentity {
  const { adminPort, memberName, portVariable } = options;
  if (adminPort !== 0) return { member: memberName ?? `${hostname()}:${adminPort}`, stateDirectory: String(adminPort) };
  if (memberName === undefined)
    throw new FatalError(
      `Bad configuration:\n  ${portVariable}: port 0 is another one at each start, so the process would not find its state again; set a port, or MEMBER_NAME`,
    );
  // A name may be `..`, or equal the port of another process.
  return { member: memberName, stateDirectory: `member-${memberName}` };
}
