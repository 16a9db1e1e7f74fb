import { UnknownTopicError } from '../errors.js';
import { partitionForKey } from '../partitioner.js';
import type { NewRecord } from '../port.js';
import { checkRecord } from './checks.js';
import type { Cluster, TopicMetadata } from './cluster.js';
import type { EncodableRecord } from './record-batch.js';

/** Records of one call that go to one partition, in the caller's order. */
export interface PartitionRecords {
  readonly topic: string;
  readonly partition: number;
  readonly records: readonly EncodableRecord[];
}

/** Throws UnknownTopicError unless the topic has the partition. Fetches the metadata again before it throws. */
export async function checkPartition(cluster: Cluster, topic: string, partition: number): Promise<void> {
  const known = await cluster.topic(topic);
  if (hasPartition(known, partition)) return;
  const { partitions } = await cluster.topic(topic, { fresh: true });
  if (!hasPartition({ topic, partitions }, partition)) {
    throw new UnknownTopicError(topic, `Topic "${topic}" has ${partitions} partitions, no partition ${partition}`);
  }
}

/** Checks records and groups them by partition. Throws LogArgumentError and UnknownTopicError. */
export function groupByPartition(metadata: TopicMetadata, records: readonly NewRecord[]): PartitionRecords[] {
  const byPartition = new Map<number, EncodableRecord[]>();
  for (const record of records) {
    const encodable = checkRecord(metadata.topic, record);
    const partition = record.partition ?? partitionForKey(encodable.key, metadata.partitions);
    if (!hasPartition(metadata, partition)) {
      const detail = `Topic "${metadata.topic}" has ${metadata.partitions} partitions, no partition ${partition}`;
      throw new UnknownTopicError(metadata.topic, detail);
    }
    const group = byPartition.get(partition);
    if (group === undefined) byPartition.set(partition, [encodable]);
    else group.push(encodable);
  }
  return [...byPartition].map(([partition, group]) => ({ topic: metadata.topic, partition, records: group }));
}

/** The topic's cached metadata, fetched again when a record names a partition that is not in it. */
export async function topicMetadataFor(
  cluster: Cluster,
  topic: string,
  records: readonly NewRecord[],
): Promise<TopicMetadata> {
  const metadata = await cluster.topic(topic);
  const complete = records.every(({ partition }) => partition === undefined || hasPartition(metadata, partition));
  return complete ? metadata : cluster.topic(topic, { fresh: true });
}

/** `topicMetadataFor` without a request: undefined when one would be needed. */
export function cachedTopicMetadataFor(
  cluster: Cluster,
  topic: string,
  records: readonly NewRecord[],
): TopicMetadata | undefined {
  const metadata = cluster.cachedTopic(topic);
  if (metadata === undefined) return undefined;
  return records.every(({ partition }) => partition === undefined || hasPartition(metadata, partition))
    ? metadata
    : undefined;
}

function hasPartition(metadata: TopicMetadata, partition: number): boolean {
  return Number.isInteger(partition) && partition >= 0 && partition < metadata.partitions;
}
