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

/** Throws UnknownTopicError unless the topic has that partition, after a fresh look when it seems not to. */
export async function checkPartition(cluster: Cluster, topic: string, partition: number): Promise<void> {
  const known = await cluster.topic(topic);
  if (hasPartition(known, partition)) return;
  const { partitions } = await cluster.topic(topic, { fresh: true });
  if (!hasPartition({ topic, partitions }, partition)) {
    throw new UnknownTopicError(topic, `Topic "${topic}" has ${partitions} partitions, no partition ${partition}`);
  }
}

/** Check records and sort them by partition. Throws LogArgumentError and UnknownTopicError before anything is sent. */
export function groupByPartition(view: TopicMetadata, records: readonly NewRecord[]): PartitionRecords[] {
  const byPartition = new Map<number, EncodableRecord[]>();
  for (const record of records) {
    const encodable = checkRecord(view.topic, record);
    const partition = record.partition ?? partitionForKey(encodable.key, view.partitions);
    if (!hasPartition(view, partition)) {
      const detail = `Topic "${view.topic}" has ${view.partitions} partitions, no partition ${partition}`;
      throw new UnknownTopicError(view.topic, detail);
    }
    const own = byPartition.get(partition);
    if (own === undefined) byPartition.set(partition, [encodable]);
    else own.push(encodable);
  }
  return [...byPartition].map(([partition, own]) => ({ topic: view.topic, partition, records: own }));
}

/** The topic as known, looked up again when a record names a partition it does not seem to have. */
export async function topicMetadataFor(
  cluster: Cluster,
  topic: string,
  records: readonly NewRecord[],
): Promise<TopicMetadata> {
  const view = await cluster.topic(topic);
  const fits = records.every(({ partition }) => partition === undefined || hasPartition(view, partition));
  return fits ? view : cluster.topic(topic, { fresh: true });
}

/** `viewFor` without asking the cluster: undefined when it would have to be asked. */
export function cachedTopicMetadataFor(
  cluster: Cluster,
  topic: string,
  records: readonly NewRecord[],
): TopicMetadata | undefined {
  const view = cluster.cachedTopic(topic);
  if (view === undefined) return undefined;
  return records.every(({ partition }) => partition === undefined || hasPartition(view, partition)) ? view : undefined;
}

function hasPartition(view: TopicMetadata, partition: number): boolean {
  return Number.isInteger(partition) && partition >= 0 && partition < view.partitions;
}
