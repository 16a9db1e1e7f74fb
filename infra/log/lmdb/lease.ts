import { randomUUID } from 'node:crypto';
import { RetryableError } from '../../errors.js';
import { LEASE_KEY } from './keys.js';
import type { Store } from './store.js';

/** Right of one process to do maintenance, until a time; a process that dies loses it by the clock. */
export interface Lease {
  /** Take or prolong it, in a transaction of its own. false: someone else holds it. */
  take(): boolean;
  /** Inside a write transaction: prolong it. Throws LeaseLostError when it passed on meanwhile; the transaction then undoes itself. */
  hold(): void;
  release(): void;
}

export class LeaseLostError extends RetryableError {
  override name = 'LeaseLostError';
}

const LEASE_MS = 10_000;

interface Held {
  readonly owner: string;
  readonly untilMs: number;
}

export function createLease(deps: { store: Store; now: () => number }): Lease {
  const { store, now } = deps;
  const owner = `${process.pid}-${randomUUID()}`;
  const current = (): Held | null => {
    const bytes = store.meta.get(LEASE_KEY);
    return bytes === undefined ? null : (JSON.parse(bytes.toString('utf8')) as Held);
  };
  const free = (held: Held | null) => {
    // A lease further in the future than any process takes it for comes from a clock that was set back since.
    return held === null || held.owner === owner || held.untilMs <= now() || held.untilMs > now() + 2 * LEASE_MS;
  };
  const put = () => {
    const held: Held = { owner, untilMs: now() + LEASE_MS };
    store.meta.put(LEASE_KEY, Buffer.from(JSON.stringify(held)));
  };
  return {
    take() {
      if (!store.read(() => free(current()))) return false;
      return store.write(() => {
        if (!free(current())) return false;
        put();
        return true;
      });
    },
    hold() {
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
