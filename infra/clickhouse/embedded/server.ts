import { mkdir } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { RetryableError } from '../../errors.js';
import type { Logger } from '../../telemetry/logger.js';
import type { Metrics } from '../../telemetry/metrics.js';
import { type Engine, openEngine } from './engine.js';
import { parseEngineError, ServerException } from './errors.js';
import { execute, prepare } from './execute.js';
import type { Identity } from './identities.js';
import { gateReadonly } from './readonly-gate.js';
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
  readonly identities: readonly Identity[];
  readonly logger: Logger;
  readonly metrics: Metrics;
  /**
   * Queries that run at once; each holds one libuv thread, so it must stay below UV_THREADPOOL_SIZE (4 unless the process was
   * started with another). The next 1000 wait their turn.
   */
  readonly concurrency?: number;
  /** Memory of all queries together as the engine tracks it. */
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

/** Opens the engine and serves ClickHouse's HTTP interface. RetryableError when the directory or the port is still in use. */
export async function startEmbeddedServer(options: EmbeddedServerOptions): Promise<EmbeddedServer> {
  const { logger, metrics } = options;
  const concurrency = options.concurrency ?? 3;
  await mkdir(options.dataDir, { recursive: true });
  const engine = await openEngine({
    directory: join(options.dataDir, 'clickhouse'),
    memoryBytes: options.memoryBytes ?? 400 * 1024 * 1024,
    logger,
  });
  const spool = await openSpool(join(options.dataDir, 'clickhouse-spool'), concurrency);
  const sessions = createSessions({ engine });
  const slots = createSlots({ capacity: concurrency, maxWaiting: MAX_WAITING });
  const running = new Map<string, { lease: Lease | undefined; abort: AbortController }>();
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
    const query = readQueryRequest(request, url, options.identities);
    reply.set('X-ClickHouse-Query-Id', query.queryId);
    if (running.has(query.queryId)) {
      const text = `Query with id = ${query.queryId} is already running.`;
      throw new ServerException(216, 'QUERY_WITH_SAME_ID_IS_ALREADY_RUNNING', text);
    }
    const entry: { lease: Lease | undefined; abort: AbortController } = {
      lease: undefined,
      abort: new AbortController(),
    };
    running.set(query.queryId, entry);
    response.once('close', () => {
      if (response.writableFinished) return;
      entry.abort.abort(new ServerException(394, 'QUERY_WAS_CANCELLED', 'The client went away.'));
      if (entry.lease !== undefined) kill(entry.lease);
    });
    try {
      await runQuery(request, query, reply, entry);
    } finally {
      running.delete(query.queryId);
    }
  }

  async function runQuery(
    request: IncomingMessage,
    query: QueryRequest,
    reply: Reply,
    entry: { lease: Lease | undefined; abort: AbortController },
  ): Promise<void> {
    const prepared = await prepare(query, decodedBody(request), spool);
    const startedAt = performance.now();
    const { kind } = prepared.statement;
    let code = 0;
    try {
      queued.set(slots.waiting + 1);
      const slot = await slots.acquire(entry.abort.signal);
      active.set(slots.running);
      queued.set(slots.waiting);
      try {
        const statement =
          query.identity.readonly === true ? await gateReadonly(engine, prepared.statement) : prepared.statement;
        const lease = await sessions.lease(query, statement);
        entry.lease = lease;
        let clean = false;
        try {
          entry.abort.signal.throwIfAborted();
          const { session, prelude } = lease;
          const context = { engine, spool, session, prelude, slot: slot.index, request: query, reply };
          const summary = await execute(context, { statement, data: prepared.data });
          clean = !entry.abort.signal.aborted;
          if (statement.kind === 'insert') written.inc(summary.writtenRows);
        } finally {
          entry.lease = undefined;
          await lease.release(clean);
        }
      } finally {
        slot.release();
        active.set(slots.running);
      }
    } catch (error) {
      code = parseEngineError(error).code;
      throw error;
    } finally {
      if (prepared.data !== undefined) await spool.remove(prepared.data.path);
      queries.inc({ kind, code: String(code) });
      seconds.observe({ kind }, (performance.now() - startedAt) / 1000);
    }
  }

  function kill(lease: Lease): void {
    engine.kill(lease.session).catch((error) => logger.warn({ err: error }, 'cannot kill an abandoned query'));
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const reply = createReply(response, { version: `${engine.version} (official build)`, displayName: DISPLAY_NAME });
    const url = new URL(request.url ?? '/', 'http://localhost');
    const plain = (status: number, body: string) => {
      response.writeHead(status, { 'content-type': 'text/plain; charset=UTF-8' });
      response.end(body);
    };
    if (draining) response.setHeader('Connection', 'close');
    const reads = request.method === 'GET' || request.method === 'HEAD';
    if (url.pathname === '/ping' || url.pathname === '/replicas_status') return plain(200, 'Ok.\n');
    if (url.pathname === '/' && reads && !url.searchParams.has('query')) return plain(200, 'Ok.\n');
    if (url.pathname !== '/' && url.pathname !== '/query') {
      return plain(404, `There is no handle ${url.pathname}\n\nUse / or /ping for health checks.\nOr / for queries.\n`);
    }
    if (!reads && request.method !== 'POST') return plain(501, 'Only GET, HEAD and POST are served here.\n');
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
    { maxHeaderSize: MAX_URL_BYTES + 64 * 1024, keepAliveTimeout: 30_000, requestTimeout: 0 },
    (request, response) => {
      response.on('error', (error) => logger.debug({ err: error }, 'response broke off'));
      request.on('error', (error) => logger.debug({ err: error }, 'request broke off'));
      serve(request, response).catch((error) => {
        logger.error({ err: error }, 'request failed');
        response.destroy();
      });
    },
  );
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
        for (const { lease, abort } of running.values()) {
          abort.abort(new ServerException(394, 'QUERY_WAS_CANCELLED', 'The server is shutting down.'));
          if (lease !== undefined) kill(lease);
        }
      }, drainMs);
      await slots.idle();
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

async function checkEngine(engine: Engine): Promise<void> {
  await engine.text('SELECT 1');
}
