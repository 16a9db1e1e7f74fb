import { randomUUID } from 'node:crypto';
import { RetryableError } from '../../errors.js';
import { LEASE_KEY } from './keys.js';
import type { Store } from './store.js';

/** Right of one process to do maintenance, until a time; a process that dies loses it by the clock. */
export interface MaintenanceLease {
  /** Take or prolong it, in a transaction of its own. false: someone else holds it. */
  acquire(): boolean;
  /** Inside a write transaction: prolong it. Throws LeaseLostError when it passed on meanwhile; the transaction then undoes itself. */
  renew(): void;
  release(): void;
}

export class LeaseLostError extends RetryableError {
  override name = 'LeaseLostError';
}

const LEASE_MS = 10_000;

interface StoredLease {
  readonly owner: string;
  readonly untilMs: number;
}

export function createMaintenanceLease(deps: { store: Store; now: () => number }): MaintenanceLease {
  const { store, now } = deps;
  const owner = `${process.pid}-${randomUUID()}`;
  const current = (): StoredLease | null => {
    const bytes = store.meta.get(LEASE_KEY);
    return bytes === undefined ? null : (JSON.parse(bytes.toString('utf8')) as StoredLease);
  };
  const free = (held: StoredLease | null) => {
    // A lease further in the future than any process takes it for comes from a clock that was set back since.
    return held === null || held.owner === owner || held.untilMs <= now() || held.untilMs > now() + 2 * LEASE_MS;
  };
  const put = () => {
    const held: StoredLease = { owner, untilMs: now() + LEASE_MS };
    store.meta.put(LEASE_KEY, Buffer.from(JSON.stringify(held)));
  };
  return {
    acquire() {
      if (!store.read(() => free(current()))) return false;
      return store.write(() => {
        if (!free(current())) return false;
        put();
        return true;
      });
    },
    renew() {
      if (current()?.owner !== owner) throw new LeaseLostError('Another process took over the maintenance of the log');
      put();
    },
    release() {
      store.write(() => {
        if (current()?.owner === owner) store.meta.remove(LEASE_KEY);
      });
    },
  };
}
