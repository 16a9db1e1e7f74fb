import type { Log, LogRecord } from '../../infra/log/port.js';

/** Reads a topic of one partition from its start and then follows it. */
export interface FollowedTopic {
  /** Resolves when all records that the topic had at the start are applied. Rejects when the topic cannot be read. */
  ready(): Promise<void>;
  /** Resolves when the signal aborts; rejects when the topic can no longer be read. */
  readonly done: Promise<void>;
}

/** Applies every record of a topic, in order. */
export function followTopic(deps: {
  log: Pick<Log, 'read' | 'bounds'>;
  topic: string;
  signal: AbortSignal;
  apply: (record: LogRecord) => void;
}): FollowedTopic {
  const { log, topic, signal, apply } = deps;
  const load = async (): Promise<number> => {
    let { earliest: next } = await log.bounds(topic, 0);
    for await (const batch of log.read({ topic, partition: 0, from: { offset: next }, follow: false, signal })) {
      batch.records.forEach(apply);
      next = batch.nextOffset;
    }
    return next;
  };
  const loaded = load();
  const done = loaded.then(async (offset) => {
    for await (const batch of log.read({ topic, partition: 0, from: { offset }, follow: true, signal })) {
      batch.records.forEach(apply);
    }
  });
  return {
    ready: async () => {
      await loaded;
    },
    done,
  };
}
