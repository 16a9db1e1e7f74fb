import { createServer, STATUS_CODES } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Express } from 'express';

export interface RunningServer {
  readonly host: string;
  readonly port: number;
  /** Stops accepting, lets requests under way finish for at most `drainMs`, then cuts what is left. */
  close(drainMs: number): Promise<void>;
}

/** How long a client may take, in milliseconds. */
export interface ClientPatience {
  /** From the first byte to the end of the headers. */
  readonly headersMs: number;
  /** From the first byte to the end of the body. */
  readonly requestMs: number;
  /** Without taking a byte of an answer. Also ends what it holds in memory. */
  readonly stalledMs: number;
}

const PATIENCE: ClientPatience = { headersMs: 10_000, requestMs: 30_000, stalledMs: 70_000 };
/** Idle between requests; below `stalledMs`, which counts idle time too. */
const KEEP_ALIVE_MS = 65_000;

const REFUSALS: Readonly<Record<string, readonly [status: number, error: string]>> = {
  HPE_HEADER_OVERFLOW: [431, 'Request headers too large.'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'Request took too long.'],
};
const MALFORMED = [400, 'Malformed HTTP request.'] as const;

/** What is no request we could route still gets an error object, then the connection ends. */
function refuse(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const [status, text] = REFUSALS[error.code ?? ''] ?? MALFORMED;
  const body = JSON.stringify({ error: text });
  socket.end(
    [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      'content-type: application/json; charset=utf-8',
      `content-length: ${Buffer.byteLength(body)}`,
      'connection: close',
      '',
      body,
    ].join('\r\n'),
  );
}

/** Serve the app. Port 0 takes a free one. */
export async function listen(
  app: Express,
  options: { host: string; port: number; patience?: ClientPatience },
): Promise<RunningServer> {
  const patience = options.patience ?? PATIENCE;
  const server = createServer(
    {
      keepAliveTimeout: Math.min(KEEP_ALIVE_MS, patience.stalledMs),
      headersTimeout: patience.headersMs,
      requestTimeout: patience.requestMs,
      connectionsCheckingInterval: Math.min(1_000, patience.headersMs),
    },
    app,
  );
  server.setTimeout(patience.stalledMs);
  server.on('clientError', refuse);
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
