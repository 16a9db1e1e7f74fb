import type { Logger } from '../../telemetry/logger.js';
import { FencedError, LogUnavailableError } from '../errors.js';
import type { AtomicStep, GroupOwnership } from '../port.js';
import { checkGroup, checkOffset } from './checks.js';
import type { Cluster } from './cluster.js';
import { KafkaError } from './kafka-error.js';
import { checkPartition, groupByPartition, type PartitionRecords, topicMetadataFor } from './partition-records.js';
import { topicPartitionKey } from './topic-partitions.js';
import {
  COORDINATOR_POLL_MS,
  createTransactionExecutor,
  isProducerLost,
  newTransactionalProducer,
  type PreparedStep,
  type TransactionalProducer,
} from './transaction.js';

export interface Transactions {
  /** Runs one step: commits all outputs and positions, or none. Resolves when all readers can see them. */
  run(step: AtomicStep): Promise<void>;
  /** Takes ownership of the group with a separate transactional id; earlier owners are fenced when this resolves. */
  acquireOwnership(group: string): Promise<GroupOwnership>;
  /** Whether this instance has acquired ownership of the group, also if another one has since. */
  hasOwned(group: string): boolean;
  /** Waits until no step of the group is partly visible, i.e. committed in one partition and not yet in another. */
  waitForPendingCommits(group: string): Promise<void>;
  /** Resolves when no step is running. */
  drain(): Promise<void>;
}

/** A transactional id and the end of its last queued step. */
interface StepQueue {
  readonly producer: TransactionalProducer;
  last: Promise<unknown>;
}

const PREFIX = 'oddstream/';
/** First pause after another instance took the transactional id over: longer than a step, so that one of the two completes. */
const TAKEOVER_BACKOFF_MS = 20;

/**
 * Consume-transform-produce (KIP-98): outputs and positions in one Kafka transaction, for readers of committed records.
 *
 * The transactional id consists of the group and the first partition whose position moves. So the first step of a successor aborts the step that a
 * dead process left open, and processes that share a group but no partition do not interfere. Two processes with the same id fence each
 * other alternately; the layer above assigns partitions to processes.
 */
export function createTransactions(deps: {
  cluster: Cluster;
  logger: Logger;
  /** Whether the record appended at this offset was committed (true) or aborted (false). Waits until that is decided. */
  isCommitted: (topic: string, partition: number, offset: number) => Promise<boolean>;
}): Transactions {
  const { cluster, logger, isCommitted } = deps;
  const executor = createTransactionExecutor({ cluster, isCommitted });
  const queues = new Map<string, StepQueue>();
  const running = new Set<Promise<unknown>>();
  const ownedGroups = new Set<string>();

  const prepare = async (step: AtomicStep): Promise<PreparedStep> => {
    const group = checkGroup(step.group);
    for (const position of step.offsets) checkOffset(position);
    const outputs = new Map<string, PartitionRecords>();
    for (const { topic, records } of step.outputs) {
      for (const output of groupByPartition(await topicMetadataFor(cluster, topic, records), records)) {
        const key = topicPartitionKey(output);
        const earlier = outputs.get(key);
        outputs.set(
          key,
          earlier === undefined ? output : { ...output, records: [...earlier.records, ...output.records] },
        );
      }
    }
    for (const { topic, partition } of step.offsets) await checkPartition(cluster, topic, partition);
    return { outputs: [...outputs.values()], group, offsets: step.offsets };
  };

  const runStep = (producer: TransactionalProducer, step: PreparedStep): Promise<void> => {
    const takenOver = (cause?: unknown) =>
      new KafkaError('TAKEN_OVER', 'other instances keep taking it over', true, { cause });
    const fenced = (cause?: unknown) =>
      new FencedError(`Another process acquired the ownership of ${producer.id}`, { cause });
    const attempt = async () => {
      try {
        if (await executor.execute(producer, step)) return;
        if (producer.owned) throw fenced();
      } catch (error) {
        // The records sent so far stay invisible: the next step of this id aborts them first.
        producer.producer = null;
        if (!isProducerLost(error)) throw error;
        if (producer.owned) throw fenced(error);
        logger.debug(
          { transaction: producer.id, err: error },
          'another instance took the transactional id over, retrying',
        );
        throw takenOver(error);
      }
      throw takenOver();
    };
    return cluster.retry(`Transaction ${producer.id}`, attempt, { initialDelayMs: TAKEOVER_BACKOFF_MS });
  };

  const queueOf = (id: string): StepQueue => {
    let queue = queues.get(id);
    if (queue === undefined) {
      queue = { producer: newTransactionalProducer(id, false), last: Promise.resolve() };
      queues.set(id, queue);
    }
    return queue;
  };

  const prepareAndRun = async (step: AtomicStep, ownQueue?: StepQueue): Promise<void> => {
    if (cluster.closed.aborted) throw new LogUnavailableError('The log is closed');
    const prepared = await prepare(step);
    if (prepared.outputs.length === 0 && prepared.offsets.length === 0) return;
    const queue = ownQueue ?? queueOf(transactionalId(prepared));
    const result = queue.last.then(() => runStep(queue.producer, prepared));
    queue.last = result.catch(() => undefined);
    await result;
  };

  const tracked = async (step: AtomicStep, ownQueue?: StepQueue): Promise<void> => {
    const work = prepareAndRun(step, ownQueue);
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
      const producer = newTransactionalProducer(`${PREFIX}${checkGroup(group)}/claim`, true);
      await executor.renew(producer);
      ownedGroups.add(group);
      const queue: StepQueue = { producer, last: Promise.resolve() };
      return { appendAndCommit: (step) => tracked({ ...step, group }, queue) };
    },
    hasOwned: (group) => ownedGroups.has(group),
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
        { initialDelayMs: COORDINATOR_POLL_MS },
      );
    },
    async drain() {
      while (running.size > 0) await Promise.allSettled(running);
    },
  };
}

function transactionalId({ group, offsets }: PreparedStep): string {
  const [first] = offsets.map(topicPartitionKey).sort();
  return `${PREFIX}${group}/${first ?? ''}`;
}
