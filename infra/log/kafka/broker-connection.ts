import { fetchPositions, listCommittingTransactions } from './flexible-requests.js';
import type { BrokerAddress, Configs, KafkaConnection, ProduceBatch, Transaction } from './kafka-connection.js';
import { KafkaError } from './kafka-error.js';
import { type BrokerClientOptions, openBrokerClient, protocolError } from './kafkajs-client.js';
import { WireWriter } from './wire.js';

/** Time for the broker to replicate or to change topics. Below the request timeout, so that its response arrives. */
const BROKER_TIMEOUT_MS = 10_000;
/** Longest time that the open transaction of a dead process blocks readers. */
const TRANSACTION_TIMEOUT_MS = 15_000;
/** Committed positions do not expire: ten years. */
const OFFSET_RETENTION_MS = 10 * 365 * 24 * 60 * 60_000;
const READ_COMMITTED = 1;
const API = { produce: 0, fetch: 1, deleteRecords: 21, incrementalAlterConfigs: 44 } as const;
const RESOURCE = { topic: 2, broker: 4 } as const;

/**
 * Connects to one broker. Rejects with KafkaError as `openBrokerClient` does.
 *
 * Produce and fetch carry complete record batches (record-batch.ts); they and the requests that kafkajs lacks are encoded here and in flexible-requests.ts, all others by
 * kafkajs. Request versions are fixed. Brokers 2.5 to 4.x support all of them, except ListTransactions (3.0).
 */
export async function openConnection(
  host: string,
  port: number,
  options: BrokerClientOptions,
): Promise<KafkaConnection> {
  const client = await openBrokerClient(host, port, options);
  const { call, send, isOpen, close } = client;
  const broker = `${host}:${port}`;

  return {
    host,
    port,
    isOpen,
    close,

    async metadata(topics) {
      // kafkajs cannot request an empty list of topics, which versions from 4 allow, so the request is encoded here.
      const body = new WireWriter().array(topics === 'none' ? [] : topics, (topic, w) => w.string(topic)).int8(0);
      return send('Metadata', 3, 6, body, (r) => {
        r.int32();
        const brokers = r.array(() => {
          const address = { nodeId: r.int32(), host: r.string() ?? '', port: r.int32() };
          r.string();
          return address;
        });
        r.string();
        const controllerId = r.int32();
        const found = r.array(() => {
          const errorCode = r.int16();
          const topic = r.string() ?? '';
          r.int8();
          const partitions = r.array(() => {
            r.int16();
            const partition = { id: r.int32(), leader: r.int32() };
            for (let lists = 0; lists < 3; lists++) r.array(r.int32);
            return partition;
          });
          const leaders = Array.from({ length: partitions.length }, () => -1);
          for (const { id, leader } of partitions) leaders[id] = leader;
          return { topic, errorCode, leaders };
        });
        return { brokers, controllerId, topics: found };
      });
    },

    async findCoordinator(kind, key) {
      const { coordinator } = await call<{ coordinator: BrokerAddress }>('GroupCoordinator', 2, {
        groupId: key,
        coordinatorType: kind === 'group' ? 0 : 1,
      });
      return coordinator;
    },

    async listOffset(topic, partition, timestamp) {
      const { responses } = await call<{ responses: { partitions: { offset: string }[] }[] }>('ListOffsets', 3, {
        topics: [{ topic, partitions: [{ partition, timestamp }] }],
      });
      return Number(responses[0]?.partitions[0]?.offset ?? -1);
    },

    async fetch({ topic, partition, offset, maxWaitMs, maxBytes, uncommitted = false }) {
      const body = new WireWriter()
        .int32(-1)
        .int32(maxWaitMs)
        .int32(1)
        .int32(maxBytes)
        .int8(uncommitted ? 0 : READ_COMMITTED)
        .int32(0)
        .int32(-1)
        .int32(1)
        .string(topic)
        .int32(1)
        .int32(partition)
        .int32(-1)
        .int64(offset)
        .int64(-1)
        .int32(maxBytes)
        .int32(0)
        .string('');
      return send('Fetch', API.fetch, 11, body, (r) => {
        r.int32();
        const whole = protocolError(r.int16(), broker);
        r.int32();
        const [response] = r
          .array(() => {
            r.string();
            return r.array(() => {
              r.int32();
              const error = protocolError(r.int16(), broker);
              const [highWatermark, lastStableOffset, logStart] = [r.int64(), r.int64(), r.int64()];
              const aborted = r.array(() => ({ producerId: r.int64(), firstOffset: r.int64() }));
              r.int32();
              return { error, highWatermark, lastStableOffset, logStart, aborted, records: r.slice() };
            });
          })
          .flat();
        if (whole !== null) throw whole;
        if (response === undefined)
          throw new KafkaError('CONNECTION', `${broker} left out the requested partition`, true);
        return response;
      });
    },

    async produce(transactionalId, batches) {
      const byTopic = new Map<string, ProduceBatch[]>();
      for (const one of batches) byTopic.set(one.topic, [...(byTopic.get(one.topic) ?? []), one]);
      const body = new WireWriter().string(transactionalId).int16(-1).int32(BROKER_TIMEOUT_MS);
      body.array([...byTopic], ([topic, topicBatches]) => {
        body
          .string(topic)
          .array(topicBatches, ({ partition, batch }) => body.int32(partition).int32(batch.length).raw(batch));
      });
      return send('Produce', API.produce, 7, body, (r) =>
        r
          .array(() => {
            const topic = r.string() ?? '';
            return r.array(() => {
              const partition = r.int32();
              const error = protocolError(r.int16(), broker);
              const baseOffset = r.int64();
              r.int64();
              r.int64();
              return { topic, partition, error, baseOffset };
            });
          })
          .flat(),
      );
    },

    async initProducerId(transactionalId) {
      const response = await call<{ producerId: string; producerEpoch: number }>('InitProducerId', 1, {
        transactionalId,
        transactionTimeout: TRANSACTION_TIMEOUT_MS,
      });
      return { id: Number(response.producerId), epoch: response.producerEpoch };
    },
    async addPartitionsToTxn(transaction, topics) {
      await call('AddPartitionsToTxn', 1, { ...producerOf(transaction), topics });
    },
    async addOffsetsToTxn(transaction, groupId) {
      await call('AddOffsetsToTxn', 1, { ...producerOf(transaction), groupId });
    },
    async txnOffsetCommit(transaction, groupId, topics) {
      const withMetadata = topics.map(({ topic, partitions }) => ({
        topic,
        partitions: partitions.map((position) => ({ ...position, metadata: null })),
      }));
      await call('TxnOffsetCommit', 1, { ...producerOf(transaction), groupId, topics: withMetadata });
    },
    async endTxn(transaction, commit) {
      await call('EndTxn', 1, { ...producerOf(transaction), transactionResult: commit });
    },

    listCommittingTransactions: () => listCommittingTransactions(client, broker),

    async offsetCommit(groupId, topics) {
      await call('OffsetCommit', 4, {
        groupId,
        groupGenerationId: -1,
        memberId: '',
        retentionTime: OFFSET_RETENTION_MS,
        topics,
      });
    },
    offsetFetch: (group, topic, partitions, stable) =>
      fetchPositions(client, broker, { group, topic, partitions, stable }),

    async createTopics(topics) {
      const requested = topics.map(({ topic, partitions, replicationFactor, configs }) => ({
        topic,
        numPartitions: partitions,
        replicationFactor,
        configEntries: entries(configs),
      }));
      const body = new WireWriter();
      body
        .array(requested, ({ topic, numPartitions, replicationFactor, configEntries }) => {
          body.string(topic).int32(numPartitions).int16(replicationFactor).int32(0);
          body.array(configEntries, ({ name, value }) => body.string(name).string(value));
        })
        .int32(BROKER_TIMEOUT_MS)
        .int8(0);
      await send('CreateTopics', 19, 3, body, (r) => {
        r.int32();
        const failures = r.array(() => {
          const topic = r.string();
          const error = protocolError(r.int16(), `${broker}, topic "${topic}"`);
          const detail = r.string();
          if (error === null || error.type === 'TOPIC_ALREADY_EXISTS') return null;
          return new KafkaError(
            error.type,
            `${error.message}${detail === null ? '' : ` (${detail})`}`,
            error.retriable,
          );
        });
        for (const failure of failures) if (failure !== null) throw failure;
      });
    },
    async createPartitions(topic, count) {
      await call('CreatePartitions', 1, { topicPartitions: [{ topic, count }], timeout: BROKER_TIMEOUT_MS });
    },

    async deleteRecords(topic, partition, offset) {
      // kafkajs has this request, but its error does not name the broker's reason, which decides about a retry.
      const body = new WireWriter().int32(1).string(topic).int32(1).int32(partition).int64(offset);
      await send('DeleteRecords', API.deleteRecords, 1, body.int32(BROKER_TIMEOUT_MS), (r) => {
        r.int32();
        const [error] = r
          .array(() => {
            const name = r.string();
            return r.array(() => {
              r.int32();
              r.int64();
              return protocolError(r.int16(), `${broker}, topic "${name}"`);
            });
          })
          .flat();
        if (error !== undefined && error !== null) throw error;
      });
    },

    async topicConfigs(topics, names) {
      const response = await call<DescribedConfigs>('DescribeConfigs', 2, {
        resources: topics.map((name) => ({ type: RESOURCE.topic, name, configNames: names })),
        includeSynonyms: false,
      });
      return new Map(response.resources.map((resource) => [resource.resourceName, configsOf(resource)]));
    },
    async brokerConfig(nodeId, name) {
      const response = await call<DescribedConfigs>('DescribeConfigs', 2, {
        resources: [{ type: RESOURCE.broker, name: String(nodeId), configNames: [name] }],
        includeSynonyms: false,
      });
      return response.resources[0] === undefined ? undefined : configsOf(response.resources[0]).get(name);
    },
    async alterTopicConfig(topic, name, value) {
      const body = new WireWriter();
      body.int32(1).int8(RESOURCE.topic).string(topic).int32(1).string(name).int8(0).string(value).int8(0);
      await send('IncrementalAlterConfigs', API.incrementalAlterConfigs, 0, body, (r) => {
        r.int32();
        const [error] = r.array(() => {
          const failure = protocolError(r.int16(), `${broker}, topic "${topic}"`);
          r.string();
          r.int8();
          r.string();
          return failure;
        });
        if (error !== undefined && error !== null) throw error;
      });
    },
  };
}

interface DescribedConfigs {
  readonly resources: readonly DescribedResource[];
}

interface DescribedResource {
  readonly resourceName: string;
  readonly configEntries: readonly { readonly configName: string; readonly configValue: string | null }[];
}

function configsOf(resource: DescribedResource): Configs {
  return new Map(resource.configEntries.map(({ configName, configValue }) => [configName, configValue ?? '']));
}

function entries(configs: Configs): { name: string; value: string }[] {
  return [...configs].map(([name, value]) => ({ name, value }));
}

function producerOf({ transactionalId, id, epoch }: Transaction) {
  return { transactionalId, producerId: String(id), producerEpoch: epoch };
}
