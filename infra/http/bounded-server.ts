import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import type { Socket } from 'node:net';
import { requestIdFrom, secureHeaderValues } from './response-headers.js';

/** How long a client may take, in milliseconds. */
export interface ClientTimeouts {
  /** From the first byte to the end of the headers. Also from the connection to its first byte. */
  readonly headersMs: number;
  /** From the first byte to the end of the body. */
  readonly requestMs: number;
  /** Longest time without reading a byte of a response. Also frees the buffered response. */
  readonly stalledMs: number;
}

export interface ServerBounds {
  readonly timeouts: ClientTimeouts;
  /** Connections above this number are closed at once. */
  readonly maxConnections: number;
  /** Called for each rejected connection. */
  readonly onConnectionRejected: () => void;
  /** Bytes of an unread request body that are discarded after the response; a longer body ends the connection. */
  readonly maxUnreadBytes: number;
}

/** Idle between requests; below `stalledMs`, which counts idle time too. */
const KEEP_ALIVE_MS = 65_000;

const REJECTIONS: Readonly<Record<string, readonly [status: number, error: string]>> = {
  HPE_HEADER_OVERFLOW: [431, 'Request headers too large.'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'Request took too long.'],
};
const MALFORMED = [400, 'Malformed HTTP request.'] as const;

/** Headers and body of a response to a request that does not reach the listener; the connection ends with it. */
function refusal(error: string, requestId: string) {
  const body = JSON.stringify({ error });
  const headers = {
    ...secureHeaderValues,
    'x-request-id': requestId,
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
  };
  return { headers, body };
}

/** Sends an error object for a request that cannot be parsed, then closes the connection. */
function reject(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const [status, text] = REJECTIONS[error.code ?? ''] ?? MALFORMED;
  const { headers, body } = refusal(text, requestIdFrom(undefined));
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  socket.end([`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines, '', body].join('\r\n'));
}

/** The same for a request that can be parsed. */
function refuse(request: IncomingMessage, response: ServerResponse, status: number, error: string): void {
  const { headers, body } = refusal(error, requestIdFrom(request.headers['x-request-id']));
  response.writeHead(status, headers).end(body);
}

/**
 * An HTTP server with bounds against slow or hostile clients: time per request, number of connections, bytes of unread bodies. Requests that do not get to
 * the listener have a response with the fixed headers and an error object too.
 */
export function createBoundedServer(listener: RequestListener, bounds: ServerBounds): Server {
  const { timeouts, maxUnreadBytes } = bounds;
  const boundUnread = (request: IncomingMessage, response: ServerResponse) => {
    // Before Node's own listener, which discards the rest of an unread body of any length.
    response.prependOnceListener('finish', () => {
      if (request.complete) return;
      let unread = 0;
      request.on('data', (chunk: Buffer) => {
        unread += chunk.length;
        if (unread > maxUnreadBytes) request.destroy();
      });
      request.resume();
      request.read(0);
    });
  };
  const server = createServer(
    {
      // Node's own response has no body; the listener below rejects the same requests.
      requireHostHeader: false,
      keepAliveTimeout: Math.min(KEEP_ALIVE_MS, timeouts.stalledMs),
      headersTimeout: timeouts.headersMs,
      requestTimeout: timeouts.requestMs,
      connectionsCheckingInterval: Math.min(1_000, timeouts.headersMs),
    },
    (request, response) => {
      boundUnread(request, response);
      if (request.httpVersion === '1.1' && request.headers.host === undefined)
        refuse(request, response, 400, 'The Host header is missing.');
      else listener(request, response);
    },
  );
  server.maxConnections = bounds.maxConnections;
  server.on('drop', bounds.onConnectionRejected);
  server.setTimeout(timeouts.stalledMs);
  server.on('clientError', reject);
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    boundUnread(request, response);
    refuse(request, response, 417, 'Unsupported Expect header. Use 100-continue.');
  });
  return server;
}
