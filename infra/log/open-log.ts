import type { KafkaConfig } from '../config/kafka-config.js';
import { FatalError } from '../errors.js';
import type { Logger } from '../telemetry/logger.js';
import type { LogHealth } from './health.js';
import { createLmdbLog } from './lmdb/lmdb-log.js';
import type { Log } from './port.js';

export interface OpenLogOptions {
  readonly logger: Logger;
  /** Whether this process takes part in retention and compaction. Default true; latency-sensitive processes set false. */
  readonly maintenance?: boolean;
  /** Default: connections to Kafka without TLS and user. */
  readonly kafka?: KafkaConfig;
  /** Receives the success or failure of each attempt. */
  readonly health?: LogHealth;
}

const LMDB = 'lmdb:';

/** Whether the log that LOG_URL names is a directory of this machine. */
export const isOnOneMachine = (url: string): boolean => url.startsWith(LMDB);

/**
 * Open the log that `LOG_URL` names: `lmdb:<directory>` (relative to the working directory, or absolute) or
 * `kafka://host:port[,host:port]`. Throws FatalError for anything else and for a directory that cannot be used, LogUnavailableError when no
 * broker responds.
 */
export async function openLog(url: string, options: OpenLogOptions): Promise<Log> {
  const { logger, health, kafka, maintenance = true } = options;
  if (isOnOneMachine(url)) {
    const dir = url.slice(LMDB.length);
    if (dir === '') throw new FatalError(`LOG_URL "${url}" names no directory; expected lmdb:<directory>`);
    return createLmdbLog({ dir, logger, health, ...(maintenance ? {} : { maintenanceIntervalMs: null }) });
  }
  if (url.startsWith('kafka:')) {
    const brokers = brokersOf(url);
    // Loaded only for Kafka: its client has many modules.
    const { createKafkaLog } = await import('./kafka/kafka-log.js');
    return createKafkaLog({ brokers, logger, health, security: kafka });
  }
  throw new FatalError(`LOG_URL "${url}" is neither lmdb:<directory> nor kafka://host:port`);
}

function brokersOf(url: string): readonly string[] {
  const brokers = url
    .replace(/^kafka:(\/\/)?/, '')
    .replace(/\/$/, '')
    .split(',');
  if (url.includes('@'))
    throw new FatalError('LOG_URL contains a user or password: give them as KAFKA_USER and KAFKA_PASSWORD');
  for (const broker of brokers) {
    const [, port] = /^(?:[\w.-]+|\[[\da-fA-F:]+\]):(\d{1,5})$/.exec(broker) ?? [];
    if (port === undefined || Number(port) < 1 || Number(port) > 65_535) {
      throw new FatalError(`LOG_URL "${url}": "${broker}" is not host:port; expected kafka://host:port[,host:port]`);
    }
  }
  return brokers;
}
