import type { Log } from './port.js';

/** Numbers of the partitions that a topic has in this log: more than one only on Kafka, or in a log of an older version. */
export async function partitionsOf(
  log: Pick<Log, 'partitions'>,
  topic: { readonly name: string },
): Promise<readonly number[]> {
  return Array.from({ length: await log.partitions(topic.name) }, (_, partition) => partition);
}
