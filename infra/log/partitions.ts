import type { Log } from './port.js';

/** Numbers of the partitions that a topic has in this log: more than one only on Kafka, or in a log of an older version. */
export async function partitionsOf(
  log: Pick<Log, 'partitions'>,
  topic: { readonly name: string },
): Promise<readonly number[]> {
  return Array.from({ length: await log.partitions(topic.name) }, (_, partition) => partition);
}

/** Per partition, the offset after the last record. Kafka's own end offset is larger: it counts transaction markers. */
export async function endOffsets(
  log: Pick<Log, 'partitions' | 'lastRecord'>,
  topic: { readonly name: string },
): Promise<readonly number[]> {
  const of = async (partition: number) => ((await log.lastRecord(topic.name, partition))?.offset ?? -1) + 1;
  return Promise.all((await partitionsOf(log, topic)).map(of));
}
