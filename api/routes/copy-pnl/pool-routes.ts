import { createPoolScoresReader } from '../../copy-pnl/pool-scores.js';
import type { Route } from '../../http/route.js';
import type { Tables } from '../../tables/port.js';
import { createPoolLeaderboardRoute } from './pool-leaderboard.js';
import { createPoolSnapshotRoute } from './pool-snapshot.js';
import { createPoolWalletRoutes, type PoolDeps } from './pool-wallets.js';

/** The pool of a key. These paths are registered before `/v2/copy-pnl/{wallet}`, whose pattern they match. */
export function createPoolRoutes(deps: PoolDeps & { readonly tables: Tables }): readonly Route[] {
  const reading = { ...deps, scores: createPoolScoresReader(deps) };
  return [...createPoolWalletRoutes(deps), createPoolSnapshotRoute(reading), createPoolLeaderboardRoute(reading)];
}
