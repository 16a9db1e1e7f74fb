import type { GroupOwnership, Log, NewRecord } from '../../infra/log/port.js';

/** The log as the sources' loops see it: what an append resolves with is nobody's business there. */
export type SourceLog = Omit<Log, 'append'> & {
  append(topic: string, records: readonly NewRecord[]): Promise<unknown>;
};

export interface OwnedLog extends SourceLog {
  /** Rejects with FencedError when another process has claimed the topics; for a process that may have nothing to append for long. */
  confirmOwnership(): Promise<void>;
}

/**
 * The log, with the given topics claimed: when this resolves, whoever wrote them before can write them no more, so what they hold now is where
 * to go on. Appends to them reject with FencedError once another process has claimed them.
 */
export async function createOwnedLog(log: Log, topics: readonly string[]): Promise<OwnedLog> {
  const ownerships = new Map<string, GroupOwnership>();
  for (const topic of topics) ownerships.set(topic, await log.acquireOwnership(`ingest-${topic}`));
  return {
    ...log,
    append(topic, records) {
      const ownership = ownerships.get(topic);
      if (ownership === undefined) return log.append(topic, records);
      return ownership.appendAndCommit({ outputs: [{ topic, records }], offsets: [] });
    },
    async confirmOwnership() {
      // The group has no use for positions; moving one asks whether the claim still holds.
      for (const [topic, ownership] of ownerships) {
        await ownership.appendAndCommit({ outputs: [], offsets: [{ topic, partition: 0, nextOffset: 0 }] });
      }
    },
  };
}
