import { FatalError } from '../../errors.js';
import type { Logger } from '../../telemetry/logger.js';
import type { TopicSpec } from '../port.js';
import { checkSpec, MAX_BATCH_BYTES } from './checks.js';
import type { Cluster } from './cluster.js';
import type { Configs, NewTopic } from './kafka-connection.js';
import { KafkaError } from './kafka-error.js';

const MINUTE_MS = 60_000;
const WEEK_MS = 7 * 24 * 60 * MINUTE_MS;
const DAY_MS = 24 * 60 * MINUTE_MS;
const MAX_REPLICATION_FACTOR = 3;
/** Kafka's value for "no limit". */
const UNLIMITED = '-1';
const ANY_TIME = '9223372036854775807';
const MAX_TOPICS_PER_REQUEST = 50;

/** Create missing topics; increase partitions and change retention of the others. Safe to repeat and to run from many processes. */
export async function ensureTopics(
  deps: { cluster: Cluster; logger: Logger },
  specs: readonly TopicSpec[],
): Promise<void> {
  const { cluster, logger } = deps;
  for (const spec of specs) checkSpec(spec);
  if (specs.length === 0) return;
  const unique = [...new Map(specs.map((spec) => [spec.name, spec])).values()];
  await cluster.retry('Create topics', async () => {
    const { brokers, topics } = await cluster.metadata(unique.map(({ name }) => name));
    const found = new Set(topics.filter(({ errorCode }) => errorCode === 0).map(({ topic }) => topic));
    const missing = unique.filter(({ name }) => !found.has(name));
    const replicas = Math.min(MAX_REPLICATION_FACTOR, brokers.length);
    if (missing.length > 0 && replicas < MAX_REPLICATION_FACTOR)
      logger.warn(
        { topics: missing.map(({ name }) => name), brokers: brokers.length, replicas },
        'topics get fewer than three replicas, and keep them when more brokers start',
      );
    for (let first = 0; first < missing.length; first += MAX_TOPICS_PER_REQUEST) {
      const batch = missing.slice(first, first + MAX_TOPICS_PER_REQUEST);
      await (await cluster.controller()).createTopics(batch.map((spec) => newTopic(spec, replicas)));
    }
    const existing = unique.filter(({ name }) => found.has(name));
    if (existing.length > 0) await widen(existing);
  });
  for (const spec of unique) await untilReady(spec);

  async function widen(existing: readonly TopicSpec[]): Promise<void> {
    const names = existing.map(({ name }) => name);
    const configs = await (await cluster.anyBroker()).topicConfigs(names, ['cleanup.policy', 'retention.ms']);
    const { topics } = await cluster.metadata(names);
    const partitions = new Map(topics.map(({ topic, leaders }) => [topic, leaders.length]));
    for (const spec of existing) {
      await widenRetention(spec, configs.get(spec.name));
      const has = partitions.get(spec.name) ?? 0;
      if (has < spec.partitions) await addPartitions(spec);
      if (has > spec.partitions) {
        logger.warn({ topic: spec.name, has, requested: spec.partitions }, 'partitions of a topic are never removed');
      }
    }
  }

  async function addPartitions({ name, partitions }: TopicSpec): Promise<void> {
    try {
      await (await cluster.controller()).createPartitions(name, partitions);
    } catch (error) {
      // Another process created them first; untilReady checks whether there are enough.
      if (!(error instanceof KafkaError && error.type === 'INVALID_PARTITIONS')) throw error;
    }
  }

  async function widenRetention(spec: TopicSpec, configs: Configs | undefined): Promise<void> {
    if (configs === undefined) return;
    const policy = configs.get('cleanup.policy') ?? 'delete';
    const compacted = policy.includes('compact');
    if (compacted !== spec.compacted) {
      throw new FatalError(
        `Topic "${spec.name}" is ${compacted ? '' : 'not '}compacted: another version or an administrator created it. Change its cleanup.policy, or use another cluster (LOG_URL).`,
      );
    }
    const deletes = policy.includes('delete') && configs.get('retention.ms') !== UNLIMITED;
    if (!deletes) return;
    const hasMs = Number(configs.get('retention.ms'));
    if (spec.retentionMs !== null && spec.retentionMs <= hasMs) return;
    const value = spec.retentionMs === null ? UNLIMITED : String(spec.retentionMs);
    await (await cluster.controller()).alterTopicConfig(spec.name, 'retention.ms', value);
  }

  /** Waits until the brokers know the topic and every partition has a leader. */
  async function untilReady({ name, partitions }: TopicSpec): Promise<void> {
    await cluster.retry(`Topic "${name}"`, async () => {
      const [topic] = (await cluster.metadata([name])).topics;
      if (topic?.errorCode === 0 && topic.leaders.length >= partitions && topic.leaders.every((id) => id >= 0)) return;
      throw new KafkaError('LEADER_NOT_AVAILABLE', 'not ready', true);
    });
    await cluster.topic(name, { fresh: true });
  }
}

function newTopic(spec: TopicSpec, replicationFactor: number): NewTopic {
  const { name, partitions, retentionMs, compacted } = spec;
  const policy = [...(compacted ? ['compact'] : []), ...(compacted && retentionMs === null ? [] : ['delete'])];
  const configs = new Map([
    ['cleanup.policy', policy.join(',')],
    ['retention.ms', retentionMs === null ? UNLIMITED : String(retentionMs)],
    ['retention.bytes', UNLIMITED],
    ['compression.type', 'producer'],
    ['max.message.bytes', String(MAX_BATCH_BYTES)],
    ['min.insync.replicas', replicationFactor >= 3 ? '2' : '1'],
    ['unclean.leader.election.enable', 'false'],
    // Record times are event times: a backfill writes old ones, and a source's clock may be ahead.
    ['message.timestamp.type', 'CreateTime'],
    ['message.timestamp.before.max.ms', ANY_TIME],
    ['message.timestamp.after.max.ms', ANY_TIME],
    ['segment.ms', String(segmentMs(spec))],
  ]);
  return { topic: name, partitions, replicationFactor, configs };
}

/** Only closed segments are deleted or compacted, so they are closed often enough for what the topic promises. */
function segmentMs({ retentionMs, compacted }: TopicSpec): number {
  const longest = compacted ? DAY_MS : WEEK_MS;
  return retentionMs === null ? longest : Math.min(longest, Math.max(10 * MINUTE_MS, Math.floor(retentionMs / 6)));
}
