import { GenericContainer, Network, type StartedNetwork, type StartedTestContainer, Wait } from 'testcontainers';
import { openConnection } from '../../infra/log/kafka/broker-connection.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { freePort } from '../support/ports.js';
import { eventually } from '../support/product.js';
import type { TestRedis } from '../support/redis.js';
import type { TestRegistry } from '../support/schema-registry.js';
import { docker } from './docker.js';
import type { Image } from './images.js';

const HOST = '127.0.0.1';
const START_MS = 120_000;
const REGISTRY_PORT = 8081;
const REDIS_PORT = 6379;

const end = (container: StartedTestContainer) => container.stop({ timeout: 0, removeVolumes: true });

export interface KafkaContainer {
  readonly brokers: readonly string[];
  /** Where other containers reach the broker as kafka:9092. */
  readonly network: StartedNetwork;
  stop(): Promise<void>;
}

/** A broker with the cleanup intervals of the tests, for clients of this machine and of its own network. */
export async function startKafkaContainer(image: Image): Promise<KafkaContainer> {
  const network = await new Network().start();
  const port = await freePort();
  const container = await new GenericContainer(image.name)
    .withNetwork(network)
    .withNetworkAliases('kafka')
    .withExposedPorts({ container: 19_092, host: port })
    .withEnvironment({
      CLUSTER_ID: 'b2Rkc3RyZWFtLWtyYWZ0MQ',
      KAFKA_NODE_ID: '1',
      KAFKA_PROCESS_ROLES: 'broker,controller',
      KAFKA_LISTENERS: 'HOST://:19092,NETWORK://:9092,CONTROLLER://:9093',
      KAFKA_ADVERTISED_LISTENERS: `HOST://${HOST}:${port},NETWORK://kafka:9092`,
      KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: 'HOST:PLAINTEXT,NETWORK:PLAINTEXT,CONTROLLER:PLAINTEXT',
      KAFKA_INTER_BROKER_LISTENER_NAME: 'NETWORK',
      KAFKA_CONTROLLER_LISTENER_NAMES: 'CONTROLLER',
      KAFKA_CONTROLLER_QUORUM_VOTERS: '1@kafka:9093',
      KAFKA_LOG_DIRS: '/var/lib/kafka/data',
      KAFKA_AUTO_CREATE_TOPICS_ENABLE: 'false',
      KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR: '1',
      KAFKA_OFFSETS_TOPIC_NUM_PARTITIONS: '4',
      KAFKA_TRANSACTION_STATE_LOG_REPLICATION_FACTOR: '1',
      KAFKA_TRANSACTION_STATE_LOG_MIN_ISR: '1',
      KAFKA_TRANSACTION_STATE_LOG_NUM_PARTITIONS: '4',
      KAFKA_LOG_INITIAL_TASK_DELAY_MS: '500',
      KAFKA_LOG_RETENTION_CHECK_INTERVAL_MS: '500',
      KAFKA_LOG_CLEANER_BACKOFF_MS: '200',
    })
    .withWaitStrategy(Wait.forListeningPorts())
    .withStartupTimeout(START_MS)
    .start();
  await eventually('Kafka', async () => {
    const connection = await openConnection(HOST, port, { logger: silentLogger() });
    try {
      return (await connection.metadata('none')).brokers.length > 0;
    } finally {
      connection.close();
    }
  });
  return {
    brokers: [`${HOST}:${port}`],
    network,
    async stop() {
      await end(container);
      await network.stop();
    },
  };
}

/** An empty registry with its data in a broker of its own; the stand-in needs none. */
export async function startRegistryContainer(images: { registry: Image; kafka: Image }): Promise<TestRegistry> {
  const { isStandIn, name } = images.registry;
  const kafka = isStandIn ? undefined : await startKafkaContainer(images.kafka);
  const path = isStandIn ? '/apis/ccompat/v7' : '';
  // Where the stand-in has its file.
  const registry = new GenericContainer(name).withTmpFs({ '/var/lib/registry': 'rw' });
  if (kafka !== undefined) registry.withNetwork(kafka.network);
  const container = await registry
    .withExposedPorts(REGISTRY_PORT)
    .withEnvironment({
      SCHEMA_REGISTRY_HOST_NAME: 'schema-registry',
      SCHEMA_REGISTRY_LISTENERS: `http://0.0.0.0:${REGISTRY_PORT}`,
      SCHEMA_REGISTRY_KAFKASTORE_BOOTSTRAP_SERVERS: 'PLAINTEXT://kafka:9092',
      SCHEMA_REGISTRY_KAFKASTORE_TOPIC_REPLICATION_FACTOR: '1',
      SCHEMA_REGISTRY_SCHEMA_COMPATIBILITY_LEVEL: 'backward',
    })
    .withWaitStrategy(Wait.forHttp(`${path}/subjects`, REGISTRY_PORT))
    .withStartupTimeout(START_MS)
    .start();
  const port = container.getMappedPort(REGISTRY_PORT);
  return {
    url: `http://${HOST}:${port}${path}`,
    port,
    async stop() {
      await end(container);
      await kafka?.stop();
    },
  };
}

/** An empty Redis in memory only. */
export async function startRedisContainer(image: Image, port?: number): Promise<TestRedis> {
  const host = port ?? (await freePort());
  const container = await new GenericContainer(image.name)
    .withCommand(['redis-server', '--save', '', '--appendonly', 'no'])
    .withExposedPorts({ container: REDIS_PORT, host })
    .withWaitStrategy(Wait.forLogMessage(/Ready to accept connections/))
    .withStartupTimeout(START_MS)
    .start();
  let isStopped = false;
  return {
    url: `redis://${HOST}:${host}`,
    pause: async () => void (await docker('pause', container.getId())),
    resume: async () => void (await docker('unpause', container.getId())),
    async stop() {
      if (!isStopped) await end(container);
      isStopped = true;
    },
  };
}
