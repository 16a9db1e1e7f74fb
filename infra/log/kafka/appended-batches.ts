import type { Cluster } from './cluster.js';
import { type ProducerState, splitBatches } from './record-batch.js';

const FETCH_BYTES = 4 * 1024 * 1024;
/** A broker returns at least one batch, whatever the limit. */
const PEEK_BYTES = 1024;
/** ListOffsets' names for the two ends. */
const LATEST = -1;
export const EARLIEST = -2;

/** Log end offset: later appends get this offset or a higher one. */
export function fetchEndOffset(cluster: Cluster, topic: string, partition: number): Promise<number> {
  return cluster.retry(
    `Topic "${topic}", partition ${partition}`,
    async () => (await cluster.leader(topic, partition, 'control')).listOffset(topic, partition, LATEST),
    { topic },
  );
}

/** Whether any producer has an open transaction in the partition; committed readers cannot read past its start. */
export async function hasOpenTransaction(cluster: Cluster, topic: string, partition: number): Promise<boolean> {
  const offset = await fetchEndOffset(cluster, topic, partition);
  return cluster.retry(
    `Read of topic "${topic}", partition ${partition}`,
    async () => {
      const connection = await cluster.leader(topic, partition, 'control');
      const request = { topic, partition, offset, maxWaitMs: 0, maxBytes: PEEK_BYTES, uncommitted: true };
      const response = await connection.fetch(request);
      if (response.error !== null) throw response.error;
      return response.highWatermark > offset;
    },
    { topic },
  );
}

/**
 * The base offset of a batch whose produce response was lost, or null when it was not appended; open transactions included.
 *
 * Brokers deduplicate a resent batch only while they know its producer, and they drop a producer at their start when its newest record is older
 * than producer.id.expiration.ms (a day; ProducerStateManager drops such entries of its snapshot). Records carry event times, and a backfill
 * writes old ones: without this search, a broker killed during a backfill would store the batch in flight twice.
 */
export async function findAppendedBatch(
  cluster: Cluster,
  batch: { topic: string; partition: number; producer: ProducerState; sequence: number; from: number },
): Promise<number | null> {
  const { topic, partition, producer, sequence } = batch;
  const { connection, release } = await cluster.acquireReaderConnection(topic, partition);
  try {
    for (let offset = batch.from; ; ) {
      const response = await connection.fetch({
        topic,
        partition,
        offset,
        maxWaitMs: 0,
        maxBytes: FETCH_BYTES,
        uncommitted: true,
      });
      if (response.error?.type === 'OFFSET_OUT_OF_RANGE') {
        const earliest = await connection.listOffset(topic, partition, EARLIEST);
        if (earliest <= offset) return null;
        offset = earliest;
        continue;
      }
      if (response.error !== null) throw response.error;
      const batches = splitBatches(response.records);
      for (const { producerId, producerEpoch, baseSequence, control, baseOffset } of batches) {
        const same = producerId === producer.id && producerEpoch === producer.epoch && baseSequence === sequence;
        if (same && !control && baseOffset >= batch.from) return baseOffset;
      }
      const last = batches.at(-1);
      if (last === undefined) return null;
      offset = last.lastOffset + 1;
    }
  } catch (error) {
    connection.close();
    throw error;
  } finally {
    release();
  }
}
