import { randomUUID } from 'node:crypto';
import { RetryableError } from '../../errors.js';
import { LEASE_KEY } from './keys.js';
import type { Store } from './store.js';

/** Exclusive right of one process to run maintenance until an expiry time; the lease of a dead process expires. */
export interface MaintenanceLease {
  /** Acquire or renew the lease in a separate transaction. false: another process owns it. */
  acquire(): boolean;
  /** Inside a write transaction: renew the lease. Throws LeaseLostError when another process has taken it; the transaction then rolls back. */
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
  const free = (storedLease: StoredLease | null) => {
    // A lease that expires later than any process sets it was written before the clock was set back.
    return (
      storedLease === null ||
      storedLease.owner === owner ||
      storedLease.untilMs <= now() ||
      storedLease.untilMs > now() + 2 * LEASE_MS
    );
  };
  const put = () => {
    const storedLease: StoredLease = { owner, untilMs: now() + LEASE_MS };
    store.meta.put(LEASE_KEY, Buffer.from(JSON.stringify(storedLease)));
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
