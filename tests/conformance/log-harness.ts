import { randomBytes } from 'node:crypto';
import type { Log, LogRecord, NewRecord, ReadOptions, StartAt, TopicSpec } from '../../infra/log/port.js';

/** A log opened by the test of an engine. */
export interface LogUnderTest {
  readonly log: Log;
  /** Opens another instance of the same log, also while others are open. The caller closes it. */
  reopen(): Promise<Log>;
  /** Closes `log` and removes its data. */
  cleanup(): Promise<void>;
}

/** Properties that the port does not define. */
export interface LogTraits {
  /** Offsets of a partition have no holes before compaction. */
  readonly contiguousOffsets: boolean;
  /** `maintain` applies retention and compaction at once. */
  readonly maintains: boolean;
  /** How long a tombstone is retained after the first `maintain` that saw it. */
  readonly tombstoneGraceMs: number;
}

/** A unique name, for engines whose topics outlive a test. */
export function uniqueName(prefix: string): string {
  return `${prefix}-${randomBytes(6).toString('hex')}`;
}

/** Runs `work` with another instance of the same log. */
export async function withInstance<T>(under: LogUnderTest, work: (other: Log) => Promise<T>): Promise<T> {
  const other = await under.reopen();
  try {
    return await work(other);
  } finally {
    await other.close();
  }
}

export async function makeTopic(log: Log, spec: Partial<Omit<TopicSpec, 'name'>> = {}): Promise<string> {
  const name = uniqueName('topic');
  await log.ensureTopics([{ name, partitions: 1, retentionMs: null, compacted: false, ...spec }]);
  return name;
}

export const T0 = 1_700_000_000_000;

export function record(key: string, value: string | null, timestampMs = T0, partition?: number): NewRecord {
  const bytes = value === null ? null : Buffer.from(value);
  return { key, value: bytes, timestampMs, ...(partition === undefined ? {} : { partition }) };
}

/** `count` records with keys k0.. and values v<first>, v<first+1>, ... */
export function numbered(count: number, first = 0): NewRecord[] {
  return Array.from({ length: count }, (_, i) => record(`k${first + i}`, `v${first + i}`, T0 + first + i));
}

/** All current records from `from` on. */
export async function readAll(
  log: Log,
  topic: string,
  from: StartAt = 'earliest',
  partition = 0,
): Promise<LogRecord[]> {
  const found: LogRecord[] = [];
  for await (const batch of log.read({ topic, partition, from, follow: false })) found.push(...batch.records);
  return found;
}

export function texts(records: readonly LogRecord[]): (string | null)[] {
  return records.map(({ value }) => (value === null ? null : value.toString()));
}

/** A reader in the background. `until` waits for a condition on what it has read; `stop` aborts it and waits for its end. */
export function tail(log: Log, options: Omit<ReadOptions, 'follow' | 'signal'>) {
  const abort = new AbortController();
  const records: LogRecord[] = [];
  let changed: () => void = () => undefined;
  let failure: unknown = null;
  const ended = (async () => {
    for await (const batch of log.read({ ...options, follow: true, signal: abort.signal })) {
      records.push(...batch.records);
      changed();
    }
  })().catch((error: unknown) => {
    failure = error;
    changed();
  });
  return {
    records,
    ended,
    async until(condition: (records: readonly LogRecord[]) => boolean): Promise<void> {
      while (!condition(records)) {
        if (failure !== null) throw failure;
        await new Promise<void>((resolve) => {
          changed = resolve;
        });
      }
    },
    async stop(): Promise<void> {
      abort.abort();
      await ended;
      if (failure !== null) throw failure;
    },
  };
}
