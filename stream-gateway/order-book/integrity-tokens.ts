import type { BookStore } from './book-store.js';

/** Tokens whose checksums a process keeps. */
const MAX_INTEGRITY_TOKENS_PER_PROCESS = 5_000;

/** Counts the connections that verify the checksums of each token. */
export interface IntegrityTokens {
  /** Adds one connection to each token; false, and nothing is added, if the process has no capacity for them. */
  acquire(tokenIds: Iterable<string>): boolean;
  release(tokenIds: Iterable<string>): void;
  readonly size: number;
}

export function createIntegrityTokens(deps: { store: Pick<BookStore, 'get'>; max?: number }): IntegrityTokens {
  const { store, max = MAX_INTEGRITY_TOKENS_PER_PROCESS } = deps;
  const connections = new Map<string, number>();
  return {
    acquire(tokenIds) {
      const list = [...tokenIds];
      const added = list.filter((tokenId) => !connections.has(tokenId)).length;
      if (connections.size + added > max) return false;
      for (const tokenId of list) connections.set(tokenId, (connections.get(tokenId) ?? 0) + 1);
      return true;
    },
    release(tokenIds) {
      for (const tokenId of tokenIds) {
        const remaining = (connections.get(tokenId) ?? 1) - 1;
        if (remaining > 0) connections.set(tokenId, remaining);
        else {
          connections.delete(tokenId);
          store.get(tokenId)?.releaseChecksum();
        }
      }
    },
    get size() {
      return connections.size;
    },
  };
}
