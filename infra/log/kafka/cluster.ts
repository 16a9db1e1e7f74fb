import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { KafkaConfig } from '../../config/kafka-config.js';
import type { Logger } from '../../telemetry/logger.js';
import { LogUnavailableError, UnknownTopicError } from '../errors.js';
import type { LogHealth } from '../health.js';
import { openConnection } from './broker-connection.js';
import type { BrokerAddress, CoordinatorKind, KafkaConnection, Metadata } from './kafka-connection.js';
import { isCoordinatorMoved, isMetadataStale, isRetriable, KafkaError, toLogError } from './kafka-error.js';

export interface ClusterOptions {
  /** `host:port`, any brokers of the cluster; they return the addresses of the others. */
  readonly brokers: readonly string[];
  readonly logger: Logger;
  /** Default: neither TLS nor a user. */
  readonly security?: KafkaConfig;
  /** How long a call keeps trying while the brokers are unreachable. */
  readonly unavailableAfterMs: number;
  /** Receives every failed attempt and the next success. */
  readonly health?: Pick<LogHealth, 'recordFailure' | 'recordSuccess'>;
}

export interface TopicMetadata {
  readonly topic: string;
  readonly partitions: number;
}

/**
 * Purpose of a connection. The broker processes one request of a connection at a time, so slow requests have a separate connection, and so has
 * each transactional writer: its steps must not wait for those of other writers.
 */
export type ConnectionPurpose = 'control' | 'produce' | `writer ${string}`;

/** A connection of one reader: a long poll blocks every later request of its connection. */
export interface ReaderConnection {
  readonly connection: KafkaConnection;
  /** Return the connection for the next reader. Do not call it during a request (close the connection instead). */
  release(): void;
}

/** Cluster metadata (leaders, coordinators) and connections. */
export interface Cluster {
  /** Throws UnknownTopicError when the topic does not exist. */
  topic(name: string, options?: { fresh: boolean }): Promise<TopicMetadata>;
  /** Cached metadata of the topic; undefined when absent or expired. */
  cachedTopic(name: string): TopicMetadata | undefined;
  leader(topic: string, partition: number, purpose: ConnectionPurpose): Promise<KafkaConnection>;
  acquireReaderConnection(topic: string, partition: number): Promise<ReaderConnection>;
  controller(): Promise<KafkaConnection>;
  coordinator(kind: CoordinatorKind, key: string, purpose?: ConnectionPurpose): Promise<KafkaConnection>;
  anyBroker(): Promise<KafkaConnection>;
  metadata(topics?: readonly string[]): Promise<Metadata>;
  connectTo(address: BrokerAddress): Promise<KafkaConnection>;
  /**
   * Run `attempt` until it succeeds: retries retriable errors with backoff for `unavailableAfterMs`; then, and at once for all other errors,
   * throws the log port's error. Ends with LogUnavailableError when the log is closed.
   */
  retry<T>(what: string, attempt: () => Promise<T>, options?: RetryOptions): Promise<T>;
  /** After an error: discard cached leaders and coordinators, so that the next attempt looks them up. */
  invalidateAfter(error: unknown, subject: { topic?: string; coordinator?: string }): void;
  readonly closed: AbortSignal;
  close(): void;
}

export interface RetryOptions {
  readonly topic?: string;
  readonly coordinator?: { readonly kind: CoordinatorKind; readonly key: string };
  readonly signal?: AbortSignal;
  /** Unix ms. Default: `unavailableAfterMs` from now. */
  readonly deadlineMs?: number;
  readonly initialDelayMs?: number;
}

interface CachedTopic extends TopicMetadata {
  readonly leaders: readonly number[];
  readonly fetchedMs: number;
}

const TOPIC_MAX_AGE_MS = 60_000;
const INITIAL_DELAY_MS = 20;
const MAX_DELAY_MS = 1_000;

export function createCluster(options: ClusterOptions): Cluster {
  const { logger, health, security } = options;
  const closing = new AbortController();
  setMaxListeners(0, closing.signal);
  const connections = new Map<string, Promise<KafkaConnection>>();
  const idle = new Map<string, KafkaConnection[]>();
  const leased = new Set<KafkaConnection>();
  const topics = new Map<string, CachedTopic>();
  const topicRequests = new Map<string, Promise<CachedTopic>>();
  const coordinators = new Map<string, BrokerAddress>();
  let nodes = new Map<number, BrokerAddress>();
  let controllerId = -1;
  let unavailable = false;

  const failIfClosed = () => {
    if (closing.signal.aborted) throw new LogUnavailableError('The log is closed');
  };

  const open = async (host: string, port: number): Promise<KafkaConnection> => {
    failIfClosed();
    const connection = await openConnection(host, port, { logger, security });
    if (closing.signal.aborted) {
      connection.close();
      failIfClosed();
    }
    return connection;
  };

  const shared = async (host: string, port: number, purpose: ConnectionPurpose): Promise<KafkaConnection> => {
    const key = `${purpose} ${host}:${port}`;
    for (;;) {
      const pending = connections.get(key) ?? open(host, port);
      connections.set(key, pending);
      try {
        const connection = await pending;
        if (connection.isOpen()) return connection;
      } catch (error) {
        if (connections.get(key) === pending) connections.delete(key);
        throw error;
      }
      if (connections.get(key) === pending) connections.delete(key);
    }
  };

  const anyBroker = async (): Promise<KafkaConnection> => {
    const seeds = options.brokers.map((text) => {
      const colon = text.lastIndexOf(':');
      return { host: text.slice(0, colon).replace(/^\[|\]$/g, ''), port: Number(text.slice(colon + 1)) };
    });
    let last: unknown = new KafkaError('CONNECTION', 'No broker is known', true);
    for (const { host, port } of [...nodes.values(), ...seeds]) {
      try {
        return await shared(host, port, 'control');
      } catch (error) {
        last = error;
      }
    }
    throw last;
  };

  const metadata = async (names?: readonly string[]): Promise<Metadata> => {
    const connection = await anyBroker();
    const found = await connection.metadata(names ?? 'none');
    nodes = new Map(found.brokers.map((broker) => [broker.nodeId, broker]));
    controllerId = found.controllerId;
    return found;
  };

  const fetchTopic = async (name: string): Promise<CachedTopic> => {
    const [found] = (await metadata([name])).topics;
    if (found === undefined || found.errorCode === 3 || found.errorCode === 17) throw new UnknownTopicError(name);
    if (found.errorCode !== 0) throw new KafkaError('LEADER_NOT_AVAILABLE', `Topic "${name}" is not ready`, true);
    const entry = { topic: name, partitions: found.leaders.length, leaders: found.leaders, fetchedMs: Date.now() };
    topics.set(name, entry);
    return entry;
  };

  const cachedTopic = (name: string): CachedTopic | undefined => {
    const topic = topics.get(name);
    return topic !== undefined && Date.now() - topic.fetchedMs < TOPIC_MAX_AGE_MS ? topic : undefined;
  };

  const resolveTopic = async (name: string, fresh: boolean): Promise<CachedTopic> => {
    const cached = fresh ? undefined : cachedTopic(name);
    if (cached !== undefined) return cached;
    // A fresh lookup must not share a request that was sent before the lookup began.
    const pending = fresh ? undefined : topicRequests.get(name);
    if (pending !== undefined) return pending;
    const request = retry(`Topic "${name}"`, () => fetchTopic(name));
    topicRequests.set(name, request);
    try {
      return await request;
    } finally {
      if (topicRequests.get(name) === request) topicRequests.delete(name);
    }
  };

  const leaderAddress = async (topic: string, partition: number): Promise<BrokerAddress> => {
    const { leaders } = cachedTopic(topic) ?? (await fetchTopic(topic));
    const address = nodes.get(leaders[partition] ?? -1);
    if (address !== undefined) return address;
    topics.delete(topic);
    throw new KafkaError('LEADER_NOT_AVAILABLE', `Topic "${topic}", partition ${partition} has no leader now`, true);
  };

  const coordinatorKey = (kind: CoordinatorKind, key: string) => `${kind} ${key}`;

  const invalidateAfter: Cluster['invalidateAfter'] = (error, { topic, coordinator }) => {
    if (topic !== undefined && isMetadataStale(error)) topics.delete(topic);
    if (coordinator !== undefined && isCoordinatorMoved(error)) coordinators.delete(coordinator);
  };

  const logUnavailable = (what: string, error: unknown) => {
    if (unavailable || !(error instanceof KafkaError) || error.type !== 'CONNECTION') return;
    unavailable = true;
    logger.warn({ err: error, brokers: options.brokers }, `${what}: the broker does not respond, retrying`);
  };

  const retry: Cluster['retry'] = async (what, attempt, retryOptions = {}) => {
    const deadlineMs = retryOptions.deadlineMs ?? Date.now() + options.unavailableAfterMs;
    let delayMs = retryOptions.initialDelayMs ?? INITIAL_DELAY_MS;
    for (;;) {
      failIfClosed();
      try {
        const result = await attempt();
        health?.recordSuccess(what);
        if (unavailable) {
          unavailable = false;
          logger.info({ brokers: options.brokers }, 'the broker responds again');
        }
        return result;
      } catch (error) {
        failIfClosed();
        const key =
          retryOptions.coordinator && coordinatorKey(retryOptions.coordinator.kind, retryOptions.coordinator.key);
        invalidateAfter(error, { topic: retryOptions.topic, coordinator: key });
        if (isRetriable(error)) health?.recordFailure(what, error);
        if (!isRetriable(error) || Date.now() + delayMs > deadlineMs) throw toLogError(what, error);
        logUnavailable(what, error);
        logger.debug({ what, reason: (error as KafkaError).type }, 'retrying');
        await pause(delayMs * (0.75 + Math.random() / 2), retryOptions.signal);
        retryOptions.signal?.throwIfAborted();
        delayMs = Math.min(MAX_DELAY_MS, delayMs * 1.6);
      }
    }
  };

  /** Ends early when the caller's signal aborts or the log closes. */
  const pause = async (ms: number, signal?: AbortSignal): Promise<void> => {
    const either = signal === undefined ? closing.signal : AbortSignal.any([signal, closing.signal]);
    try {
      await sleep(ms, undefined, { signal: either });
    } catch (error) {
      if (!either.aborted) throw error;
    }
  };

  return {
    topic: async (name, { fresh } = { fresh: false }) => {
      failIfClosed();
      return resolveTopic(name, fresh);
    },
    cachedTopic,
    leader: async (topic, partition, purpose) => {
      const { host, port } = await leaderAddress(topic, partition);
      return shared(host, port, purpose);
    },
    async acquireReaderConnection(topic, partition) {
      const { host, port } = await leaderAddress(topic, partition);
      const key = `${host}:${port}`;
      const free = idle.get(key) ?? [];
      idle.set(key, free);
      let connection = free.pop();
      while (connection !== undefined && !connection.isOpen()) connection = free.pop();
      connection ??= await open(host, port);
      const acquired = connection;
      leased.add(acquired);
      return {
        connection: acquired,
        release: () => {
          if (!leased.delete(acquired)) return;
          if (closing.signal.aborted) acquired.close();
          else if (acquired.isOpen()) free.push(acquired);
        },
      };
    },
    async controller() {
      await metadata();
      const address = nodes.get(controllerId);
      return address === undefined ? anyBroker() : shared(address.host, address.port, 'control');
    },
    async coordinator(kind, key, purpose = 'control') {
      const id = coordinatorKey(kind, key);
      let address = coordinators.get(id);
      if (address === undefined) {
        address = await (await anyBroker()).findCoordinator(kind, key);
        coordinators.set(id, address);
      }
      return shared(address.host, address.port, purpose);
    },
    anyBroker,
    metadata,
    connectTo: ({ host, port }) => shared(host, port, 'control'),
    retry,
    invalidateAfter,
    closed: closing.signal,
    close() {
      if (closing.signal.aborted) return;
      closing.abort();
      for (const pending of connections.values())
        pending.then(
          (connection) => connection.close(),
          () => undefined,
        );
      for (const connection of [...leased, ...[...idle.values()].flat()]) connection.close();
      leased.clear();
    },
  };
}
