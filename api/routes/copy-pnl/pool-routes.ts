import type { Route } from '../../http/route.js';
import { createPoolWalletRoutes, type PoolDeps } from './pool-wallets.js';

/** The pool of a key. These paths are registered before `/v2/copy-pnl/{wallet}`, whose pattern they match. */
export function createPoolRoutes(deps: PoolDeps): readonly Route[] {
  return createPoolWalletRoutes(deps);
}
