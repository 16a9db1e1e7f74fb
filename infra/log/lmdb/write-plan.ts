import { LogArgumentError } from '../errors.js';
import { partitionForKey } from '../partitioner.js';
import type { NewRecord, TopicPartitionOffset } from '../port.js';
import { CHUNK_TARGET_BYTES, type ChunkEntry, encodeChunk, entryBytes, MAX_RECORD_BYTES } from './chunk.js';
import { MAX_OFFSET, MAX_TIMESTAMP_MS } from './keys.js';
import type { Topic, TopicTable } from './topics.js';

export interface FencingToken {
  readonly group: string;
  readonly epoch: number;
}

/** One atomic write: the outputs of one append, or of one atomic step with its positions. */
export interface WriteRequest {
  readonly outputs: readonly { readonly topic: string; readonly records: readonly NewRecord[] }[];
  readonly commit: { readonly group: string; readonly offsets: readonly TopicPartitionOffset[] } | null;
  /** Written only while this is the group's newest epoch. */
  readonly fencingToken?: FencingToken;
}

/** A chunk with an offset relative to its partition's next offset when the transaction starts. */
export interface PlannedChunk {
  readonly baseDelta: number;
  readonly offsetSpan: number;
  readonly maxTimestampMs: number;
  readonly bytes: Buffer;
}

/** Offsets of a request in one partition, relative to that partition's next offset; both ends inclusive. */
export interface PlannedRange {
  readonly target: PartitionPlan;
  readonly firstDelta: number;
  readonly lastDelta: number;
}

export interface PartitionPlan {
  readonly topic: Topic;
  readonly partition: number;
  readonly chunks: readonly PlannedChunk[];
  readonly records: number;
}

/** A partition's chunks while requests are added. Records of several requests share chunks. */
class PartitionBuilder implements PartitionPlan {
  readonly chunks: PlannedChunk[] = [];
  records = 0;
  #open: ChunkEntry[] = [];
  #openBytes = 0;
  #openBase = 0;
  #openMax = 0;

  constructor(
    readonly topic: Topic,
    readonly partition: number,
  ) {}

  add(key: Buffer, record: NewRecord): void {
    const bytes = entryBytes(key.length, record.value);
    if (this.#openBytes > 0 && this.#openBytes + bytes > CHUNK_TARGET_BYTES) this.seal();
    const { timestampMs, value } = record;
    this.#open.push({ delta: this.records - this.#openBase, timestampMs, key, value });
    this.#openBytes += bytes;
    if (timestampMs > this.#openMax) this.#openMax = timestampMs;
    this.records++;
  }

  seal(): void {
    const offsetSpan = this.#open.length;
    if (offsetSpan === 0) return;
    const bytes = encodeChunk(this.#open, offsetSpan);
    this.chunks.push({ baseDelta: this.#openBase, offsetSpan, maxTimestampMs: this.#openMax, bytes });
    this.#open = [];
    this.#openBytes = 0;
    this.#openBase = this.records;
    this.#openMax = 0;
  }
}

/** Contents of one transaction, encoded before the write lock is taken. */
export interface WritePlan {
  readonly topicVersion: number;
  readonly partitions: Iterable<PartitionPlan>;
  readonly offsets: readonly {
    readonly group: string;
    readonly topicId: number;
    readonly position: TopicPartitionOffset;
  }[];
}

/** Collects requests into a plan. A request that throws in `add` adds nothing to the plan. */
export function createPlanner(topics: TopicTable) {
  const builders = new Map<string, PartitionBuilder>();
  const offsets: { group: string; topicId: number; position: TopicPartitionOffset }[] = [];

  const resolve = (request: WriteRequest) => {
    const routed = request.outputs.map(({ topic: name, records }) => {
      const topic = topics.get(name);
      return { topic, routes: records.map((record) => route(topic, record)) };
    });
    const commits = (request.commit?.offsets ?? []).map((position) => ({
      group: checkGroup(request.commit?.group ?? ''),
      topicId: topics.partition(position.topic, position.partition).id,
      position: checkOffset(position),
    }));
    return { routed, commits };
  };

  const route = (topic: Topic, record: NewRecord) => {
    const key = checkRecord(topic, record);
    const partition = record.partition ?? partitionForKey(key, topic.partitions);
    if (record.partition !== undefined) topics.partition(topic.name, record.partition);
    return { key, record, partition };
  };

  return {
    /** Offsets per output and partition, in the order of the outputs. */
    add(request: WriteRequest): readonly (readonly PlannedRange[])[] {
      const { routed, commits } = resolve(request);
      offsets.push(...commits);
      return routed.map(({ topic, routes }) => {
        const first = new Map<PartitionBuilder, number>();
        for (const { key, record, partition } of routes) {
          const id = `${topic.id}/${partition}`;
          let builder = builders.get(id);
          if (builder === undefined) {
            builder = new PartitionBuilder(topic, partition);
            builders.set(id, builder);
          }
          if (!first.has(builder)) first.set(builder, builder.records);
          builder.add(key, record);
        }
        return [...first].map(([target, firstDelta]) => ({ target, firstDelta, lastDelta: target.records - 1 }));
      });
    },
    finish(): WritePlan {
      for (const builder of builders.values()) builder.seal();
      return { topicVersion: topics.cachedVersion(), partitions: builders.values(), offsets };
    },
  };
}

function checkRecord(topic: Topic, record: NewRecord): Buffer {
  const { timestampMs, value } = record;
  const where = `Record for topic "${topic.name}"`;
  if (typeof record.key !== 'string') throw new LogArgumentError(`${where}: the key is not a string`);
  if (!Number.isInteger(timestampMs) || timestampMs < 0 || timestampMs > MAX_TIMESTAMP_MS) {
    throw new LogArgumentError(`${where}: timestampMs ${timestampMs} is not a Unix time in milliseconds`);
  }
  if (value !== null && !(value instanceof Uint8Array)) {
    throw new LogArgumentError(`${where}: the value is neither bytes nor null`);
  }
  const key = Buffer.from(record.key, 'utf8');
  const bytes = entryBytes(key.length, value);
  if (bytes > MAX_RECORD_BYTES) {
    throw new LogArgumentError(`${where}: ${bytes} bytes, the limit is ${MAX_RECORD_BYTES}`);
  }
  return key;
}

export function checkGroup(group: string): string {
  if (group === '' || Buffer.byteLength(group) > 255) {
    throw new LogArgumentError(`Group name "${group}": 1 to 255 bytes`);
  }
  return group;
}

export function checkOffset(position: TopicPartitionOffset): TopicPartitionOffset {
  const { nextOffset } = position;
  if (!Number.isInteger(nextOffset) || nextOffset < 0 || nextOffset > MAX_OFFSET) {
    throw new LogArgumentError(`Position ${nextOffset} of topic "${position.topic}" is not an offset`);
  }
  return position;
}
