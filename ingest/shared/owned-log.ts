import type { GroupClaim, Log, NewRecord } from '../../infra/log/port.js';

/** The log as the sources' loops see it: what an append resolves with is nobody's business there. */
export type SourceLog = Omit<Log, 'append'> & {
  append(topic: string, records: readonly NewRecord[]): Promise<unknown>;
};

export interface OwnedLog extends SourceLog {
  /** Rejects with FencedError when another process has claimed the topics; for a process that may have nothing to append for long. */
  confirm(): Promise<void>;
}

/**
 * The log, with the given topics claimed: when this resolves, whoever wrote them before can write them no more, so what they hold now is where
 * to go on. Appends to them reject with FencedError once another process has claimed them.
 */
export async function createOwnedLog(log: Log, topics: readonly string[]): Promise<OwnedLog> {
  const claims = new Map<string, GroupClaim>();
  for (const topic of topics) claims.set(topic, await log.claim(`ingest-${topic}`));
  return {
    ...log,
    append(topic, records) {
      const claim = claims.get(topic);
      if (claim === undefined) return log.append(topic, records);
      return claim.appendAndCommit({ outputs: [{ topic, records }], positions: [] });
    },
    async confirm() {
      // The group has no use for positions; moving one asks whether the claim still holds.
      for (const [topic, claim] of claims) {
        await claim.appendAndCommit({ outputs: [], positions: [{ topic, partition: 0, nextOffset: 0 }] });
      }
    },
  };
}
