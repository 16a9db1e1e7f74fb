import { commonLimits } from '../../schemas/plans.js';
import type { PoolChange } from '../../schemas/types.gen.js';

/** Wallets of a pool after a command, ascending, and what the command did. */
export interface PoolResult {
  readonly wallets: readonly string[];
  readonly change: PoolChange;
}

/** Adds the wallets that are not in the pool, in the order of `addresses`, until the pool is full. A repeated address counts once. */
export function addToPool(pool: readonly string[], addresses: readonly string[]): PoolResult {
  const tracked = new Set(pool);
  const requested = [...new Set(addresses)];
  const missing = requested.filter((address) => !tracked.has(address));
  const added = missing.slice(0, Math.max(0, commonLimits.copyPnlPoolWallets - tracked.size));
  const wallets = [...pool, ...added].sort();
  return {
    wallets,
    change: {
      added: added.length,
      already_tracked: requested.length - missing.length,
      removed: 0,
      total: wallets.length,
    },
  };
}

/** Removes the wallets that are in the pool. */
export function removeFromPool(pool: readonly string[], addresses: readonly string[]): PoolResult {
  const leaving = new Set(addresses);
  const wallets = pool.filter((wallet) => !leaving.has(wallet));
  const change = { added: 0, already_tracked: 0, removed: pool.length - wallets.length, total: wallets.length };
  return { wallets, change };
}
