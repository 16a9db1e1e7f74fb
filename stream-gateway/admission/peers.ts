/**
 * Which other gateway processes live, measured in the log's own order: a process that says nothing between several of our beats is silent. An
 * outage of the log makes nobody look dead, because our beats do not land either.
 */
export interface Peers {
  alive(processId: string, instance: string): void;
  /** It wrote something else. */
  heard(processId: string): void;
  /** It said goodbye, or was taken for dead. */
  gone(processId: string): void;
  /** After an own beat was read back: those silent for too long. Each is told once per beat until it is gone. */
  silent(): readonly string[];
  /** Others that said they run there. */
  at(instance: string): readonly string[];
}

export function createPeers(deps: { processId: string; silentBeats: number }): Peers {
  const others = new Map<string, { instance: string | undefined; beats: number }>();
  const heard = (processId: string, instance?: string) => {
    if (processId === deps.processId) return;
    const known = others.get(processId);
    if (known === undefined) others.set(processId, { instance, beats: 0 });
    else {
      known.beats = 0;
      known.instance = instance ?? known.instance;
    }
  };
  return {
    alive: heard,
    heard: (processId) => heard(processId),
    gone: (processId) => {
      others.delete(processId);
    },
    silent() {
      const silent: string[] = [];
      for (const [processId, peer] of others) if (++peer.beats >= deps.silentBeats) silent.push(processId);
      return silent;
    },
    at: (instance) => [...others].filter(([, peer]) => peer.instance === instance).map(([processId]) => processId),
  };
}
