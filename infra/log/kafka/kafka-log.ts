import { setTimeout as sleep } from 'node:timers/promises';
import type { KafkaConfig } from '../../config/kafka-config.js';
import type { Logger } from '../../telemetry/logger.js';
import type { LogHealth } from '../health.js';
import type { Log } from '../port.js';
import { checkGroup, checkOffset } from './checks.js';
import { type ClusterOptions, createCluster } from './cluster.js';
import { checkPartition } from './partition-records.js';
import { createReader } from './reader.js';
import { createSender } from './sender.js';
import { offsetsByTopic } from './topic-partitions.js';
import { ensureTopics } from './topics.js';
import { createTransactions } from './transactions.js';

export interface KafkaLogOptions {
  /** `host:port` of one or more brokers of the cluster. */
  readonly brokers: readonly string[];
  readonly logger: Logger;
  /** Default: neither TLS nor a user. */
  readonly security?: KafkaConfig;
  /**
   * How long a call retries while brokers are unreachable before it throws LogUnavailableError. Default 30 s. A following `read` that has begun
   * retries until its signal aborts.
   */
  readonly unavailableAfterMs?: number;
  /** Receives the success or failure of each attempt. */
  readonly health?: LogHealth;
}

const UNAVAILABLE_AFTER_MS = 30_000;
/** Time for running calls to end at close. */
const CLOSE_TIMEOUT_MS = 3_000;
const MIN_OFFSETS_RETENTION_MINUTES = 30 * 24 * 60;

/**
 * The Kafka engine, for brokers 3.6 to 4.x: older ones do not know `message.timestamp.before.max.ms`. Rejects with LogUnavailableError when no broker responds.
 *
 * Differences from the port: an append that fails with LogUnavailableError may have been appended, because its response can be lost. When the
 * broker returns within `unavailableAfterMs`, no record is appended twice or out of order. An append to several partitions is atomic only
 * within each. The brokers do retention and compaction, so `maintain` does nothing.
 */
export async function createKafkaLog(options: KafkaLogOptions): Promise<Log> {
  const { logger, brokers, health, security, unavailableAfterMs = UNAVAILABLE_AFTER_MS } = options;
  const clusterOptions: ClusterOptions = { brokers, logger, security, unavailableAfterMs, health };
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
      logger.warn(
        { minutes },
        'offsets.retention.minutes is short: a consumer group that commits nothing for longer loses its positions; raise it to at least 43200',
      );
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
        async () => (await cluster.coordinator('group', group)).offsetCommit(group, offsetsByTopic(positions)),
        { coordinator: { kind: 'group', key: group } },
      );
    },
    async committed(group, topic) {
      checkGroup(group);
      const { partitions } = await cluster.topic(topic, { fresh: true });
      const all = Array.from({ length: partitions }, (_, partition) => partition);
      // An owner processes the log from here on. Brokers before 4.0 may still answer with the position before the last commit of the owner before.
      const stable = transactions.hasOwned(group);
      const found = await cluster.retry(
        `Positions of group "${group}"`,
        async () => (await cluster.coordinator('group', group)).offsetFetch(group, topic, all, stable),
        { coordinator: { kind: 'group', key: group } },
      );
      await transactions.waitForPendingCommits(group);
      return found.map(({ partition, offset }) => ({ topic, partition, nextOffset: offset }));
    },
    async deleteBefore(topic, partition, offset) {
      checkOffset({ topic, partition, nextOffset: offset });
      const { earliest, next } = await reader.bounds(topic, partition);
      if (offset <= earliest) return;
      await cluster.retry(
        `Deletion of records of topic "${topic}", partition ${partition}`,
        async () =>
          (await cluster.leader(topic, partition, 'control')).deleteRecords(topic, partition, Math.min(offset, next)),
        { topic },
      );
    },
    maintain: async () => undefined,
    async close() {
      if (cluster.closed.aborted) return;
      const drained = new AbortController();
      const all = Promise.all([sender.drain(), transactions.drain()]);
      const timeout = sleep(CLOSE_TIMEOUT_MS, undefined, { signal: drained.signal, ref: false }).catch(() => undefined);
      await Promise.race([all, timeout]);
      drained.abort();
      cluster.close();
    },
  };
}
