/** The internal modules of kafkajs 2.2.4 that this project uses. The package is pinned and has no later version. */
declare module 'kafkajs/src/network/connection.js' {
  import type { Socket } from 'node:net';

  interface InternalLogger {
    namespace(name: string): InternalLogger;
    debug(message: string, extra?: object): void;
    info(message: string, extra?: object): void;
    warn(message: string, extra?: object): void;
    error(message: string, extra?: object): void;
  }

  interface InternalRequest {
    readonly apiKey: number;
    readonly apiVersion: number;
    readonly apiName: string;
    /** kafkajs accepts any object with these two fields as its Encoder. */
    encode(): Promise<{ readonly buf: Buffer; readonly buffer: Buffer }>;
  }

  interface InternalResponse<T> {
    decode(payload: Buffer): Promise<T>;
    parse(decoded: T): Promise<T>;
  }

  export default class Connection {
    constructor(options: {
      host: string;
      port: number;
      clientId: string;
      logger: InternalLogger;
      requestTimeout: number;
      connectionTimeout: number;
      sasl: { mechanism: string; username: string; password: string } | null;
      socketFactory: (options: { onConnect: () => void }) => Socket;
    });
    /** Highest supported version of requests, by API key. */
    setVersions(versions: Readonly<Record<number, { readonly maxVersion: number }>>): void;
    setSupportAuthenticationProtocol(isSupported: boolean): void;
    /** Does nothing without `sasl`. `send` calls it, too, when the session of the broker is about to expire. */
    authenticate(): Promise<void>;
    readonly requestQueue: { readonly pending: readonly unknown[]; scheduleCheckPendingRequests(): void };
    isConnected(): boolean;
    connect(): Promise<boolean>;
    disconnect(): Promise<boolean>;
    rejectRequests(error: Error): void;
    send: <T>(protocol: {
      request: InternalRequest;
      response: InternalResponse<T>;
      requestTimeout?: number;
      logResponseError?: boolean;
    }) => Promise<T>;
  }
}

declare module 'kafkajs/src/protocol/requests/index.js' {
  interface Definition {
    protocol(options: { version: number }): (parameters: object) => {
      readonly request: import('kafkajs/src/network/connection.js').InternalRequest;
      readonly response: import('kafkajs/src/network/connection.js').InternalResponse<unknown>;
    };
  }
  const protocol: { readonly requests: Readonly<Record<string, Definition>> };
  export default protocol;
}

declare module 'kafkajs/src/protocol/error.js' {
  const errors: { createErrorFromCode(code: number): Error };
  export default errors;
}
