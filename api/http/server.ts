import type { AddressInfo } from 'node:net';
import type { Express } from 'express';
import { type ClientTimeouts, createBoundedServer } from '../../infra/http/bounded-server.js';

export interface RunningServer {
  readonly host: string;
  readonly port: number;
  /** Stops accepting connections, lets running requests finish for at most `drainMs`, then closes the remaining connections. */
  close(drainMs: number): Promise<void>;
}

const TIMEOUTS: ClientTimeouts = { headersMs: 10_000, requestMs: 30_000, stalledMs: 70_000 };
/** Fits into 4,096 file descriptors, the usual hard limit, to which Node raises its soft limit. */
const MAX_CONNECTIONS = 4_000;
/** Unread request bytes that are still consumed, so that the client can read the error response. */
const MAX_UNREAD_BYTES = 64 * 1024;

/** Starts the HTTP server. Port 0 selects a free port. */
export async function listen(
  app: Express,
  options: {
    host: string;
    port: number;
    timeouts?: ClientTimeouts;
    maxConnections?: number;
    /** Called for each connection beyond `maxConnections`, which is closed at once. */
    onConnectionRejected?: () => void;
  },
): Promise<RunningServer> {
  const server = createBoundedServer(app, {
    timeouts: options.timeouts ?? TIMEOUTS,
    maxConnections: options.maxConnections ?? MAX_CONNECTIONS,
    onConnectionRejected: options.onConnectionRejected ?? (() => undefined),
    maxUnreadBytes: MAX_UNREAD_BYTES,
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, resolve);
  });
  return {
    host: options.host,
    port: (server.address() as AddressInfo).port,
    close: (drainMs) =>
      new Promise((resolve) => {
        const cut = setTimeout(() => server.closeAllConnections(), drainMs);
        server.close(() => {
          clearTimeout(cut);
          resolve();
        });
        server.closeIdleConnections();
      }),
  };
}
