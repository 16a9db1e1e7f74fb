import type { KafkaError } from './kafka-error.js';
import type { ProducerState } from './record-batch.js';

/** A connection to one broker, with the requests that this log sends. Every call rejects with KafkaError. */
export interface KafkaConnection {
  readonly host: string;
  readonly port: number;
  /** False after the first connection error; the connection does not recover. */
  isOpen(): boolean;
  /** Closes the connection; pending requests fail. */
  close(): void;
  metadata(topics: readonly string[] | 'none'): Promise<Metadata>;
  findCoordinator(kind: CoordinatorKind, key: string): Promise<BrokerAddress>;
  listOffset(topic: string, partition: number, timestamp: number): Promise<number>;
  fetch(request: FetchRequest): Promise<FetchResponse>;
  produce(transactionalId: string | null, batches: readonly ProduceBatch[]): Promise<readonly ProduceResult[]>;
  initProducerId(transactionalId: string | null): Promise<ProducerState>;
  addPartitionsToTxn(transaction: Transaction, topics: readonly TopicPartitions[]): Promise<void>;
  addOffsetsToTxn(transaction: Transaction, group: string): Promise<void>;
  txnOffsetCommit(transaction: Transaction, group: string, topics: readonly TopicOffsets[]): Promise<void>;
  endTxn(transaction: Transaction, commit: boolean): Promise<void>;
  /** Ids of this coordinator's transactions whose commit is decided but not yet written to all partitions. */
  listCommittingTransactions(): Promise<readonly string[]>;
  offsetCommit(group: string, topics: readonly TopicOffsets[]): Promise<void>;
  /** Committed positions. `stable`: rejects with UNSTABLE_OFFSET_COMMIT while a transaction that moves one of them is not complete. */
  offsetFetch(
    group: string,
    topic: string,
    partitions: readonly number[],
    stable: boolean,
  ): Promise<readonly PartitionOffset[]>;
  createTopics(topics: readonly NewTopic[]): Promise<void>;
  createPartitions(topic: string, count: number): Promise<void>;
  /** Moves the start of the partition to `offset`, on its leader and then on the replicas. */
  deleteRecords(topic: string, partition: number, offset: number): Promise<void>;
  topicConfigs(topics: readonly string[], names: readonly string[]): Promise<ReadonlyMap<string, Configs>>;
  brokerConfig(nodeId: number, name: string): Promise<string | undefined>;
  alterTopicConfig(topic: string, name: string, value: string): Promise<void>;
}

export type CoordinatorKind = 'group' | 'transaction';
export type Configs = ReadonlyMap<string, string>;

export interface BrokerAddress {
  readonly nodeId: number;
  readonly host: string;
  readonly port: number;
}

export interface Metadata {
  readonly brokers: readonly BrokerAddress[];
  readonly controllerId: number;
  readonly topics: readonly {
    readonly topic: string;
    /** 0, or 3 for a topic that does not exist. */
    readonly errorCode: number;
    /** Leader's node id per partition; -1 while there is none. */
    readonly leaders: readonly number[];
  }[];
}

export interface Transaction extends ProducerState {
  readonly transactionalId: string;
}

export interface TopicPartitions {
  readonly topic: string;
  readonly partitions: readonly number[];
}

export interface PartitionOffset {
  readonly partition: number;
  readonly offset: number;
}

export interface TopicOffsets {
  readonly topic: string;
  readonly partitions: readonly PartitionOffset[];
}

export interface FetchRequest {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  readonly maxWaitMs: number;
  readonly maxBytes: number;
  /** Includes records of open transactions. */
  readonly uncommitted?: boolean;
}

export interface FetchResponse {
  /** Null when the response has records. */
  readonly error: KafkaError | null;
  /** End of the log that all in-sync replicas have. */
  readonly highWatermark: number;
  /** First offset of the oldest open transaction, or the high watermark. */
  readonly lastStableOffset: number;
  readonly logStart: number;
  readonly aborted: readonly { readonly producerId: number; readonly firstOffset: number }[];
  readonly records: Buffer;
}

export interface ProduceBatch {
  readonly topic: string;
  readonly partition: number;
  readonly batch: Buffer;
}

export interface ProduceResult {
  readonly topic: string;
  readonly partition: number;
  readonly error: KafkaError | null;
  readonly baseOffset: number;
}

export interface NewTopic {
  readonly topic: string;
  readonly partitions: number;
  readonly replicationFactor: number;
  readonly configs: Configs;
}
