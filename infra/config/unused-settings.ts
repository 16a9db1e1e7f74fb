import { FatalError } from '../errors.js';
import type { ParsedEnvironment } from './environment.js';

/** Throws FatalError that names the first of `names` that is given, although it has no effect because of `reason`. */
export function rejectUnused(e: ParsedEnvironment, names: readonly (keyof ParsedEnvironment)[], reason: string): void {
  const given = names.find((name) => e[name] !== undefined);
  if (given !== undefined) throw new FatalError(`Bad configuration:\n  ${given}: given, although ${reason}`);
}
