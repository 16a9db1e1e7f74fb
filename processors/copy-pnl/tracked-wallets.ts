import type { AccountState } from '../../schemas/types.gen.js';

/** The wallets of all pools; a wallet in several pools is one. */
export interface TrackedWallets {
  readonly size: number;
  has(wallet: string): boolean;
  /** Ascending. */
  all(): readonly string[];
  /**
   * Applies a record of accounts.state; null: the entity was removed or its newest record cannot be read. Returns the wallets that were in no pool
   * before.
   */
  apply(entity: string, state: AccountState['state'] | null): readonly string[];
}

const PREFIX = 'pool:';

export function createTrackedWallets(): TrackedWallets {
  const pools = new Map<string, readonly string[]>();
  /** Number of pools by wallet. */
  const counts = new Map<string, number>();
  return {
    get size() {
      return counts.size;
    },
    has: (wallet) => counts.has(wallet),
    all: () => [...counts.keys()].sort(),
    apply(entity, state) {
      if (!entity.startsWith(PREFIX)) return [];
      const before = pools.get(entity) ?? [];
      const after = state !== null && 'oddstream.Pool' in state ? state['oddstream.Pool'].wallets : [];
      if (after.length === 0) pools.delete(entity);
      else pools.set(entity, after);
      const added: string[] = [];
      for (const wallet of after) {
        const count = counts.get(wallet) ?? 0;
        if (count === 0) added.push(wallet);
        counts.set(wallet, count + 1);
      }
      for (const wallet of before) {
        const count = counts.get(wallet) ?? 0;
        if (count > 1) counts.set(wallet, count - 1);
        else counts.delete(wallet);
      }
      return added;
    },
  };
}
