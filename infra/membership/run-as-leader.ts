import { once } from 'node:events';
import { createMembership, type MembershipOptions } from './membership.js';

/**
 * Active/standby: one process of a role runs `work`, the others wait. `work` starts when no other member is active, and runs until the signal
 * aborts or it ends. `waiting` receives the active member. Two processes may start at once without seeing each other, so `work` must acquire
 * ownership of what it writes; the fenced process fails, and is on standby after its restart.
 */
export async function runAsLeader(
  options: MembershipOptions & { signal: AbortSignal },
  work: (signal: AbortSignal) => Promise<void>,
  waiting: (workers: readonly string[]) => void = () => undefined,
): Promise<void> {
  const { member } = options;
  const membership = createMembership(options);
  const failed = new AbortController();
  const signal = AbortSignal.any([options.signal, failed.signal]);
  const ended = new AbortController();
  let startWork: () => void = () => undefined;
  const becameLeader = new Promise<void>((resolve) => {
    startWork = resolve;
  });
  const heartbeats = async () => {
    try {
      membership.setState('standby');
      await membership.run(ended.signal, (members) => {
        const workers = members.filter((name) => name !== member);
        if (workers.length > 0) return waiting(workers);
        membership.setState('alive');
        startWork();
      });
    } catch (error) {
      failed.abort();
      throw error;
    }
  };
  const working = async () => {
    try {
      if (!signal.aborted) await Promise.race([becameLeader, once(signal, 'abort')]);
      if (!signal.aborted) await work(signal);
    } finally {
      // Announces the departure only after the work has ended.
      ended.abort();
    }
  };
  const results = await Promise.allSettled([heartbeats(), working()]);
  for (const result of results) if (result.status === 'rejected') throw result.reason;
}
