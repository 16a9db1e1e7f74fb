import { FencedError } from '../errors.js';
import { claimKey } from './keys.js';
import type { Claim } from './plan.js';
import type { Store } from './store.js';

const generationOf = (store: Store, group: string): number => store.meta.get(claimKey(group))?.readDoubleLE(0) ?? 0;

/** Take the group over, in a transaction of its own. */
export function takeClaim(store: Store, group: string): Claim {
  return store.write(() => {
    const generation = generationOf(store, group) + 1;
    const bytes = Buffer.allocUnsafe(8);
    bytes.writeDoubleLE(generation, 0);
    store.meta.put(claimKey(group), bytes);
    return { group, generation };
  });
}

/** Inside the write transaction, so that nobody can claim between this and the write. */
export function isNewest(store: Store, claim: Claim | undefined): boolean {
  return claim === undefined || generationOf(store, claim.group) === claim.generation;
}

export function fenced(group: string): FencedError {
  return new FencedError(`Another process claimed the group "${group}"`);
}
