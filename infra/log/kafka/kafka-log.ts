import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../telemetry/logger.js';
import type { LogHealth } from '../health.js';
import type { Log } from '../port.js';
import { checkGroup, checkOffset } from './checks.js';
import { type ClusterOptions, createCluster } from './cluster.js';
import { checkPartition } from './partition-records.js';
import { createReader } from './reader.js';
import { createSender } from './sender.js';
import { ensureTopics } from './topics.js';
import { createTransactions, topicOffsetsOf } from './transactions.js';

export interface KafkaLogOptions {
  /** `host:port` of one or more brokers of the cluster. */
  readonly brokers: readonly string[];
  readonly logger: Logger;
  /**
   * How long any call keeps trying while brokers are away before it throws LogUnavailableError. Default 30 s. A `read` that follows and has begun
   * keeps trying until its signal aborts.
   */
  readonly unavailableAfterMs?: number;
  /** Hears how attempts go. */
  readonly health?: LogHealth;
}

const UNAVAILABLE_AFTER_MS = 30_000;
/** What is under way at close gets this long. */
const CLOSE_TIMEOUT_MS = 3_000;
const MIN_OFFSETS_RETENTION_MINUTES = 30 * 24 * 60;

/**
 * The Kafka engine, for brokers 3.0 to 4.x. Rejects with LogUnavailableError when no broker answers.
 *
 * Beyond the port: an append that fails with LogUnavailableError may have landed, because a broker that goes away can take the answer with
 * it; as long as the broker comes back within `unavailableAfterMs`, nothing lands twice or out of order. An append that spans partitions is
 * whole within each. Retention and compaction are the brokers' work, so `maintain` does nothing.
 */
export async function createKafkaLog(options: KafkaLogOptions): Promise<Log> {
  const { logger, brokers, health, unavailableAfterMs = UNAVAILABLE_AFTER_MS } = options;
  const clusterOptions: ClusterOptions = { brokers, logger, unavailableAfterMs, health };
  const cluster = createCluster(clusterOptions);
  const reader = createReader({ cluster, logger });
  const sender = createSender({ cluster, logger, unavailableAfterMs });
  const transactions = createTransactions({ cluster, logger, isCommitted: reader.isCommitted });

  const warnOfShortRetention = async () => {
    const [broker] = (await cluster.metadata()).brokers;
    if (broker === undefined) return;
    const connection = await cluster.connectTo(broker);
    const minutes = Number(await connection.brokerConfig(broker.nodeId, 'offsets.retention.minutes'));
    if (minutes < MIN_OFFSETS_RETENTION_MINUTES) {
      logger.warn({ minutes }, 'offsets.retention.minutes is short: positions of a group that rests longer are lost');
    }
  };

  try {
    await cluster.retry(`Kafka at ${brokers.join(', ')}`, warnOfShortRetention);
  } catch (error) {
    cluster.close();
    throw error;
  }

  return {
    ensureTopics: (specs) => ensureTopics({ cluster, logger }, specs),
    partitions: async (topic) => (await cluster.topic(topic, { fresh: true })).partitions,
    append: (topic, records) => sender.append(topic, records),
    appendAndCommit: (step) => transactions.run(step),
    acquireOwnership: (group) => transactions.acquireOwnership(group),
    read: (read) => reader.read(read),
    bounds: (topic, partition) => reader.bounds(topic, partition),
    offsetForTimestamp: (topic, partition, timestampMs) => reader.offsetForTimestamp(topic, partition, timestampMs),
    lastRecord: (topic, partition) => reader.lastRecord(topic, partition),
    async commit(group, positions) {
      checkGroup(group);
      for (const position of positions) {
        checkOffset(position);
        await checkPartition(cluster, position.topic, position.partition);
      }
      if (positions.length === 0) return;
      await cluster.retry(
        `Positions of group "${group}"`,
        async () => (await cluster.coordinator('group', group)).offsetCommit(group, topicOffsetsOf(positions)),
        { coordinator: { kind: 'group', key: group } },
      );
    },
    async committed(group, topic) {
      checkGroup(group);
      const { partitions } = await cluster.topic(topic, { fresh: true });
      const all = Array.from({ length: partitions }, (_, partition) => partition);
      const found = await cluster.retry(
        `Positions of group "${group}"`,
        async () => (await cluster.coordinator('group', group)).offsetFetch(group, topic, all),
        { coordinator: { kind: 'group', key: group } },
      );
      await transactions.waitForPendingCommits(group);
      return found.map(({ partition, offset }) => ({ topic, partition, nextOffset: offset }));
    },
    maintain: async () => undefined,
    async close() {
      if (cluster.closed.aborted) return;
      const drained = new AbortController();
      const all = Promise.all([sender.drain(), transactions.drain()]);
      const patience = sleep(CLOSE_TIMEOUT_MS, undefined, { signal: drained.signal, ref: false }).catch(
        () => undefined,
      );
      await Promise.race([all, patience]);
      drained.abort();
      cluster.close();
    },
  };
}
