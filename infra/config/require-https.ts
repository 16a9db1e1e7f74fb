import { FatalError } from '../errors.js';
import { isLoopback } from '../up/loopback.js';
import type { ParsedEnvironment } from './environment.js';

/** Throws FatalError if a URL to which secrets are sent is neither https nor on loopback. An unset one is not checked. */
export function requireHttps(e: ParsedEnvironment, name: 'STRIPE_API_BASE' | 'OIDC_ISSUER' | 'SOCIAL_API_URL'): void {
  const url = e[name];
  if (url === undefined) return;
  const { protocol, hostname } = new URL(url);
  if (protocol !== 'https:' && !isLoopback(hostname))
    throw new FatalError(`Bad configuration:\n  ${name}: needs https, except on loopback`);
}
