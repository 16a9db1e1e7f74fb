import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import Connection, { type InternalLogger } from 'kafkajs/src/network/connection.js';
import errors from 'kafkajs/src/protocol/error.js';
import protocol from 'kafkajs/src/protocol/requests/index.js';
import type { KafkaConfig } from '../../config/kafka-config.js';
import type { Logger } from '../../telemetry/logger.js';
import { KafkaError } from './kafka-error.js';
import { WireReader, type WireWriter } from './wire.js';

const CLIENT_ID = 'oddstream';
const REQUEST_TIMEOUT_MS = 15_000;
const CONNECT_TIMEOUT_MS = 5_000;

export interface BrokerClientOptions {
  readonly logger: Logger;
  /** Default: neither TLS nor a user. */
  readonly security?: KafkaConfig;
}

/** Sends single requests over one connection. Every call rejects with KafkaError. */
export interface BrokerClient {
  /** False after the first connection error; the connection does not recover. */
  isOpen(): boolean;
  /** Closes the connection; pending requests fail. */
  close(): void;
  /** Sends a request that kafkajs encodes and decodes. */
  call<T>(api: string, version: number, parameters: object): Promise<T>;
  /** Sends a request with the given body; `decode` reads the response. */
  send<T>(
    apiName: string,
    apiKey: number,
    apiVersion: number,
    body: WireWriter,
    decode: (reader: WireReader) => T,
  ): Promise<T>;
}

/**
 * Connects to one broker. Rejects with KafkaError: SASL_AUTHENTICATION_FAILED or UNSUPPORTED_SASL_MECHANISM when the broker rejects the user,
 * CONNECTION otherwise.
 *
 * This is the only file that uses kafkajs: its connections (framing, correlation, timeouts, SASL) and its codecs of coordination requests.
 *
 * Not used of kafkajs 2.2.4: its consumer reads only as a member of a group, and its fetch decoder drops batches without
 * records, so that a reader of a compacted topic requests the same offset forever; its producer's retry omits partitions whose leader
 * moved to a broker that has already responded; its transaction cannot repeat a commit whose response was lost.
 */
export async function openBrokerClient(
  host: string,
  port: number,
  { logger, security }: BrokerClientOptions,
): Promise<BrokerClient> {
  const sasl = security?.sasl;
  const connection = new Connection({
    host,
    port,
    clientId: CLIENT_ID,
    logger: internalLogger(logger),
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionTimeout: CONNECT_TIMEOUT_MS,
    // kafkajs completes the options in place.
    sasl: sasl === undefined ? null : { mechanism: sasl.mechanism, username: sasl.user, password: sasl.password },
    socketFactory: ({ onConnect }) => openSocket({ host, port, tls: security?.tls ?? false, onConnect }),
  });
  connection.setVersions(SASL_VERSIONS);
  connection.setSupportAuthenticationProtocol(true);
  // kafkajs sets a timer with a negative delay after every response; the timer is needed only while requests are queued.
  const schedule = connection.requestQueue.scheduleCheckPendingRequests.bind(connection.requestQueue);
  connection.requestQueue.scheduleCheckPendingRequests = () => {
    if (connection.requestQueue.pending.length > 0) schedule();
  };
  let closed = false;
  const close = () => {
    if (closed) return;
    closed = true;
    connection.rejectRequests(new Error('Connection closed'));
    connection
      .disconnect()
      .catch((error: unknown) => logger.debug({ err: error }, 'cannot disconnect from the broker'));
  };
  const rejection = rejectionOf(connection);
  const translate = (error: unknown): KafkaError => {
    const { name, type, message, retriable } = error as Error & { type?: string; retriable?: boolean };
    if (name === 'KafkaJSSASLAuthenticationError' && rejection() !== null) {
      close();
      return new KafkaError('SASL_AUTHENTICATION_FAILED', `${host}:${port}: ${message}`, false, { cause: error });
    }
    if (name === 'KafkaJSProtocolError') {
      const code = /^Unknown error code (\d+)/.exec(message)?.[1];
      return new KafkaError(ERRORS_UNKNOWN_TO_KAFKAJS[Number(code)] ?? type ?? 'UNKNOWN', message, retriable === true);
    }
    // After any other error the framing may be lost, so the connection is closed.
    close();
    return new KafkaError('CONNECTION', `${host}:${port}: ${message}`, true, { cause: error });
  };

  const call = async <T>(api: string, version: number, parameters: object): Promise<T> => {
    const definition = protocol.requests[api];
    if (definition === undefined) throw new Error(`kafkajs has no request ${api}`);
    try {
      const request = definition.protocol({ version })(parameters);
      return (await connection.send({ ...request, logResponseError: false })) as T;
    } catch (error) {
      throw translate(error);
    }
  };
  const send = async <T>(
    apiName: string,
    apiKey: number,
    apiVersion: number,
    body: WireWriter,
    decode: (reader: WireReader) => T,
  ): Promise<T> => {
    const bytes = body.finish();
    const request = { apiKey, apiVersion, apiName, encode: async () => ({ buf: bytes, buffer: bytes }) };
    const response = { decode: async (payload: Buffer) => payload, parse: async (payload: Buffer) => payload };
    let payload: Buffer;
    try {
      payload = await connection.send({ request, response, logResponseError: false });
    } catch (error) {
      throw translate(error);
    }
    return decode(new WireReader(payload));
  };

  try {
    await connection.connect();
    await connection.authenticate();
  } catch (error) {
    throw translate(error);
  }

  return { isOpen: () => !closed && connection.isConnected(), close, call, send };
}

/** Of SaslHandshake and SaslAuthenticate. All supported brokers know them. */
const SASL_VERSIONS = { 17: { maxVersion: 1 }, 36: { maxVersion: 1 } };

function openSocket(options: { host: string; port: number; tls: boolean; onConnect: () => void }): Socket {
  const { host, port, tls, onConnect } = options;
  const address = { host, port };
  if (!tls) return connect({ ...address, noDelay: true, keepAlive: true }, onConnect);
  // A server name must not be an address.
  const socket = connectTls({ ...address, ...(isIP(host) === 0 ? { servername: host } : {}) }, onConnect);
  return socket.setNoDelay(true).setKeepAlive(true);
}

/**
 * The response by which the broker has rejected the user. kafkajs reports everything that ends an authentication as the same error, a broker that
 * stops meanwhile, too.
 */
function rejectionOf(connection: Connection): () => Error | null {
  let rejection: Error | null = null;
  const send = connection.send.bind(connection);
  connection.send = async (request) => {
    try {
      return await send(request);
    } catch (error) {
      const { name, type } = error as Error & { type?: string };
      if (name === 'KafkaJSProtocolError' && type === 'SASL_AUTHENTICATION_FAILED') rejection = error as Error;
      throw error;
    }
  };
  return () => rejection;
}

/** Error codes that kafkajs 2.2.4 does not know. */
const ERRORS_UNKNOWN_TO_KAFKAJS: Readonly<Record<number, string>> = {
  90: 'PRODUCER_FENCED',
  120: 'TRANSACTION_ABORTABLE',
};

/** The error of a response; null for code 0. `where`: broker, and topic if known. */
export function protocolError(code: number, where: string): KafkaError | null {
  if (code === 0) return null;
  const known = errors.createErrorFromCode(code) as Error & { type?: string; retriable?: boolean };
  return new KafkaError(
    ERRORS_UNKNOWN_TO_KAFKAJS[code] ?? known.type ?? 'UNKNOWN',
    `${where}: ${known.message}`,
    known.retriable === true,
  );
}

/** kafkajs logs every refused connection as an error; cluster.ts logs outages, so these are debug messages. */
function internalLogger(logger: Logger): InternalLogger {
  const debug = (message: string) => logger.debug({ kafkajs: message }, 'kafkajs');
  const ignore = () => undefined;
  const internal: InternalLogger = {
    namespace: () => internal,
    debug: ignore,
    info: ignore,
    warn: debug,
    error: debug,
  };
  return internal;
}
