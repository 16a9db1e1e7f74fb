import type { Logger } from '../../telemetry/logger.js';
import { FencedError, LogUnavailableError } from '../errors.js';
import type { AtomicStep, GroupOwnership, TopicPartitionOffset } from '../port.js';
import { fetchEndOffset, findAppendedBatch, hasOpenTransaction } from './appended-batches.js';
import { checkGroup, checkOffset } from './checks.js';
import type { Cluster, ConnectionPurpose, RetryOptions } from './cluster.js';
import { isProducerStateLost, isRejected, KafkaError } from './kafka-error.js';
import type { KafkaConnection, TopicOffsets, TopicPartitions, Transaction } from './kafkajs-client.js';
import { checkPartition, groupByPartition, type PartitionRecords, topicMetadataFor } from './partition-records.js';
import { encodeBatch, type ProducerState, stampBatch } from './record-batch.js';

export interface Transactions {
  /** One step: all outputs and positions land, or none. Resolves when readers everywhere can see them. */
  run(step: AtomicStep): Promise<void>;
  /** Take the group over with a transactional id of its own; whoever claimed it before is shut out when this resolves. */
  acquireOwnership(group: string): Promise<GroupOwnership>;
  /** Wait until no step of the group is half visible: its positions in one place, its outputs not yet in another. */
  waitForPendingCommits(group: string): Promise<void>;
  drain(): Promise<void>;
}

/** The single writer behind one transactional id in this process. */
interface TransactionalProducer {
  readonly id: string;
  /** The id is this process's own until another one claims it: it is taken once and never taken back. */
  readonly owned: boolean;
  producer: ProducerState | null;
  /** Next sequence number per `topic/partition`. */
  sequences: Map<string, number>;
  /** Offset per `topic/partition` that what is sent next cannot land below. */
  readonly endOffsets: Map<string, number>;
  /** `topic/partition` where nothing of an earlier epoch is left open. */
  cleanPartitions: Set<string>;
  last: Promise<unknown>;
}

interface PreparedStep {
  readonly outputs: readonly PartitionRecords[];
  readonly group: string;
  readonly offsets: readonly TopicPartitionOffset[];
}

/** A batch of the step that is under way, and where it landed. */
interface AppendedBatch {
  readonly topic: string;
  readonly partition: number;
  readonly baseOffset: number;
}

const PREFIX = 'oddstream/';
/** A commit takes about 3 ms to reach every partition. */
const POLL_MS = 1;
/** First pause after another instance took the transactional id: longer than a step, so that one of them gets through. */
const TAKEOVER_BACKOFF_MS = 20;

/**
 * Consume-transform-produce (KIP-98): outputs and positions in one Kafka transaction, for readers that take committed records only.
 *
 * The transactional id is made of the group and the first partition whose position moves, so a step that a dead process left open is rolled
 * back by its successor's first step, and processes that share a group but not partitions do not disturb each other. Two that do take turns:
 * which one owns a partition is decided above the log.
 */
export function createTransactions(deps: {
  cluster: Cluster;
  logger: Logger;
  /** Is the record that was appended at this offset committed (true) or rolled back (false)? Waits until that is decided. */
  isCommitted: (topic: string, partition: number, offset: number) => Promise<boolean>;
}): Transactions {
  const { cluster, logger, isCommitted } = deps;
  const writers = new Map<string, TransactionalProducer>();
  const running = new Set<Promise<unknown>>();

  const onCoordinator = <T>(
    what: string,
    id: string,
    attempt: (connection: KafkaConnection) => Promise<T>,
    options: RetryOptions = {},
  ): Promise<T> =>
    cluster.retry(what, async () => attempt(await cluster.coordinator('transaction', id, connectionPurpose(id))), {
      coordinator: { kind: 'transaction', key: id },
      initialDelayMs: POLL_MS,
      ...options,
    });

  /** A new epoch: whoever used the id before is shut out, and what it left open is finished or rolled back first. */
  const renew = async (writer: TransactionalProducer): Promise<ProducerState> => {
    writer.producer = await onCoordinator(`Transaction ${writer.id}`, writer.id, (c) => c.initProducerId(writer.id));
    writer.sequences = new Map();
    writer.cleanPartitions = new Set();
    return writer.producer;
  };

  /**
   * Rolls back what an earlier epoch of this writer may have left open where it is about to write, before its first step there. The new epoch has done so
   * wherever the coordinator knew of it; but a broker whose disk was full may have lost what it knew, and keep the records: the marker that ends the
   * next transaction would then commit them too. Where others write at the moment it costs a transaction without records.
   */
  const clear = async (writer: TransactionalProducer, transaction: Transaction, step: PreparedStep): Promise<void> => {
    const unknown = step.outputs.filter((placed) => !writer.cleanPartitions.has(topicPartitionKey(placed)));
    const open = await Promise.all(
      unknown.map(({ topic, partition }) => hasOpenTransaction(cluster, topic, partition)),
    );
    const inUse = unknown.filter((_, at) => open[at]);
    if (inUse.length > 0) {
      const what = `Transaction ${writer.id}`;
      await onCoordinator(what, writer.id, (c) => c.addPartitionsToTxn(transaction, partitionsOf(inUse)));
      if (step.offsets.length > 0)
        await onCoordinator(what, writer.id, (c) => c.addOffsetsToTxn(transaction, step.group));
      await onCoordinator(what, writer.id, (c) => c.endTxn(transaction, false));
    }
    for (const placed of unknown) writer.cleanPartitions.add(topicPartitionKey(placed));
  };

  const prepare = async (step: AtomicStep): Promise<PreparedStep> => {
    const group = checkGroup(step.group);
    for (const position of step.offsets) checkOffset(position);
    const outputs: PartitionRecords[] = [];
    for (const { topic, records } of step.outputs) {
      for (const placed of groupByPartition(await topicMetadataFor(cluster, topic, records), records)) {
        const same = outputs.findIndex((own) => own.topic === topic && own.partition === placed.partition);
        if (same === -1) outputs.push(placed);
        else outputs[same] = { ...placed, records: [...outputs[same]!.records, ...placed.records] };
      }
    }
    for (const { topic, partition } of step.offsets) await checkPartition(cluster, topic, partition);
    return { outputs, group, offsets: step.offsets };
  };

  const produce = async (
    writer: TransactionalProducer,
    transaction: Transaction,
    placed: PartitionRecords,
  ): Promise<AppendedBatch> => {
    const { topic, partition, records } = placed;
    const key = topicPartitionKey(placed);
    const sequence = writer.sequences.get(key) ?? 0;
    const batch = await encodeBatch(records, { transactional: true, compress: true });
    stampBatch(batch, transaction, sequence);
    const what = `Append to topic "${topic}", partition ${partition}`;
    const end = writer.endOffsets.get(key) ?? (await fetchEndOffset(cluster, topic, partition));
    let sentBefore = false;
    const attempt = async () => {
      if (sentBefore) {
        const landed = await findAppendedBatch(cluster, {
          topic,
          partition,
          producer: transaction,
          sequence,
          from: end,
        });
        if (landed !== null) return landed;
      }
      sentBefore = true;
      const connection = await cluster.leader(topic, partition, connectionPurpose(writer.id));
      const [result] = await connection.produce(transaction.transactionalId, [{ topic, partition, batch }]);
      if (result === undefined) throw new KafkaError('CONNECTION', 'The broker left out the partition', true);
      if (result.error !== null) throw result.error;
      return result.baseOffset;
    };
    const baseOffset = await cluster.retry(what, attempt, { topic });
    writer.sequences.set(key, (sequence + records.length) % 2 ** 31);
    writer.endOffsets.set(key, baseOffset + records.length);
    return { topic, partition, baseOffset };
  };

  const moveGroup = async (
    transaction: Transaction,
    group: string,
    positions: readonly TopicPartitionOffset[],
  ): Promise<void> => {
    if (positions.length === 0) return;
    const { transactionalId } = transaction;
    await onCoordinator(`Transaction ${transactionalId}`, transactionalId, (c) =>
      c.addOffsetsToTxn(transaction, group),
    );
    await cluster.retry(
      `Positions of group "${group}"`,
      async () => {
        const connection = await cluster.coordinator('group', group, connectionPurpose(transactionalId));
        await connection.txnOffsetCommit(transaction, group, topicOffsetsOf(positions));
      },
      { coordinator: { kind: 'group', key: group } },
    );
  };

  /** The commit. An answer that was lost is asked for again; once the broker no longer knows, the records themselves tell. */
  const commit = async (
    writer: TransactionalProducer,
    transaction: Transaction,
    landed: readonly AppendedBatch[],
  ): Promise<boolean> => {
    const what = `Commit of transaction ${writer.id}`;
    const end = () => onCoordinator(what, writer.id, (c) => c.endTxn(transaction, true));
    try {
      await end();
    } catch (error) {
      if (!isProducerLost(error)) throw error;
      if (!writer.owned) await renew(writer);
      const [first] = landed;
      return first !== undefined && isCommitted(first.topic, first.partition, first.baseOffset);
    }
    try {
      // Answered with CONCURRENT_TRANSACTIONS, and so asked again, until every partition has the commit's marker.
      await end();
    } catch (error) {
      // Only a transaction that is complete can have been followed by another.
      if (!isProducerLost(error)) throw error;
      writer.producer = null;
    }
    return true;
  };

  const attempt = async (writer: TransactionalProducer, step: PreparedStep): Promise<boolean> => {
    if (writer.owned && writer.producer === null) throw new FencedError(`The claim of ${writer.id} has ended`);
    const producer = writer.producer ?? (await renew(writer));
    const transaction: Transaction = { ...producer, transactionalId: writer.id };
    if (step.outputs.length > 0) {
      await clear(writer, transaction, step);
      const partitions = partitionsOf(step.outputs);
      await onCoordinator(`Transaction ${writer.id}`, writer.id, (c) => c.addPartitionsToTxn(transaction, partitions));
    }
    const sent = await Promise.allSettled([
      Promise.all(step.outputs.map((placed) => produce(writer, transaction, placed))),
      moveGroup(transaction, step.group, step.offsets),
    ]);
    for (const result of sent) if (result.status === 'rejected') throw result.reason;
    const landed = sent[0].status === 'fulfilled' ? sent[0].value : [];
    return commit(writer, transaction, landed);
  };

  const runStep = (writer: TransactionalProducer, step: PreparedStep): Promise<void> => {
    const what = `Transaction ${writer.id}`;
    const takenOver = (cause?: unknown) =>
      new KafkaError('TAKEN_OVER', 'other instances keep taking it over', true, { cause });
    const once = async () => {
      try {
        if (await attempt(writer, step)) return;
        if (writer.owned) throw new FencedError(`Another process claimed ${writer.id}`);
      } catch (error) {
        // What was sent stays invisible: the next step of this id rolls it back before it starts.
        writer.producer = null;
        if (!isProducerLost(error)) throw error;
        if (writer.owned) throw new FencedError(`Another process claimed ${writer.id}`, { cause: error });
        logger.debug({ transaction: writer.id, err: error }, 'another instance used the transactional id; again');
        throw takenOver(error);
      }
      throw takenOver();
    };
    return cluster.retry(what, once, { initialDelayMs: TAKEOVER_BACKOFF_MS });
  };

  const writerFor = (id: string): TransactionalProducer => {
    let writer = writers.get(id);
    if (writer === undefined) {
      writer = newTransactionalProducer(id, false);
      writers.set(id, writer);
    }
    return writer;
  };

  const runWhole = async (step: AtomicStep, claimed?: TransactionalProducer): Promise<void> => {
    if (cluster.closed.aborted) throw new LogUnavailableError('The log is closed');
    const prepared = await prepare(step);
    if (prepared.outputs.length === 0 && prepared.offsets.length === 0) return;
    const writer = claimed ?? writerFor(transactionalId(prepared));
    const turn = writer.last.then(() => runStep(writer, prepared));
    writer.last = turn.catch(() => undefined);
    await turn;
  };

  const tracked = async (step: AtomicStep, claimed?: TransactionalProducer): Promise<void> => {
    const work = runWhole(step, claimed);
    running.add(work);
    try {
      await work;
    } finally {
      running.delete(work);
    }
  };

  return {
    run: (step) => tracked(step),
    async acquireOwnership(group) {
      const writer = newTransactionalProducer(`${PREFIX}${checkGroup(group)}/claim`, true);
      await renew(writer);
      return { appendAndCommit: (step) => tracked({ ...step, group }, writer) };
    },
    async waitForPendingCommits(group) {
      const prefix = `${PREFIX}${group}/`;
      await cluster.retry(
        `Transactions of group "${group}"`,
        async () => {
          const { brokers } = await cluster.metadata();
          for (const broker of brokers) {
            const open = await (await cluster.connectTo(broker)).listCommittingTransactions();
            if (open.some((id) => id.startsWith(prefix))) {
              throw new KafkaError('CONCURRENT_TRANSACTIONS', 'A commit is still being written', true);
            }
          }
        },
        { initialDelayMs: POLL_MS },
      );
    },
    async drain() {
      while (running.size > 0) await Promise.allSettled(running);
    },
  };
}

function newTransactionalProducer(id: string, owned: boolean): TransactionalProducer {
  return {
    id,
    owned,
    producer: null,
    sequences: new Map(),
    endOffsets: new Map(),
    cleanPartitions: new Set(),
    last: Promise.resolve(),
  };
}

const topicPartitionKey = ({ topic, partition }: Pick<PartitionRecords, 'topic' | 'partition'>): string =>
  `${topic}/${partition}`;
const connectionPurpose = (id: string): ConnectionPurpose => `writer ${id}`;

/** The cluster wraps what it gives up on; the broker's own word is the cause. */
function isProducerLost(error: unknown): boolean {
  return (
    isProducerStateLost(error) ||
    (error instanceof Error && isProducerStateLost(error.cause) && !isRejected(error.cause))
  );
}

function transactionalId({ group, offsets }: PreparedStep): string {
  const [first] = offsets.map(({ topic, partition }) => `${topic}/${partition}`).sort();
  return `${PREFIX}${group}/${first ?? ''}`;
}

function partitionsOf(outputs: readonly PartitionRecords[]): TopicPartitions[] {
  const topics = new Map<string, number[]>();
  for (const { topic, partition } of outputs) topics.set(topic, [...(topics.get(topic) ?? []), partition]);
  return [...topics].map(([topic, partitions]) => ({ topic, partitions }));
}

/** Positions as the coordinator takes them; of several for one partition the last. */
export function topicOffsetsOf(positions: readonly TopicPartitionOffset[]): TopicOffsets[] {
  const topics = new Map<string, Map<number, number>>();
  for (const { topic, partition, nextOffset } of positions) {
    const own = topics.get(topic) ?? new Map<number, number>();
    topics.set(topic, own.set(partition, nextOffset));
  }
  return [...topics].map(([topic, own]) => ({
    topic,
    partitions: [...own].map(([partition, offset]) => ({ partition, offset })),
  }));
}
