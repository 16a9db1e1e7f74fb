import { FatalError } from '../errors.js';
import type { ParsedEnvironment } from './environment.js';
import { rejectUnused } from './unused-settings.js';

/** How brokers are reached. It applies to every Kafka cluster of a command: copy-log may have two. */
export interface KafkaConfig {
  readonly tls: boolean;
  /** undefined: connections without a user. */
  readonly sasl:
    | {
        readonly mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512';
        readonly user: string;
        readonly password: string;
      }
    | undefined;
}

/** Throws FatalError when only one of user and password is given, and when the password would be sent unencrypted. */
export function kafkaOf(e: ParsedEnvironment): KafkaConfig {
  const tls = e.KAFKA_TLS;
  const { KAFKA_USER: user, KAFKA_PASSWORD: password, KAFKA_SASL_MECHANISM: mechanism = 'scram-sha-512' } = e;
  if (user === undefined) {
    rejectUnused(e, ['KAFKA_PASSWORD', 'KAFKA_SASL_MECHANISM'], 'KAFKA_USER is missing');
    return { tls, sasl: undefined };
  }
  if (password === undefined)
    throw new FatalError('Bad configuration:\n  KAFKA_PASSWORD: missing, although KAFKA_USER is given');
  if (mechanism === 'plain' && !tls)
    throw new FatalError(
      'Bad configuration:\n  KAFKA_SASL_MECHANISM: plain sends the password as it is, so it needs KAFKA_TLS=1',
    );
  return { tls, sasl: { mechanism, user, password } };
}
