import { FencedError } from '../errors.js';
import type { TopicPartitionOffset } from '../port.js';
import { fetchEndOffset, findAppendedBatch, hasOpenTransaction } from './appended-batches.js';
import type { Cluster, ConnectionPurpose } from './cluster.js';
import type { KafkaConnection, Transaction } from './kafka-connection.js';
import { isProducerStateLost, isRejected, KafkaError } from './kafka-error.js';
import type { PartitionRecords } from './partition-records.js';
import { encodeBatch, type ProducerState, stampBatch } from './record-batch.js';
import { offsetsByTopic, partitionsByTopic, topicPartitionKey } from './topic-partitions.js';

/** State of the only producer of this process for one transactional id. */
export interface TransactionalProducer {
  readonly id: string;
  /** Whether it fences earlier producers of the id only once. After another process has taken the id over, its steps fail with FencedError. */
  readonly owned: boolean;
  /** Producer id and epoch; null before the first step and after a failed one. */
  producer: ProducerState | null;
  /** Next sequence number per `topic/partition`. */
  sequences: Map<string, number>;
  /** Lower bound of the next batch's offset per `topic/partition`. */
  readonly endOffsets: Map<string, number>;
  /** `topic/partition` of partitions without an open transaction of an earlier epoch. */
  cleanPartitions: Set<string>;
}

/** A checked step, its records grouped by partition. */
export interface PreparedStep {
  readonly outputs: readonly PartitionRecords[];
  readonly group: string;
  readonly offsets: readonly TopicPartitionOffset[];
}

/** Runs single transactions; the caller runs one at a time per transactional id and retries them. */
export interface TransactionExecutor {
  /** Gets a new epoch from the coordinator, which fences earlier producers of the id and completes or aborts their transaction. */
  renew(producer: TransactionalProducer): Promise<void>;
  /**
   * Writes the step in one transaction and commits it. False: another producer aborted it. Throws KafkaError when the producer's state is lost (see
   * `isProducerLost`), FencedError when an owned producer has lost its id. After an error no record of the step is visible.
   */
  execute(producer: TransactionalProducer, step: PreparedStep): Promise<boolean>;
}

/** Offset of an appended batch of the current step. */
interface AppendedBatch {
  readonly topic: string;
  readonly partition: number;
  readonly baseOffset: number;
}

/** First pause between two requests to a coordinator: a commit takes about 3 ms to reach every partition. */
export const COORDINATOR_POLL_MS = 1;

export function newTransactionalProducer(id: string, owned: boolean): TransactionalProducer {
  return { id, owned, producer: null, sequences: new Map(), endOffsets: new Map(), cleanPartitions: new Set() };
}

/** Whether the error means that the broker no longer accepts the producer. `cluster.retry` throws with the broker's error as the cause. */
export function isProducerLost(error: unknown): boolean {
  return (
    isProducerStateLost(error) ||
    (error instanceof Error && isProducerStateLost(error.cause) && !isRejected(error.cause))
  );
}

/** The requests of one Kafka transaction (KIP-98): add partitions, produce, add and commit offsets, end. */
export function createTransactionExecutor(deps: {
  cluster: Cluster;
  /** Whether the record appended at this offset was committed (true) or aborted (false). Waits until that is decided. */
  isCommitted: (topic: string, partition: number, offset: number) => Promise<boolean>;
}): TransactionExecutor {
  const { cluster, isCommitted } = deps;

  const onCoordinator = <T>(
    id: string,
    attempt: (connection: KafkaConnection) => Promise<T>,
    what = `Transaction ${id}`,
  ): Promise<T> =>
    cluster.retry(what, async () => attempt(await cluster.coordinator('transaction', id, connectionPurpose(id))), {
      coordinator: { kind: 'transaction', key: id },
      initialDelayMs: COORDINATOR_POLL_MS,
    });

  const initProducer = async (producer: TransactionalProducer): Promise<ProducerState> => {
    const state = await onCoordinator(producer.id, (connection) => connection.initProducerId(producer.id));
    producer.producer = state;
    producer.sequences = new Map();
    producer.cleanPartitions = new Set();
    return state;
  };

  /**
   * Aborts transactions of earlier epochs that may be open in the step's partitions, once per partition. A new epoch aborts every transaction that
   * the coordinator knows. But a broker whose disk was full may have lost the coordinator's state and kept the records; the marker that ends the
   * next transaction would commit them too. When another producer is writing to the partition, this costs a transaction without records.
   */
  const abortOpenTransactions = async (
    producer: TransactionalProducer,
    transaction: Transaction,
    step: PreparedStep,
  ): Promise<void> => {
    const unchecked = step.outputs.filter((output) => !producer.cleanPartitions.has(topicPartitionKey(output)));
    const open = await Promise.all(
      unchecked.map(({ topic, partition }) => hasOpenTransaction(cluster, topic, partition)),
    );
    const inUse = unchecked.filter((_, at) => open[at]);
    if (inUse.length > 0) {
      await onCoordinator(producer.id, (c) => c.addPartitionsToTxn(transaction, partitionsByTopic(inUse)));
      if (step.offsets.length > 0) await onCoordinator(producer.id, (c) => c.addOffsetsToTxn(transaction, step.group));
      await onCoordinator(producer.id, (c) => c.endTxn(transaction, false));
    }
    for (const output of unchecked) producer.cleanPartitions.add(topicPartitionKey(output));
  };

  const produce = async (
    producer: TransactionalProducer,
    transaction: Transaction,
    output: PartitionRecords,
  ): Promise<AppendedBatch> => {
    const { topic, partition, records } = output;
    const key = topicPartitionKey(output);
    const sequence = producer.sequences.get(key) ?? 0;
    const batch = await encodeBatch(records, { transactional: true, compress: true });
    stampBatch(batch, transaction, sequence);
    const from = producer.endOffsets.get(key) ?? (await fetchEndOffset(cluster, topic, partition));
    let sentBefore = false;
    const attempt = async () => {
      if (sentBefore) {
        const search = { topic, partition, producer: transaction, sequence, from };
        const appended = await findAppendedBatch(cluster, search);
        if (appended !== null) return appended;
      }
      sentBefore = true;
      const connection = await cluster.leader(topic, partition, connectionPurpose(producer.id));
      const [result] = await connection.produce(transaction.transactionalId, [{ topic, partition, batch }]);
      if (result === undefined) throw new KafkaError('CONNECTION', 'The broker left out the partition', true);
      if (result.error !== null) throw result.error;
      return result.baseOffset;
    };
    const baseOffset = await cluster.retry(`Append to topic "${topic}", partition ${partition}`, attempt, { topic });
    producer.sequences.set(key, (sequence + records.length) % 2 ** 31);
    producer.endOffsets.set(key, baseOffset + records.length);
    return { topic, partition, baseOffset };
  };

  const commitOffsets = async (
    transaction: Transaction,
    group: string,
    offsets: readonly TopicPartitionOffset[],
  ): Promise<void> => {
    if (offsets.length === 0) return;
    const { transactionalId } = transaction;
    await onCoordinator(transactionalId, (connection) => connection.addOffsetsToTxn(transaction, group));
    await cluster.retry(
      `Positions of group "${group}"`,
      async () => {
        const connection = await cluster.coordinator('group', group, connectionPurpose(transactionalId));
        await connection.txnOffsetCommit(transaction, group, offsetsByTopic(offsets));
      },
      { coordinator: { kind: 'group', key: group } },
    );
  };

  /** Commits. Repeats the request after a lost response; when the broker no longer knows the transaction, its first record shows the outcome. */
  const commit = async (
    producer: TransactionalProducer,
    transaction: Transaction,
    appended: readonly AppendedBatch[],
  ): Promise<boolean> => {
    const end = () =>
      onCoordinator(producer.id, (c) => c.endTxn(transaction, true), `Commit of transaction ${producer.id}`);
    try {
      await end();
    } catch (error) {
      if (!isProducerLost(error)) throw error;
      if (!producer.owned) await initProducer(producer);
      const [first] = appended;
      return first !== undefined && isCommitted(first.topic, first.partition, first.baseOffset);
    }
    try {
      // The response is CONCURRENT_TRANSACTIONS, which is retried, until every partition has the commit marker.
      await end();
    } catch (error) {
      // The coordinator starts a later transaction or epoch only after this one is complete.
      if (!isProducerLost(error)) throw error;
      producer.producer = null;
    }
    return true;
  };

  return {
    async renew(producer) {
      await initProducer(producer);
    },
    async execute(producer, step) {
      if (producer.owned && producer.producer === null) {
        throw new FencedError(`The ownership of ${producer.id} has ended: an earlier step failed`);
      }
      const state = producer.producer ?? (await initProducer(producer));
      const transaction: Transaction = { ...state, transactionalId: producer.id };
      if (step.outputs.length > 0) {
        await abortOpenTransactions(producer, transaction, step);
        await onCoordinator(producer.id, (c) => c.addPartitionsToTxn(transaction, partitionsByTopic(step.outputs)));
      }
      const sent = await Promise.allSettled([
        Promise.all(step.outputs.map((output) => produce(producer, transaction, output))),
        commitOffsets(transaction, step.group, step.offsets),
      ]);
      for (const result of sent) if (result.status === 'rejected') throw result.reason;
      return commit(producer, transaction, sent[0].status === 'fulfilled' ? sent[0].value : []);
    },
  };
}

const connectionPurpose = (id: string): ConnectionPurpose => `writer ${id}`;
