import { once } from 'node:events';
import { createMembership, type MembershipOptions } from './membership.js';

/**
 * Of several processes of a role one works, the others stand by: `work` begins when no other one is heard to work, and runs until the signal or
 * its own end. `waiting` is told whom this process stands by for. Two may begin at once, each unheard by the other, so `work` claims what it
 * writes; the one that is fenced by that fails, and stands by when it is started again.
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
  let free: () => void = () => undefined;
  const alone = new Promise<void>((resolve) => {
    free = resolve;
  });
  const heartbeats = async () => {
    try {
      membership.setState('standby');
      await membership.run(ended.signal, (members) => {
        const workers = members.filter((name) => name !== member);
        if (workers.length > 0) return waiting(workers);
        membership.setState('alive');
        free();
      });
    } catch (error) {
      failed.abort();
      throw error;
    }
  };
  const working = async () => {
    try {
      if (!signal.aborted) await Promise.race([alone, once(signal, 'abort')]);
      if (!signal.aborted) await work(signal);
    } finally {
      // Others hear that this process leaves when its work has ended.
      ended.abort();
    }
  };
  const results = await Promise.allSettled([heartbeats(), working()]);
  for (const result of results) if (result.status === 'rejected') throw result.reason;
}
