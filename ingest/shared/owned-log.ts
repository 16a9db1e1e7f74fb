import type { GroupOwnership, Log, NewRecord } from '../../infra/log/port.js';

/** Part of the log that the sources use. */
export type SourceLog = Omit<Log, 'append'> & {
  append(topic: string, records: readonly NewRecord[]): Promise<unknown>;
};

export interface OwnedLog extends SourceLog {
  /** Rejects with FencedError when another process owns the topics; for processes that may not append for a long time. */
  confirmOwnership(): Promise<void>;
}

/**
 * Acquires ownership of the given topics. When this resolves, previous owners can no longer append to them, so their current end is the
 * position to resume from. Appends to them reject with FencedError once another process has acquired ownership.
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
      // The offsets of this group are not used; a commit verifies that the ownership is still valid.
      for (const [topic, ownership] of ownerships) {
        await ownership.appendAndCommit({ outputs: [], offsets: [{ topic, partition: 0, nextOffset: 0 }] });
      }
    },
  };
}
