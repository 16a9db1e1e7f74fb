import type { TopicPartitionOffset } from '../port.js';
import type { TopicOffsets, TopicPartitions } from './kafka-connection.js';

interface TopicPartition {
  readonly topic: string;
  readonly partition: number;
}

/** Map key of a partition: `topic/partition`. */
export const topicPartitionKey = ({ topic, partition }: TopicPartition): string => `${topic}/${partition}`;

/** Groups partitions by topic, as the requests of the protocol take them. */
export function partitionsByTopic(items: readonly TopicPartition[]): TopicPartitions[] {
  const topics = new Map<string, number[]>();
  for (const { topic, partition } of items) topics.set(topic, [...(topics.get(topic) ?? []), partition]);
  return [...topics].map(([topic, partitions]) => ({ topic, partitions }));
}

/** Groups offsets by topic, as the requests of the protocol take them; the last of several for one partition counts. */
export function offsetsByTopic(positions: readonly TopicPartitionOffset[]): TopicOffsets[] {
  const topics = new Map<string, Map<number, number>>();
  for (const { topic, partition, nextOffset } of positions) {
    const offsets = topics.get(topic) ?? new Map<number, number>();
    topics.set(topic, offsets.set(partition, nextOffset));
  }
  return [...topics].map(([topic, offsets]) => ({
    topic,
    partitions: [...offsets].map(([partition, offset]) => ({ partition, offset })),
  }));
}
