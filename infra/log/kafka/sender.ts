import type { Logger } from '../../telemetry/logger.js';
import { LogArgumentError, LogUnavailableError } from '../errors.js';
import type { AppendedRange, NewRecord } from '../port.js';
import { fetchEndOffset, findAppendedBatch } from './appended-batches.js';
import { MAX_BATCH_BYTES } from './checks.js';
import type { Cluster } from './cluster.js';
import type { KafkaConnection, ProduceBatch, ProduceResult } from './kafka-connection.js';
import { isProducerStateLost, isRejected, KafkaError } from './kafka-error.js';
import {
  cachedTopicMetadataFor,
  groupByPartition,
  type PartitionRecords,
  topicMetadataFor,
} from './partition-records.js';
import { type EncodableRecord, encodeBatch, type ProducerState, recordBytes, stampBatch } from './record-batch.js';

/** Records of one append for one partition. They share a batch with other pending appends or have a separate batch; never two batches. */
interface PendingAppend {
  readonly records: readonly EncodableRecord[];
  readonly bytes: number;
  readonly deadlineMs: number;
  readonly resolve: (firstOffset: number) => void;
  readonly reject: (error: unknown) => void;
}

/** Queue of one partition. One batch is in flight at a time, which keeps the order after any failure. */
interface PartitionQueue {
  readonly topic: string;
  readonly partition: number;
  pending: PendingAppend[];
  busy: boolean;
  producer: ProducerState | null;
  nextSequence: number;
  /** Lower bound of the next batch's offset; unknown before the first batch. */
  endOffset: number | null;
  batchLimit: number;
}

export interface Sender {
  append(topic: string, records: readonly NewRecord[]): Promise<readonly AppendedRange[]>;
  /** Resolves when no append is in flight. */
  drain(): Promise<void>;
}

/** Pending appends are batched up to this many bytes before compression. */
const BATCH_BYTES = 1024 * 1024;

/**
 * The idempotent producer (KIP-98): every batch carries the producer's id and a sequence number per partition, so that a batch
 * resent after a lost response is not stored twice. acks=all. Appends during a batch in flight are sent in the next batch.
 */
export function createSender(deps: { cluster: Cluster; logger: Logger; unavailableAfterMs: number }): Sender {
  const { cluster, logger } = deps;
  const queues = new Map<string, PartitionQueue>();
  const admission = new Map<string, Promise<unknown>>();
  const running = new Set<Promise<void>>();
  const send = createGroupedProduce();
  let producer: Promise<ProducerState> | null = null;

  const currentProducer = (): Promise<ProducerState> => {
    producer ??= cluster
      .retry('Producer id', async () => (await cluster.anyBroker()).initProducerId(null))
      .catch((error: unknown) => {
        producer = null;
        throw error;
      });
    return producer;
  };

  const queueOf = (topic: string, partition: number): PartitionQueue => {
    const key = `${topic}/${partition}`;
    let queue = queues.get(key);
    if (queue === undefined) {
      queue = {
        topic,
        partition,
        pending: [],
        busy: false,
        producer: null,
        nextSequence: 0,
        endOffset: null,
        batchLimit: BATCH_BYTES,
      };
      queues.set(key, queue);
    }
    return queue;
  };

  const enqueue = (outputs: readonly PartitionRecords[]): Promise<readonly AppendedRange[]> =>
    Promise.all(
      outputs.map(
        ({ topic, partition, records }) =>
          new Promise<AppendedRange>((appended, failed) => {
            const queue = queueOf(topic, partition);
            queue.pending.push({
              records,
              bytes: records.reduce((sum, record) => sum + recordBytes(record), 0),
              deadlineMs: Date.now() + deps.unavailableAfterMs,
              resolve: (firstOffset) =>
                appended({ partition, firstOffset, lastOffset: firstOffset + records.length - 1 }),
              reject: failed,
            });
            start(queue);
          }),
      ),
    );

  /** Starts after this event-loop iteration, so that its appends share a batch. */
  const start = (queue: PartitionQueue) => {
    if (queue.busy) return;
    queue.busy = true;
    const run = Promise.resolve().then(async () => {
      while (queue.pending.length > 0) await deliver(queue, takeBatch(queue));
      queue.busy = false;
    });
    running.add(run);
    void run.finally(() => running.delete(run));
  };

  const deliver = async (queue: PartitionQueue, items: readonly PendingAppend[]): Promise<void> => {
    const { topic, partition } = queue;
    const what = `Append to topic "${topic}", partition ${partition}`;
    const count = items.reduce((sum, { records }) => sum + records.length, 0);
    try {
      const records = items.length === 1 ? items[0]!.records : items.flatMap((item) => item.records);
      const batch = await encodeBatch(records, { transactional: false, compress: true });
      if (batch.length > MAX_BATCH_BYTES) {
        throw new LogArgumentError(`${what}: ${batch.length} bytes in one call, the limit is ${MAX_BATCH_BYTES}`);
      }
      if (queue.producer === null) {
        queue.producer = await currentProducer();
        queue.nextSequence = 0;
      }
      queue.endOffset ??= await fetchEndOffset(cluster, topic, partition);
      stampBatch(batch, queue.producer, queue.nextSequence);
      const deadlineMs = Math.max(items[0]!.deadlineMs, Date.now() + 1000);
      let again = false;
      const baseOffset = await cluster.retry(
        what,
        () => {
          const sentBefore = again;
          again = true;
          return attempt(queue, batch, sentBefore);
        },
        { topic, deadlineMs },
      );
      queue.nextSequence = (queue.nextSequence + count) % 2 ** 31;
      queue.endOffset = baseOffset + count;
      let offset = baseOffset;
      for (const item of items) {
        item.resolve(offset);
        offset += item.records.length;
      }
    } catch (error) {
      if (error instanceof LogArgumentError && items.length > 1) {
        // The batch exceeds the topic's message size limit: send one append per batch from now on.
        queue.batchLimit = 0;
        queue.pending.unshift(...items);
        return;
      }
      // Whether the batch was appended is unknown, so its sequence numbers cannot be reused: the next batch uses a new producer.
      if (!(error instanceof LogArgumentError)) {
        if ((await producer?.catch(() => null)) === queue.producer) producer = null;
        queue.producer = null;
      }
      for (const item of items) item.reject(error);
    }
  };

  const attempt = async (queue: PartitionQueue, batch: Buffer, sentBefore: boolean): Promise<number> => {
    const { topic, partition, producer: sender, nextSequence: sequence, endOffset } = queue;
    if (sentBefore && sender !== null && endOffset !== null) {
      const appended = await findAppendedBatch(cluster, {
        topic,
        partition,
        producer: sender,
        sequence,
        from: endOffset,
      });
      if (appended !== null) return appended;
    }
    const connection = await cluster.leader(topic, partition, 'produce');
    const { error, baseOffset } = await send(connection, { topic, partition, batch });
    if (error === null) return baseOffset;
    if (error.type === 'DUPLICATE_SEQUENCE_NUMBER') {
      throw new LogUnavailableError(
        `Topic "${topic}": the batch was appended, but the broker no longer knows its offset`,
      );
    }
    if (isProducerStateLost(error)) {
      logger.warn(
        { topic, partition, err: error },
        'the broker no longer knows this producer; sending with a new producer id',
      );
      const lost = queue.producer;
      if (producer !== null && (await producer) === lost) producer = null;
      queue.producer = await currentProducer();
      queue.nextSequence = 0;
      stampBatch(batch, queue.producer, 0);
      throw new KafkaError('PRODUCER_RENEWED', error.message, true);
    }
    if (isRejected(error)) throw new LogArgumentError(error.message);
    throw error;
  };

  return {
    async append(topic, records) {
      if (cluster.closed.aborted) throw new LogUnavailableError('The log is closed');
      const waiting = admission.get(topic);
      const known = waiting === undefined ? cachedTopicMetadataFor(cluster, topic, records) : undefined;
      if (known !== undefined) return enqueue(groupByPartition(known, records));
      // Appends keep the order of the calls, also during a lookup of the topic.
      const admitted = (async () => {
        await waiting;
        return groupByPartition(await topicMetadataFor(cluster, topic, records), records);
      })();
      const queued = admitted.then(
        (outputs) => ({ result: enqueue(outputs) }),
        (error: unknown) => ({ result: Promise.reject(error) }),
      );
      admission.set(topic, queued);
      const { result } = await queued;
      if (admission.get(topic) === queued) admission.delete(topic);
      return result;
    },
    async drain() {
      while (admission.size > 0 || running.size > 0) await Promise.allSettled([...admission.values(), ...running]);
    },
  };
}

function takeBatch(queue: PartitionQueue): PendingAppend[] {
  let bytes = 0;
  let count = 0;
  for (const item of queue.pending) {
    if (count > 0 && bytes + item.bytes > queue.batchLimit) break;
    bytes += item.bytes;
    count++;
  }
  const taken = queue.pending.slice(0, count);
  queue.pending = queue.pending.slice(count);
  return taken;
}

/** Combines batches for one broker, sent in one event-loop iteration, into one request. */
function createGroupedProduce(): (connection: KafkaConnection, batch: ProduceBatch) => Promise<ProduceResult> {
  interface Waiting {
    readonly batch: ProduceBatch;
    readonly resolve: (result: ProduceResult) => void;
    readonly reject: (error: unknown) => void;
  }
  const groups = new Map<KafkaConnection, Waiting[]>();

  const flush = async (connection: KafkaConnection, group: readonly Waiting[]) => {
    try {
      const results = await connection.produce(
        null,
        group.map(({ batch }) => batch),
      );
      for (const { batch, resolve, reject } of group) {
        const result = results.find(({ topic, partition }) => topic === batch.topic && partition === batch.partition);
        if (result === undefined) reject(new KafkaError('CONNECTION', 'The broker left out a partition', true));
        else resolve(result);
      }
    } catch (error) {
      for (const { reject } of group) reject(error);
    }
  };

  return (connection, batch) =>
    new Promise((resolve, reject) => {
      const group = groups.get(connection);
      if (group !== undefined) {
        group.push({ batch, resolve, reject });
        return;
      }
      const created: Waiting[] = [{ batch, resolve, reject }];
      groups.set(connection, created);
      setImmediate(() => {
        groups.delete(connection);
        void flush(connection, created);
      });
    });
}
