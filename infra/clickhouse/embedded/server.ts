import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { RetryableError } from '../../errors.js';
import { makePrivateDirectory } from '../../files/private-files.js';
import { crossOriginRejection, hostRejection } from '../../http/request-guard.js';
import type { Logger } from '../../telemetry/logger.js';
import type { Metrics } from '../../telemetry/metrics.js';
import { type AnalystOptions, createAnalysts } from './analysts.js';
import { type Engine, openEngine } from './engine.js';
import { parseEngineError, ServerException } from './errors.js';
import type { OwnerAccount } from './identities.js';
import { createQueryRunner } from './query-runner.js';
import { createReply } from './reply.js';
import { openSpool } from './spool.js';

export interface EmbeddedServerOptions {
  /** The engine's files are in `<dataDir>/clickhouse`, temporary files and pipes in `<dataDir>/clickhouse-spool`. */
  readonly dataDir: string;
  readonly host: string;
  /** 0: the system assigns a free port. */
  readonly port: number;
  /** Users with all rights. */
  readonly owners: readonly OwnerAccount[];
  /** The read-only service for analysts; undefined: there is none. */
  readonly analyst?: AnalystOptions;
  /** Host names by which clients may reach the server, in addition to loopback names and IP addresses. */
  readonly allowedHosts?: readonly string[];
  readonly logger: Logger;
  readonly metrics: Metrics;
  /**
   * Queries that run at once; each occupies one libuv thread, so it must stay below UV_THREADPOOL_SIZE (default: 4). The next 1000 wait.
   */
  readonly concurrency?: number;
  /** Memory of all of the product's queries together as the engine tracks it; analysts' memory is added to it. */
  readonly memoryBytes?: number;
  readonly bounds?: Partial<RequestBounds>;
}

export interface RequestBounds {
  /** From the first byte, or from the connection, to the end of the headers. */
  readonly headersMs: number;
  /** From the first byte to the end of the body. */
  readonly requestMs: number;
  /** Rows of one INSERT, after decompression. */
  readonly insertBytes: number;
}

export interface EmbeddedServer {
  readonly url: string;
  readonly port: number;
  readonly version: string;
  /** Runs a trivial query. Throws when the engine does not execute it. */
  check(): Promise<void>;
  /** Stops listening, waits up to `drainMs` (default 3000) for running queries, kills the rest, closes the engine. */
  close(options?: { drainMs?: number }): Promise<void>;
}

const MAX_URL_BYTES = 1024 * 1024;
const DISPLAY_NAME = 'oddstream';
/** The product's own inserts stay below 50 MB. */
const REQUEST_BOUNDS: RequestBounds = { headersMs: 20_000, requestMs: 300_000, insertBytes: 1024 ** 3 };
/** Node's default: how often connections are checked for these times. */
const CHECK_EVERY_MS = 30_000;
const MAX_CONNECTIONS = 512;

/** Opens the engine and serves ClickHouse's HTTP interface. RetryableError when the directory or the port is still in use. */
export async function startEmbeddedServer(options: EmbeddedServerOptions): Promise<EmbeddedServer> {
  const { logger, metrics } = options;
  const concurrency = options.concurrency ?? 3;
  makePrivateDirectory(options.dataDir);
  const { analyst } = options;
  const engine = await openEngine({
    directory: join(options.dataDir, 'clickhouse'),
    memoryBytes: options.memoryBytes ?? 400 * 1024 * 1024,
    analystBytes: analyst === undefined ? 0 : analyst.concurrency * analyst.limits.memoryBytes,
    logger,
  });
  const analysts = analyst === undefined ? undefined : await createAnalysts({ engine, options: analyst, metrics });
  const bounds: RequestBounds = { ...REQUEST_BOUNDS, ...options.bounds };
  const pipes = concurrency + (analyst?.concurrency ?? 0);
  const spool = await openSpool(join(options.dataDir, 'clickhouse-spool'), pipes, bounds.insertBytes);
  const accounts = { owners: options.owners, analyst };
  const rules = { accounts, analystDatabase: analyst?.database ?? '' };
  const queries = createQueryRunner({ engine, spool, analysts, rules, concurrency, logger, metrics });
  let draining = false;

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const reply = createReply(response, { version: `${engine.version} (official build)`, displayName: DISPLAY_NAME });
    const plain = (status: number, body: string) => {
      response.writeHead(status, { 'content-type': 'text/plain; charset=UTF-8' });
      response.end(body);
    };
    response.setHeader('X-Content-Type-Options', 'nosniff');
    response.setHeader('Cross-Origin-Resource-Policy', 'same-origin');
    const rejection = rejectionOf(request, options.allowedHosts ?? []);
    if (rejection !== undefined) {
      response.setHeader('Connection', 'close');
      response.setHeader('X-ClickHouse-Exception-Code', '497');
      return plain(403, `Code: 497. DB::Exception: ${rejection} (ACCESS_DENIED)\n`);
    }
    const url = urlOf(request);
    if (url === undefined) return plain(400, 'The path of the request is malformed.\n');
    if (draining) response.setHeader('Connection', 'close');
    const reads = request.method === 'GET' || request.method === 'HEAD';
    if (url.pathname === '/ping' || url.pathname === '/replicas_status') return plain(200, 'Ok.\n');
    if (url.pathname === '/' && reads && !url.searchParams.has('query')) return plain(200, 'Ok.\n');
    if (url.pathname !== '/' && url.pathname !== '/query') {
      return plain(404, `There is no handle ${url.pathname}\n\nUse / or /ping for health checks.\nOr / for queries.\n`);
    }
    if (!reads && request.method !== 'POST') {
      response.setHeader('Allow', 'GET, HEAD, POST');
      return plain(405, 'Only GET, HEAD and POST are served here.\n');
    }
    try {
      await queries.handle(request, response, url, reply);
    } catch (error) {
      if (response.destroyed) return;
      const exception = parseEngineError(error);
      if (exception.code === 1002)
        logger.error({ err: error }, 'a query failed without an exception code of the engine');
      // The rest of the body is not read, so the connection cannot serve another request.
      if (!request.complete && !response.headersSent) response.setHeader('Connection', 'close');
      await reply.fail(exception);
      if (!request.complete) request.destroy();
    }
  }

  const server = createServer(
    {
      maxHeaderSize: MAX_URL_BYTES + 64 * 1024,
      keepAliveTimeout: 30_000,
      requestTimeout: bounds.requestMs,
      headersTimeout: bounds.headersMs,
      connectionsCheckingInterval: Math.min(CHECK_EVERY_MS, bounds.headersMs),
    },
    (request, response) => {
      response.on('error', (error) => logger.debug({ err: error }, 'response aborted'));
      request.on('error', (error) => logger.debug({ err: error }, 'request aborted'));
      serve(request, response).catch((error) => {
        logger.error({ err: error }, 'request failed');
        response.destroy();
      });
    },
  );
  server.maxConnections = MAX_CONNECTIONS;
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(options.port, options.host, resolve);
    });
  } catch (error) {
    await engine.close();
    await spool.close();
    throw new RetryableError(`Cannot listen on ${options.host}:${options.port}.`, { cause: error });
  }
  const { port } = server.address() as AddressInfo;
  const host = options.host.includes(':') ? `[${options.host}]` : options.host;

  let closed: Promise<void> | undefined;
  async function close(drainMs: number): Promise<void> {
    draining = true;
    const stopped = new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeIdleConnections();
    const timer = setTimeout(() => {
      queries.cancelAll(new ServerException(394, 'QUERY_WAS_CANCELLED', 'The server is shutting down.'));
    }, drainMs);
    await queries.idle();
    clearTimeout(timer);
    server.closeIdleConnections();
    const cut = setTimeout(() => server.closeAllConnections(), 500);
    await stopped;
    clearTimeout(cut);
    // A query whose rows arrived after the wait above was cut off with its connection and may still run: the engine must not be closed, nor the
    // process exit, between the two steps of an insert.
    await queries.ended();
    queries.close();
    await engine.close();
    await spool.close();
  }

  return {
    url: `http://${host}:${port}`,
    port,
    version: engine.version,
    check: () => checkEngine(engine),
    close: ({ drainMs = 3000 } = {}) => {
      closed ??= close(drainMs);
      return closed;
    },
  };
}

/** Why a request is rejected: a web page of another site sent it, or its Host is not an allowed name. */
function rejectionOf({ headers }: IncomingMessage, allowedHosts: readonly string[]): string | undefined {
  const site = headers['sec-fetch-site'];
  const browser = { host: headers.host, origin: headers.origin, secFetchSite: Array.isArray(site) ? site[0] : site };
  return hostRejection(browser, allowedHosts) ?? crossOriginRejection(browser);
}

function urlOf(request: IncomingMessage): URL | undefined {
  const path = request.url ?? '/';
  return path.startsWith('/') && URL.canParse(`http://localhost${path}`)
    ? new URL(`http://localhost${path}`)
    : undefined;
}

async function checkEngine(engine: Engine): Promise<void> {
  await engine.queryText('SELECT 1');
}
