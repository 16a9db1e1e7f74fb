/**
 * Counts missed heartbeats of other gateway processes in log order: a process misses one when a heartbeat of this process is read back and no record
 * of the other process precedes it. An outage of the log expires no process, because the heartbeats of this process are not committed either.
 */
export interface HeartbeatTracker {
  recordHeartbeat(processId: string, instance: string): void;
  /** The process wrote a record other than a heartbeat. */
  recordActivity(processId: string): void;
  /** The process has shut down or was expired. */
  remove(processId: string): void;
  /**
   * Call after a heartbeat of this process was read back. Returns the processes that have missed `maxMissedHeartbeats`; each is returned on every call
   * until it is removed or writes again.
   */
  countMissed(): readonly string[];
  /** Other processes whose heartbeats name this instance. */
  processesAt(instance: string): readonly string[];
}

export function createHeartbeatTracker(deps: { processId: string; maxMissedHeartbeats: number }): HeartbeatTracker {
  const remotes = new Map<string, { instance: string | undefined; missed: number }>();
  const record = (processId: string, instance?: string) => {
    if (processId === deps.processId) return;
    const known = remotes.get(processId);
    if (known === undefined) remotes.set(processId, { instance, missed: 0 });
    else {
      known.missed = 0;
      known.instance = instance ?? known.instance;
    }
  };
  return {
    recordHeartbeat: record,
    recordActivity: (processId) => record(processId),
    remove: (processId) => {
      remotes.delete(processId);
    },
    countMissed() {
      const failed: string[] = [];
      for (const [processId, remote] of remotes)
        if (++remote.missed >= deps.maxMissedHeartbeats) failed.push(processId);
      return failed;
    },
    processesAt: (instance) =>
      [...remotes].filter(([, remote]) => remote.instance === instance).map(([processId]) => processId),
  };
}
