/**
 * Which other gateway processes live, measured in the log's own order: a process that says nothing between several of our beats is silent. An
 * outage of the log makes nobody look dead, because our beats do not land either.
 */
export interface HeartbeatTracker {
  recordHeartbeat(processId: string, instance: string): void;
  /** It wrote something else. */
  recordActivity(processId: string): void;
  /** It said goodbye, or was taken for dead. */
  remove(processId: string): void;
  /** After an own beat was read back: those silent for too long. Each is told once per beat until it is gone. */
  countMissed(): readonly string[];
  /** Others that said they run there. */
  processesAt(instance: string): readonly string[];
}

export function createHeartbeatTracker(deps: { processId: string; maxMissedHeartbeats: number }): HeartbeatTracker {
  const remotes = new Map<string, { instance: string | undefined; missed: number }>();
  const heard = (processId: string, instance?: string) => {
    if (processId === deps.processId) return;
    const known = remotes.get(processId);
    if (known === undefined) remotes.set(processId, { instance, missed: 0 });
    else {
      known.missed = 0;
      known.instance = instance ?? known.instance;
    }
  };
  return {
    recordHeartbeat: heard,
    recordActivity: (processId) => heard(processId),
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
