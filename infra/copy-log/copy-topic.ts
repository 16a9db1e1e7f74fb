import type { AnyEvent, Codec } from '../../schemas/codec.js';
import type { Topic } from '../../schemas/topics.js';
import { tryDecode } from '../../schemas/try-decode.js';
import { FatalError, RetryableError } from '../errors.js';
import { partitionsOf } from '../log/partitions.js';
import type { Log, LogRecord, NewRecord } from '../log/port.js';
import { requireRecords } from '../log/required-records.js';

/** A log with the codec of its schema ids. */
export interface CopiedLog<L> {
  readonly log: L;
  readonly codec: Codec;
}
export type CopySource = CopiedLog<Pick<Log, 'partitions' | 'bounds' | 'read'>>;
export type CopyTarget = CopiedLog<Pick<Log, 'partitions' | 'lastRecord' | 'append'>>;

export interface CopyCounts {
  readonly copied: number;
  /** Records that cannot be decoded; they stay in the source only. */
  readonly unreadable: number;
}

/** The event as a copy of the log has it; null: the copy does not have it. */
export type CopiedEvent = (event: AnyEvent) => AnyEvent | null;

/** Bounds the memory of a batch, and an append of it. */
const BATCH_RECORDS = 2_000;

/**
 * Throws FatalError unless the topic can be copied: the source has all its records, and the target none. A compacted topic needs neither: the records of a key
 * replace older ones.
 */
export async function requireCopyable(topic: Topic, source: CopySource, target: CopyTarget): Promise<void> {
  if (topic.compacted) return;
  for (const partition of topic.retentionMs === null ? await partitionsOf(source.log, topic) : [])
    await requireRecords(source.log, { reader: 'A copy of the log', topic: topic.name, partition, from: 0 });
  for (const partition of await partitionsOf(target.log, topic))
    if ((await target.log.lastRecord(topic.name, partition)) !== null)
      throw new FatalError(
        `${topic.name} of the target has records: a copy would follow them. Start with an empty log, or name the other topics to copy`,
      );
}

/** Next offset by `topic/partition`. */
export async function endsOf(topics: readonly Topic[], { log }: CopySource): Promise<ReadonlyMap<string, number>> {
  const ends = new Map<string, number>();
  for (const topic of topics)
    for (const partition of await partitionsOf(log, topic))
      ends.set(`${topic.name}/${partition}`, (await log.bounds(topic.name, partition)).next);
  return ends;
}

/**
 * Throws RetryableError if records were appended to the source during the copy: some are not in the target. The API and stream-gateway have no
 * heartbeat in the log and show themselves only so.
 */
export async function requireUnchanged(
  before: ReadonlyMap<string, number>,
  topics: readonly Topic[],
  source: CopySource,
): Promise<void> {
  for (const [partition, end] of await endsOf(topics, source))
    if (end !== before.get(partition))
      throw new RetryableError(
        `A process appended records to ${partition} during the copy. Stop all processes, the API and stream-gateway too, and copy again to a new log`,
      );
}

/**
 * Appends the records of a topic that are in the source now, in the schema ids of the target. Records of a key keep their order; with as many partitions they
 * keep their partition, else the key decides. `onProgress` receives the records so far.
 */
export async function copyTopic(
  topic: Topic,
  source: CopySource,
  target: CopyTarget,
  on: {
    /** Default: every event as it is. */
    readonly copied?: CopiedEvent;
    readonly progress: (records: number) => void;
    readonly unreadable: (partition: number, record: LogRecord, reason: string) => void;
  },
): Promise<CopyCounts> {
  const partitions = await partitionsOf(source.log, topic);
  const keepsPartition = partitions.length === (await target.log.partitions(topic.name));
  const copiedEvent: CopiedEvent = on.copied ?? ((event) => event);
  let [copied, unreadable] = [0, 0];
  for (const partition of partitions) {
    const read = { topic: topic.name, partition, from: 'earliest', follow: false, maxRecords: BATCH_RECORDS } as const;
    for await (const batch of source.log.read(read)) {
      const records: NewRecord[] = [];
      for (const record of batch.records) {
        const event = eventOf(record, source.codec, (reason) => on.unreadable(partition, record, reason));
        if (event === undefined) {
          unreadable += 1;
          continue;
        }
        const kept = event === null ? null : copiedEvent(event);
        if (kept === null && event !== null) continue;
        records.push({
          key: record.key,
          value: kept === null ? null : target.codec.encode(kept.kind, kept.value),
          timestampMs: record.timestampMs,
          ...(keepsPartition && { partition }),
        });
      }
      if (records.length > 0) await target.log.append(topic.name, records);
      copied += records.length;
      on.progress(copied);
    }
  }
  return { copied, unreadable };
}

/** null for a tombstone, undefined for a value that cannot be decoded. */
const eventOf = (
  { value }: LogRecord,
  codec: Codec,
  unreadable: (reason: string) => void,
): AnyEvent | null | undefined => (value === null ? null : tryDecode(codec, value, unreadable));
