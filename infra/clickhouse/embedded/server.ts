import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { RetryableError } from '../../errors.js';
import { makePrivateDirectory } from '../../files/private-files.js';
import { crossOriginRejection, hostRejection } from '../../http/request-guard.js';
import type { Logger } from '../../telemetry/logger.js';
import type { Metrics } from '../../telemetry/metrics.js';
import { type AnalystOptions, type Analysts, createAnalysts } from './analysts.js';
import { type Engine, openEngine } from './engine.js';
import { parseEngineError, ServerException } from './errors.js';
import { execute, type PreparedQuery, prepare } from './execute.js';
import type { OwnerAccount } from './identities.js';
import { createReply, type Reply } from './reply.js';
import { decodedBody, type QueryRequest, readQueryRequest } from './request.js';
import { createSessions, type Lease } from './sessions.js';
import { createSlots } from './slots.js';
import { openSpool } from './spool.js';

export interface EmbeddedServerOptions {
  /** The engine's files go to `<dataDir>/clickhouse`, passing bytes to `<dataDir>/clickhouse-spool`. */
  readonly dataDir: string;
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** Users with all rights. */
  readonly owners: readonly OwnerAccount[];
  /** The read-only service for everybody else; undefined: there is none. */
  readonly analyst?: AnalystOptions;
  /** Names by which clients may reach the server, beside loopback names and IP addresses. */
  readonly allowedHosts?: readonly string[];
  readonly logger: Logger;
  readonly metrics: Metrics;
  /**
   * Queries that run at once; each holds one libuv thread, so it must stay below UV_THREADPOOL_SIZE (4 unless the process was
   * started with another). The next 1000 wait their turn.
   */
  readonly concurrency?: number;
  /** Memory of the product's queries together as the engine tracks it; analysts' memory is added to it. */
  readonly memoryBytes?: number;
}

export interface EmbeddedServer {
  readonly url: string;
  readonly port: number;
  readonly version: string;
  /** Runs a trivial query: the engine answers. Throws when it does not. */
  check(): Promise<void>;
  /** Stops listening, waits for running queries up to `drainMs` (default 3000), kills what is left, closes the engine. */
  close(options?: { drainMs?: number }): Promise<void>;
}

const MAX_URL_BYTES = 1024 * 1024;
const MAX_WAITING = 1000;
const DISPLAY_NAME = 'oddstream';
/** A request must have come whole by then. */
const REQUEST_TIMEOUT_MS = 300_000;
const HEADERS_TIMEOUT_MS = 20_000;
const MAX_CONNECTIONS = 512;

/** A query from its request to the end of its answer. */
interface RunningQuery {
  lease: Lease | undefined;
  readonly abort: AbortController;
}

/** Opens the engine and serves ClickHouse's HTTP interface. RetryableError when the directory or the port is still in use. */
export async function startEmbeddedServer(options: EmbeddedServerOptions): Promise<EmbeddedServer> {
  const { logger, metrics } = options;
  const concurrency = options.concurrency ?? 3;
  makePrivateDirectory(options.dataDir);
  const { analyst } = options;
  const engine = await openEngine({
    directory: join(options.dataDir, 'clickhouse'),
    memoryBytes: options.memoryBytes ?? 400 * 1024 * 1024,
    analystBytes: analyst === undefined ? 0 : analyst.slots * analyst.limits.memoryBytes,
    logger,
  });
  const analysts = analyst === undefined ? undefined : await createAnalysts({ engine, options: analyst, metrics });
  const spool = await openSpool(join(options.dataDir, 'clickhouse-spool'), concurrency);
  const sessions = createSessions({ engine, analystSettings: analysts?.settings ?? {} });
  const slots = createSlots({ capacity: concurrency, maxWaiting: MAX_WAITING });
  const running = new Map<string, RunningQuery>();
  const accounts = { owners: options.owners, analyst };
  const rules = { accounts, analystDatabase: analyst?.database ?? '' };
  const queries = metrics.counter('clickhouse_queries_total', 'Queries answered, by kind and exception code', [
    'kind',
    'code',
  ]);
  const seconds = metrics.histogram(
    'clickhouse_query_seconds',
    'Time from the whole request to the end of its answer',
    [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30],
    ['kind'],
  );
  const written = metrics.counter('clickhouse_rows_written_total', 'Rows of INSERT statements');
  const active = metrics.gauge('clickhouse_queries_running', 'Queries that run in the engine now');
  const queued = metrics.gauge('clickhouse_queries_waiting', 'Queries that wait for a place');
  let draining = false;

  async function serveQuery(request: IncomingMessage, response: ServerResponse, url: URL, reply: Reply): Promise<void> {
    const query = readQueryRequest(request, url, rules);
    reply.set('X-ClickHouse-Query-Id', query.queryId);
    const id = `${query.identity.user} ${query.queryId}`;
    if (running.has(id)) {
      const text = `Query with id = ${query.queryId} is already running.`;
      throw new ServerException(216, 'QUERY_WITH_SAME_ID_IS_ALREADY_RUNNING', text);
    }
    const entry: RunningQuery = { lease: undefined, abort: new AbortController() };
    running.set(id, entry);
    response.once('close', () => {
      if (!response.writableFinished)
        end(entry, new ServerException(394, 'QUERY_WAS_CANCELLED', 'The client went away.'));
    });
    try {
      await runQuery(request, response, query, reply, entry);
    } finally {
      running.delete(id);
    }
  }

  async function runQuery(
    request: IncomingMessage,
    response: ServerResponse,
    query: QueryRequest,
    reply: Reply,
    entry: RunningQuery,
  ): Promise<void> {
    const prepared = await prepare(query, decodedBody(request), spool);
    const startedAt = performance.now();
    const { kind } = prepared.statement;
    let code = 0;
    try {
      if (query.identity.role === 'analyst') await runForAnalyst(analysts!, response, query, prepared, reply, entry);
      else await runForOwner(query, prepared, reply, entry);
    } catch (error) {
      code = parseEngineError(error).code;
      throw error;
    } finally {
      if (prepared.data !== undefined) await spool.remove(prepared.data.path);
      queries.inc({ kind, code: String(code) });
      seconds.observe({ kind }, (performance.now() - startedAt) / 1000);
    }
  }

  async function runForOwner(query: QueryRequest, prepared: PreparedQuery, reply: Reply, entry: RunningQuery) {
    queued.set(slots.waiting + 1);
    const slot = await slots.acquire(entry.abort.signal);
    active.set(slots.running);
    queued.set(slots.waiting);
    try {
      await runOnSession(query, prepared, slot.index, reply, entry, () => undefined);
    } finally {
      slot.release();
      active.set(slots.running);
    }
  }

  async function runForAnalyst(
    service: Analysts,
    response: ServerResponse,
    query: QueryRequest,
    prepared: PreparedQuery,
    reply: Reply,
    entry: RunningQuery,
  ): Promise<void> {
    const slot = await service.acquire(entry.abort.signal);
    const overrun = setTimeout(() => {
      end(entry, service.explain(new ServerException(159, 'TIMEOUT_EXCEEDED', 'Timeout exceeded.')));
    }, service.engineMs);
    let sent: (() => void) | undefined;
    let tooSlow: NodeJS.Timeout | undefined;
    const engineDone = () => {
      clearTimeout(overrun);
      slot.release();
      sent = service.sending();
      tooSlow = setTimeout(() => response.destroy(), service.sendMs);
    };
    try {
      const admitted = await service.admit(query, prepared.statement);
      // Analysts' results go through files: no pipe of the spool is theirs.
      await runOnSession(
        admitted.request,
        { ...prepared, statement: admitted.statement },
        -1,
        reply,
        entry,
        engineDone,
      );
    } catch (error) {
      throw service.explain(entry.abort.signal.aborted ? entry.abort.signal.reason : error);
    } finally {
      clearTimeout(overrun);
      clearTimeout(tooSlow);
      slot.release();
      sent?.();
    }
  }

  async function runOnSession(
    query: QueryRequest,
    prepared: PreparedQuery,
    pipe: number,
    reply: Reply,
    entry: RunningQuery,
    engineDone: () => void,
  ): Promise<void> {
    const { statement } = prepared;
    const lease = await sessions.lease(query, statement);
    entry.lease = lease;
    let clean = false;
    try {
      entry.abort.signal.throwIfAborted();
      const { session, prelude } = lease;
      const summary = await execute(
        { engine, spool, session, prelude, slot: pipe, request: query, reply, engineDone },
        prepared,
      );
      clean = !entry.abort.signal.aborted;
      if (statement.kind === 'insert') written.inc(summary.writtenRows);
    } finally {
      entry.lease = undefined;
      await lease.release(clean);
    }
  }

  /** Cancels a query wherever it is: waiting, or in the engine. */
  function end(entry: RunningQuery, reason: ServerException): void {
    entry.abort.abort(reason);
    if (entry.lease !== undefined) kill(entry.lease);
  }

  function kill(lease: Lease): void {
    engine.kill(lease.session).catch((error) => logger.warn({ err: error }, 'cannot kill an abandoned query'));
  }

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
      await serveQuery(request, response, url, reply);
    } catch (error) {
      if (response.destroyed) return;
      const exception = parseEngineError(error);
      if (exception.code === 1002) logger.error({ err: error }, 'a query failed in an unknown way');
      // The rest of a body that nobody reads would keep the connection from its next request.
      if (!request.complete && !response.headersSent) response.setHeader('Connection', 'close');
      await reply.fail(exception);
      if (!request.complete) request.destroy();
    }
  }

  const server = createServer(
    {
      maxHeaderSize: MAX_URL_BYTES + 64 * 1024,
      keepAliveTimeout: 30_000,
      requestTimeout: REQUEST_TIMEOUT_MS,
      headersTimeout: HEADERS_TIMEOUT_MS,
    },
    (request, response) => {
      response.on('error', (error) => logger.debug({ err: error }, 'response broke off'));
      request.on('error', (error) => logger.debug({ err: error }, 'request broke off'));
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

  return {
    url: `http://${host}:${port}`,
    port,
    version: engine.version,
    check: () => checkEngine(engine),
    close: async ({ drainMs = 3000 } = {}) => {
      draining = true;
      const stopped = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeIdleConnections();
      const timer = setTimeout(() => {
        for (const entry of running.values()) {
          end(entry, new ServerException(394, 'QUERY_WAS_CANCELLED', 'The server is shutting down.'));
        }
      }, drainMs);
      await slots.idle();
      await analysts?.idle();
      clearTimeout(timer);
      server.closeIdleConnections();
      const cut = setTimeout(() => server.closeAllConnections(), 500);
      await stopped;
      clearTimeout(cut);
      sessions.close();
      await engine.close();
      await spool.close();
    },
  };
}

/** Why a request must not be served: a web page of another site sent it, or a name that is not ours. */
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
  await engine.text('SELECT 1');
}
