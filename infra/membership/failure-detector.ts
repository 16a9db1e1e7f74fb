import type { MemberState } from '../../schemas/types.gen.js';

export const HEARTBEAT_MS = 2_000;
export const DEAD_AFTER_MS = 8_000;

export interface FailureDetector {
  /** Records a heartbeat. Call it in the order of the log; `arrivedMs` is of any monotonic clock. */
  recordHeartbeat(member: string, state: MemberState, arrivedMs: number): void;
  /** Names of the live members that are not on standby, including this one, sorted. */
  liveMembers(): readonly string[];
}

/**
 * Derives live members from the order of heartbeats in the log. A member is dead when it sends no heartbeat between enough heartbeats of this
 * process: its silence is the sum of the gaps between those, each capped at two periods. So a process that was suspended, or could not reach
 * the log, does not declare others dead for its own missing heartbeats, and wall clocks need not agree.
 */
export function createFailureDetector(options: {
  member: string;
  heartbeatMs: number;
  deadAfterMs: number;
}): FailureDetector {
  const { member, heartbeatMs, deadAfterMs } = options;
  const silentMs = new Map<string, number>();
  let lastLocalMs: number | undefined;

  const recordLocalHeartbeat = (arrivedMs: number): void => {
    const gapMs = lastLocalMs === undefined ? 0 : Math.min(arrivedMs - lastLocalMs, 2 * heartbeatMs);
    lastLocalMs = arrivedMs;
    for (const [other, before] of silentMs) {
      // The first local heartbeat after the other member's starts the measurement.
      const silent = before < 0 ? 0 : before + gapMs;
      if (silent >= deadAfterMs) silentMs.delete(other);
      else silentMs.set(other, silent);
    }
  };

  return {
    recordHeartbeat(name, state, arrivedMs) {
      if (name === member) {
        if (state !== 'left') recordLocalHeartbeat(arrivedMs);
      } else if (state === 'alive') silentMs.set(name, -1);
      else silentMs.delete(name);
    },
    liveMembers: () => [member, ...silentMs.keys()].sort(),
  };
}
