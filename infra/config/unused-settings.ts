import { FatalError } from '../errors.js';
import type { ParsedEnvironment } from './environment.js';

/** Throws FatalError that names the first of `names` that is given in `e`, although it has no effect because of `reason`. */
export function rejectUnused<T extends object>(e: T, names: readonly (keyof T & string)[], reason: string): void {
  const given = names.find((name) => e[name] !== undefined);
  if (given !== undefined) throw new FatalError(`Bad configuration:\n  ${given}: given, although ${reason}`);
}

const LIVE_SETTINGS = [
  'POLYGON_WS_URL',
  'CHAIN_START_BLOCK',
  'RTDS_URL',
  'GAMMA_URL',
  'ORDERBOOK_WS_URL',
  'ORDERBOOK_REST_URL',
];

/** Throws FatalError when settings of live input are `given` without a node, which selects the recorded input, or the other way round. */
export function rejectUnusedSources(e: ParsedEnvironment, given: Readonly<Record<string, string | undefined>>): void {
  if (e.POLYGON_RPC_URL === undefined) rejectUnused(given, LIVE_SETTINGS, 'POLYGON_RPC_URL is missing');
  else if (e.RECORDED_HISTORY_ONLY) rejectUnused(e, ['RECORDED_HISTORY_ONLY'], 'POLYGON_RPC_URL selects live input');
}
