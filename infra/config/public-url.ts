import { FatalError } from '../errors.js';
import { isLoopback } from '../up/loopback.js';
import type { ParsedEnvironment } from './environment.js';

/**
 * Throws FatalError without PUBLIC_URL on a host beyond loopback, where links for users are needed because of `reason`: the default would lead them to
 * their own machine, or past the proxy.
 */
export function requirePublicUrl(e: ParsedEnvironment, reason: string): void {
  if (e.PUBLIC_URL !== undefined || isLoopback(e.ODDSTREAM_HOST)) return;
  const host = e.ODDSTREAM_HOST;
  throw new FatalError(`Bad configuration:\n  PUBLIC_URL: missing, although ODDSTREAM_HOST is ${host} and ${reason}`);
}
