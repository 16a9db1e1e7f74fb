import { FatalError } from '../../errors.js';
import { LogArgumentError, LogUnavailableError, UnknownTopicError } from '../errors.js';

/** An error response of a broker, or none. `type` is the name in Kafka's table of errors, or CONNECTION when no response arrived. */
export class KafkaError extends Error {
  override name = 'KafkaError';
  constructor(
    readonly type: string,
    message: string,
    /** Whether a retry can succeed. */
    readonly retriable: boolean,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** The leader moved or the topic changed: the metadata must be fetched again. */
const STALE_METADATA = new Set([
  'CONNECTION',
  'UNKNOWN_TOPIC_OR_PARTITION',
  'LEADER_NOT_AVAILABLE',
  'NOT_LEADER_FOR_PARTITION',
  'REPLICA_NOT_AVAILABLE',
  'FENCED_LEADER_EPOCH',
  'UNKNOWN_LEADER_EPOCH',
  'KAFKA_STORAGE_ERROR',
]);
/** The coordinator moved. */
const COORDINATOR_MOVED = new Set(['CONNECTION', 'NOT_COORDINATOR_FOR_GROUP', 'GROUP_COORDINATOR_NOT_AVAILABLE']);
/** The broker no longer accepts this producer: its state expired, its transaction timed out, or another producer took its transactional id. */
const PRODUCER_STATE_LOST = new Set([
  'OUT_OF_ORDER_SEQUENCE_NUMBER',
  'UNKNOWN_PRODUCER_ID',
  'INVALID_PRODUCER_EPOCH',
  'INVALID_PRODUCER_ID_MAPPING',
  'INVALID_TXN_STATE',
  'PRODUCER_FENCED',
  'TRANSACTION_ABORTABLE',
]);
/** The configuration of the broker or of this service must change: permissions, passwords, versions. */
const CONFIGURATION_ERROR =
  /AUTHORIZATION_FAILED$|^(SASL_AUTHENTICATION_FAILED|UNSUPPORTED_SASL_MECHANISM|ILLEGAL_SASL_STATE|SECURITY_DISABLED|UNSUPPORTED_VERSION|INVALID_REPLICATION_FACTOR|INVALID_CONFIG|POLICY_VIOLATION)$/;
/** The record or batch itself is not acceptable. */
const REJECTED = new Set(['MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE', 'INVALID_TIMESTAMP', 'INVALID_RECORD']);

export const isMetadataStale = (error: unknown): boolean =>
  error instanceof KafkaError && STALE_METADATA.has(error.type);
export const isCoordinatorMoved = (error: unknown): boolean =>
  error instanceof KafkaError && COORDINATOR_MOVED.has(error.type);
export const isProducerStateLost = (error: unknown): boolean =>
  error instanceof KafkaError && PRODUCER_STATE_LOST.has(error.type);
export const isRejected = (error: unknown): boolean => error instanceof KafkaError && REJECTED.has(error.type);
/** `UNKNOWN`: the broker failed without a reason, which may be transient. */
export const isRetriable = (error: unknown): boolean =>
  error instanceof KafkaError &&
  (error.retriable || error.type === 'UNKNOWN' || STALE_METADATA.has(error.type) || COORDINATOR_MOVED.has(error.type));

/** Converts to the error of the log port. */
export function toLogError(what: string, error: unknown): Error {
  if (!(error instanceof KafkaError)) return error instanceof Error ? error : new Error(String(error));
  const message = `${what}: ${error.message}`;
  if (isRejected(error)) return new LogArgumentError(message, { cause: error });
  if (error.type === 'UNKNOWN_TOPIC_OR_PARTITION') return new UnknownTopicError(what, message);
  if (isRetriable(error) || isProducerStateLost(error)) return new LogUnavailableError(message, { cause: error });
  if (CONFIGURATION_ERROR.test(error.type)) return new FatalError(message, { cause: error });
  return new Error(message, { cause: error });
}
