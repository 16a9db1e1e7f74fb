import type { Logger } from '../../telemetry/logger.js';
import { LogArgumentError, LogUnavailableError } from '../errors.js';
import type { AppendedRange, NewRecord } from '../port.js';
import { fetchEndOffset, findAppendedBatch } from './appended-batches.js';
import { MAX_BATCH_BYTES } from './checks.js';
import type { Cluster } from './cluster.js';
import { isProducerStateLost, isRejected, KafkaError } from './kafka-error.js';
import type { KafkaConnection, ProduceBatch, ProduceResult } from './kafkajs-client.js';
import {
  cachedTopicMetadataFor,
  groupByPartition,
  type PartitionRecords,
  topicMetadataFor,
} from './partition-records.js';
import { type EncodableRecord, encodeBatch, type ProducerState, recordBytes, stampBatch } from './record-batch.js';

/** Records of one append for one partition. They share a batch with what else waits, or have one alone; never two. */
interface PendingAppend {
  readonly records: readonly EncodableRecord[];
  readonly bytes: number;
  readonly deadlineMs: number;
  readonly resolve: (firstOffset: number) => void;
  readonly reject: (error: unknown) => void;
}

/** One partition's line. One batch is under way at a time, which keeps the order whatever fails. */
interface PartitionQueue {
  readonly topic: string;
  readonly partition: number;
  pending: PendingAppend[];
  busy: boolean;
  producer: ProducerState | null;
  nextSequence: number;
  /** The next batch cannot land below this offset; unknown before the first. */
  endOffset: number | null;
  batchLimit: number;
}

export interface Sender {
  append(topic: string, records: readonly NewRecord[]): Promise<readonly AppendedRange[]>;
  /** Resolves when nothing is under way any more. */
  drain(): Promise<void>;
}

/** Appends that wait are put together up to this many bytes before compression. */
const BATCH_BYTES = 1024 * 1024;

/**
 * The idempotent producer (KIP-98): every batch carries the producer's id and a sequence number per partition, so that one sent again
 * because its answer was lost is not stored twice. acks=all. What is appended while a batch is under way goes out together with the next.
 */
export function createSender(deps: { cluster: Cluster; logger: Logger; unavailableAfterMs: number }): Sender {
  const { cluster, logger } = deps;
  const lanes = new Map<string, PartitionQueue>();
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

  const laneOf = (topic: string, partition: number): PartitionQueue => {
    const key = `${topic}/${partition}`;
    let lane = lanes.get(key);
    if (lane === undefined) {
      lane = {
        topic,
        partition,
        pending: [],
        busy: false,
        producer: null,
        nextSequence: 0,
        endOffset: null,
        batchLimit: BATCH_BYTES,
      };
      lanes.set(key, lane);
    }
    return lane;
  };

  const enqueue = (placed: readonly PartitionRecords[]): Promise<readonly AppendedRange[]> =>
    Promise.all(
      placed.map(
        ({ topic, partition, records }) =>
          new Promise<AppendedRange>((landed, failed) => {
            const lane = laneOf(topic, partition);
            lane.pending.push({
              records,
              bytes: records.reduce((sum, record) => sum + recordBytes(record), 0),
              deadlineMs: Date.now() + deps.unavailableAfterMs,
              resolve: (firstOffset) =>
                landed({ partition, firstOffset, lastOffset: firstOffset + records.length - 1 }),
              reject: failed,
            });
            start(lane);
          }),
      ),
    );

  /** Starts at the end of this turn, so that appends of one turn go together. */
  const start = (lane: PartitionQueue) => {
    if (lane.busy) return;
    lane.busy = true;
    const run = Promise.resolve().then(async () => {
      while (lane.pending.length > 0) await deliver(lane, takeBatch(lane));
      lane.busy = false;
    });
    running.add(run);
    void run.finally(() => running.delete(run));
  };

  const deliver = async (lane: PartitionQueue, items: readonly PendingAppend[]): Promise<void> => {
    const { topic, partition } = lane;
    const what = `Append to topic "${topic}", partition ${partition}`;
    const count = items.reduce((sum, { records }) => sum + records.length, 0);
    try {
      const records = items.length === 1 ? items[0]!.records : items.flatMap((item) => item.records);
      const batch = await encodeBatch(records, { transactional: false, compress: true });
      if (batch.length > MAX_BATCH_BYTES) {
        throw new LogArgumentError(`${what}: ${batch.length} bytes in one call, the limit is ${MAX_BATCH_BYTES}`);
      }
      if (lane.producer === null) {
        lane.producer = await currentProducer();
        lane.nextSequence = 0;
      }
      lane.endOffset ??= await fetchEndOffset(cluster, topic, partition);
      stampBatch(batch, lane.producer, lane.nextSequence);
      const deadlineMs = Math.max(items[0]!.deadlineMs, Date.now() + 1000);
      let again = false;
      const baseOffset = await cluster.retry(
        what,
        () => {
          const sentBefore = again;
          again = true;
          return attempt(lane, batch, sentBefore);
        },
        { topic, deadlineMs },
      );
      lane.nextSequence = (lane.nextSequence + count) % 2 ** 31;
      lane.endOffset = baseOffset + count;
      let offset = baseOffset;
      for (const item of items) {
        item.resolve(offset);
        offset += item.records.length;
      }
    } catch (error) {
      if (error instanceof LogArgumentError && items.length > 1) {
        // Too large together for a limit somebody set on the topic: one by one from now on.
        lane.batchLimit = 0;
        lane.pending.unshift(...items);
        return;
      }
      // Whether the batch landed is not known, so its numbers cannot be used again: the next one comes from a new producer.
      if (!(error instanceof LogArgumentError)) {
        if ((await producer?.catch(() => null)) === lane.producer) producer = null;
        lane.producer = null;
      }
      for (const item of items) item.reject(error);
    }
  };

  const attempt = async (lane: PartitionQueue, batch: Buffer, sentBefore: boolean): Promise<number> => {
    const { topic, partition, producer: sender, nextSequence: sequence, endOffset } = lane;
    if (sentBefore && sender !== null && endOffset !== null) {
      const landed = await findAppendedBatch(cluster, {
        topic,
        partition,
        producer: sender,
        sequence,
        from: endOffset,
      });
      if (landed !== null) return landed;
    }
    const connection = await cluster.leader(topic, partition, 'produce');
    const { error, baseOffset } = await send(connection, { topic, partition, batch });
    if (error === null) return baseOffset;
    if (error.type === 'DUPLICATE_SEQUENCE_NUMBER') {
      throw new LogUnavailableError(`Topic "${topic}": the batch landed, but the broker has forgotten at which offset`);
    }
    if (isProducerStateLost(error)) {
      logger.warn({ topic, partition, err: error }, 'the broker forgot this producer; going on under a new id');
      const lost = lane.producer;
      if (producer !== null && (await producer) === lost) producer = null;
      lane.producer = await currentProducer();
      lane.nextSequence = 0;
      stampBatch(batch, lane.producer, 0);
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
      // What came first is placed first, also while the topic is being looked up.
      const admitted = (async () => {
        await waiting;
        return groupByPartition(await topicMetadataFor(cluster, topic, records), records);
      })();
      const turn = admitted.then(
        (placed) => ({ result: enqueue(placed) }),
        (error: unknown) => ({ result: Promise.reject(error) }),
      );
      admission.set(topic, turn);
      const { result } = await turn;
      if (admission.get(topic) === turn) admission.delete(topic);
      return result;
    },
    async drain() {
      while (admission.size > 0 || running.size > 0) await Promise.allSettled([...admission.values(), ...running]);
    },
  };
}

function takeBatch(lane: PartitionQueue): PendingAppend[] {
  let bytes = 0;
  let count = 0;
  for (const item of lane.pending) {
    if (count > 0 && bytes + item.bytes > lane.batchLimit) break;
    bytes += item.bytes;
    count++;
  }
  const taken = lane.pending.slice(0, count);
  lane.pending = lane.pending.slice(count);
  return taken;
}

/** Puts batches for one broker that are sent in one turn into one request. */
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
      const own: Waiting[] = [{ batch, resolve, reject }];
      groups.set(connection, own);
      setImmediate(() => {
        groups.delete(connection);
        void flush(connection, own);
      });
    });
}
