/**
 * The log port: an ordered, durable, partitioned log of key/value records.
 *
 * Engines: LMDB (one machine, many processes) and Kafka. Nothing outside `infra/log` knows which one is in use.
 * Offsets are non-negative safe integers, contiguous on LMDB, increasing (holes allowed) on Kafka.
 * Timestamps are Unix milliseconds UTC (the record's event time).
 */

/** One record to append. A `null` value is a tombstone (compacted topics forget the key). */
export interface NewRecord {
  readonly key: string;
  readonly value: Buffer | null;
  readonly timestampMs: number;
  /** Target partition. Omitted: murmur2(key) modulo the topic's partition count, as Kafka's default partitioner. */
  readonly partition?: number;
}

/** A record as read back. */
export interface LogRecord {
  readonly offset: number;
  readonly key: string;
  readonly value: Buffer | null;
  readonly timestampMs: number;
}

/** Consecutive records of one partition, in offset order. A reader resumes at `nextOffset`. */
export interface RecordBatch {
  readonly topic: string;
  readonly partition: number;
  readonly records: readonly LogRecord[];
  readonly nextOffset: number;
}

/** Offsets assigned to one append in one partition (both ends inclusive). */
export interface AppendedRange {
  readonly partition: number;
  readonly firstOffset: number;
  readonly lastOffset: number;
}

export interface TopicSpec {
  readonly name: string;
  readonly partitions: number;
  /**
   * Delete records older than this (by record timestamp), from the front of a partition up to the first younger one. `null`: kept
   * forever.
   */
  readonly retentionMs: number | null;
  /** Keep only the last record per key. Together with `retentionMs`: compacted AND records older than that deleted. */
  readonly compacted: boolean;
}

/** Position of a consumer group: `nextOffset` is the first offset not yet processed. */
export interface TopicPartitionOffset {
  readonly topic: string;
  readonly partition: number;
  readonly nextOffset: number;
}

export interface PartitionBounds {
  /** Lowest offset still stored. Equals `next` when the partition is empty. */
  readonly earliest: number;
  /** Offset the next appended record will get. */
  readonly next: number;
}

export type StartAt = 'earliest' | 'latest' | { readonly offset: number } | { readonly timestampMs: number };

export interface ReadOptions {
  readonly topic: string;
  readonly partition: number;
  readonly from: StartAt;
  /** true: wait for new records for ever (until `signal`). false: end after the last record present when reading started. */
  readonly follow: boolean;
  /** Upper bound of records per batch. Default 1000. */
  readonly maxRecords?: number;
  readonly signal?: AbortSignal;
}

/** One atomic consume-transform-produce step: all outputs and all positions are committed, or none. */
export interface AtomicStep {
  readonly outputs: readonly { readonly topic: string; readonly records: readonly NewRecord[] }[];
  readonly group: string;
  readonly offsets: readonly TopicPartitionOffset[];
}

/**
 * Fenced, exclusive right to run a group's steps. It ends when another caller acquires the group, or when one of its own steps fails for any reason
 * but its arguments; every later step throws FencedError and has no effect. (On Kafka, a step whose response was lost may be committed as a whole;
 * the next owner sees it.)
 */
export interface GroupOwnership {
  /** As `Log.appendAndCommit`, for the owned group. Steps are committed in the order of the calls. */
  appendAndCommit(step: Omit<AtomicStep, 'group'>): Promise<void>;
}

/** Errors: `LogUnavailableError` and `FencedError` (retryable), `UnknownTopicError` and `LogCorruptError` (not retryable). See errors.ts. */
export interface Log {
  /** Create missing topics; increase partitions and change retention to match `specs`. Safe to repeat and to run from many processes. */
  ensureTopics(specs: readonly TopicSpec[]): Promise<void>;
  partitions(topic: string): Promise<number>;
  /** Resolves when every record is durable (LMDB flushed, Kafka acks=all). The batch is contiguous per partition and keeps its order. */
  append(topic: string, records: readonly NewRecord[]): Promise<readonly AppendedRange[]>;
  /** A step without ownership: only for groups that one process at a time writes for. */
  appendAndCommit(step: AtomicStep): Promise<void>;
  /**
   * Take exclusive ownership of the group and fence earlier owners. When it resolves, every step of an earlier owner is either visible as a whole
   * or never will be, so read positions and state after it.
   */
  acquireOwnership(group: string): Promise<GroupOwnership>;
  /**
   * Batches in offset order. Never yields a record that is not durable, never an empty batch. A start offset that retention has
   * deleted means `earliest`. Ends without an error when `signal` aborts or the log is closed.
   */
  read(options: ReadOptions): AsyncIterable<RecordBatch>;
  bounds(topic: string, partition: number): Promise<PartitionBounds>;
  /** First offset whose record timestamp is >= timestampMs, or `next` when there is none. */
  offsetForTimestamp(topic: string, partition: number, timestampMs: number): Promise<number>;
  /** The newest record still stored, or null. */
  lastRecord(topic: string, partition: number): Promise<LogRecord | null>;
  commit(group: string, positions: readonly TopicPartitionOffset[]): Promise<void>;
  /** Committed positions of the group for that topic; partitions never committed are absent. */
  committed(group: string, topic: string): Promise<readonly TopicPartitionOffset[]>;
  /**
   * Delete the records of a partition below `offset`, at most all that are visible; never to be called for a compacted topic. Readers no longer see them when it
   * resolves. LMDB reuses their pages for later records (its file does not shrink); Kafka frees the disk space of a segment once all of it is below.
   */
  deleteBefore(topic: string, partition: number, offset: number): Promise<void>;
  /** Apply retention and compaction now. LMDB also does it periodically; on Kafka a no-op. */
  maintain(nowMs: number): Promise<void>;
  close(): Promise<void>;
}
