import { FencedError } from '../errors.js';
import { ownershipKey } from './keys.js';
import type { Store } from './store.js';
import type { FencingToken } from './write-plan.js';

const epochOf = (store: Store, group: string): number => store.meta.get(ownershipKey(group))?.readDoubleLE(0) ?? 0;

/** Take ownership of the group, in a separate transaction. */
export function acquireOwnership(store: Store, group: string): FencingToken {
  return store.write(() => {
    const epoch = epochOf(store, group) + 1;
    const bytes = Buffer.allocUnsafe(8);
    bytes.writeDoubleLE(epoch, 0);
    store.meta.put(ownershipKey(group), bytes);
    return { group, epoch };
  });
}

/** Runs inside the write transaction, so that no other process can take ownership between this check and the write. */
export function isCurrentOwner(store: Store, token: FencingToken | undefined): boolean {
  return token === undefined || epochOf(store, token.group) === token.epoch;
}

export function fencedError(group: string): FencedError {
  return new FencedError(`Another process acquired the ownership of group "${group}"`);
}
