import type { AccountState } from '../../schemas/types.gen.js';

/** The copy-PnL wallets of every key. */
export interface PoolDirectory {
  /** Wallets that the key with this SHA-256 tracks, ascending. */
  walletsOf(keyHash: string): readonly string[];
}

const PREFIX = 'pool:';
const EMPTY: readonly string[] = [];

/** Pools by key hash. `apply` takes every record of accounts.state in order, as the accounts' read model reports them. */
export function createPoolDirectory(): PoolDirectory & {
  apply(entity: string, state: AccountState['state'] | null): void;
} {
  const pools = new Map<string, readonly string[]>();
  return {
    walletsOf: (keyHash) => pools.get(keyHash) ?? EMPTY,
    apply(entity, state) {
      if (!entity.startsWith(PREFIX)) return;
      const keyHash = entity.slice(PREFIX.length);
      if (state !== null && 'oddstream.Pool' in state) pools.set(keyHash, state['oddstream.Pool'].wallets);
      else pools.delete(keyHash);
    },
  };
}
