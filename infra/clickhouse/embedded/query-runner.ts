import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from '../../telemetry/logger.js';
import type { Metrics } from '../../telemetry/metrics.js';
import type { Analysts } from './analysts.js';
import type { Engine } from './engine.js';
import { parseEngineError, ServerException } from './errors.js';
import { execute, type PreparedQuery, prepare } from './execute.js';
import type { PooledSession } from './pooled-session.js';
import { createQueryPermits } from './query-permits.js';
import type { Reply } from './reply.js';
import { decodedBody, type QueryRequest, type RequestRules, readQueryRequest } from './request.js';
import { createSessionPool } from './session-pool.js';
import type { Spool } from './spool.js';

const MAX_WAITING = 1000;

/** A query from its request to the end of its response. */
interface RunningQuery {
  session: PooledSession | undefined;
  readonly abort: AbortController;
}

/** Runs the queries of HTTP requests: permits, sessions, cancellation, metrics. */
export interface QueryRunner {
  /** Runs the query of a request and sends its response. Throws ServerException or the engine's error; `reply.started` is true if rows were sent. */
  handle(request: IncomingMessage, response: ServerResponse, url: URL, reply: Reply): Promise<void>;
  cancelAll(reason: ServerException): void;
  /** Resolves when no query runs or waits. */
  idle(): Promise<void>;
  /** Resolves when no request is served any more, including those whose body still arrives, which `idle` does not wait for. */
  ended(): Promise<void>;
  close(): void;
}

export function createQueryRunner(deps: {
  engine: Engine;
  spool: Spool;
  analysts: Analysts | undefined;
  rules: RequestRules;
  /** Queries of the product that run at once; the next 1000 wait. */
  concurrency: number;
  logger: Logger;
  metrics: Metrics;
}): QueryRunner {
  const { engine, spool, analysts, rules, concurrency, logger, metrics } = deps;
  const sessions = createSessionPool({ engine, analystSettings: analysts?.settings ?? {} });
  const permits = createQueryPermits({ capacity: concurrency, maxWaiting: MAX_WAITING });
  const running = new Map<string, RunningQuery>();
  const endWaiters: (() => void)[] = [];
  const completed = metrics.counter(
    'clickhouse_queries_total',
    'Queries completed, by kind and exception code (0: none)',
    ['kind', 'code'],
  );
  const seconds = metrics.histogram(
    'clickhouse_query_seconds',
    'Time from the complete request to the end of its response',
    [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30],
    ['kind'],
  );
  const written = metrics.counter('clickhouse_rows_written_total', 'Rows of INSERT statements');
  const active = metrics.gauge('clickhouse_queries_running', 'Queries that run in the engine now');
  const queued = metrics.gauge('clickhouse_queries_waiting', 'Queries that wait for a permit');

  async function handle(request: IncomingMessage, response: ServerResponse, url: URL, reply: Reply): Promise<void> {
    const query = readQueryRequest(request, url, rules);
    reply.setHeader('X-ClickHouse-Query-Id', query.queryId);
    const id = `${query.identity.user} ${query.queryId}`;
    if (running.has(id)) {
      const text = `Query with id = ${query.queryId} is already running.`;
      throw new ServerException(216, 'QUERY_WITH_SAME_ID_IS_ALREADY_RUNNING', text);
    }
    const entry: RunningQuery = { session: undefined, abort: new AbortController() };
    running.set(id, entry);
    response.once('close', () => {
      if (!response.writableFinished)
        end(entry, new ServerException(394, 'QUERY_WAS_CANCELLED', 'The client closed the connection.'));
    });
    try {
      await runQuery(request, response, query, reply, entry);
    } finally {
      running.delete(id);
      if (running.size === 0) for (const resolve of endWaiters.splice(0)) resolve();
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
      completed.inc({ kind, code: String(code) });
      seconds.observe({ kind }, (performance.now() - startedAt) / 1000);
    }
  }

  async function runForOwner(query: QueryRequest, prepared: PreparedQuery, reply: Reply, entry: RunningQuery) {
    queued.set(permits.waiting + 1);
    const permit = await permits.acquire(entry.abort.signal);
    active.set(permits.running);
    queued.set(permits.waiting);
    try {
      await runOnSession(query, prepared, permit.index, reply, entry, () => undefined);
    } finally {
      permit.release();
      active.set(permits.running);
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
    const permit = await service.acquire(entry.abort.signal);
    const overrun = setTimeout(() => {
      end(entry, service.explainError(new ServerException(159, 'TIMEOUT_EXCEEDED', 'Timeout exceeded.')));
    }, service.engineTimeoutMs);
    let sent: (() => void) | undefined;
    let tooSlow: NodeJS.Timeout | undefined;
    const engineDone = () => {
      clearTimeout(overrun);
      permit.release();
      sent = service.trackSending();
      tooSlow = setTimeout(() => response.destroy(), service.sendTimeoutMs);
    };
    try {
      const admitted = await service.validate(query, prepared.statement);
      await runOnSession(
        admitted.request,
        { ...prepared, statement: admitted.statement },
        // Analysts use the pipes after those of the owner's permits.
        concurrency + permit.index,
        reply,
        entry,
        engineDone,
      );
    } catch (error) {
      throw service.explainError(entry.abort.signal.aborted ? entry.abort.signal.reason : error);
    } finally {
      clearTimeout(overrun);
      clearTimeout(tooSlow);
      permit.release();
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
    const lease = await sessions.acquire(query, statement);
    entry.session = lease;
    let clean = false;
    try {
      entry.abort.signal.throwIfAborted();
      const { session, prelude } = lease;
      const summary = await execute(
        {
          engine,
          spool,
          session,
          prelude,
          pipeIndex: pipe,
          maxResultBytes: query.identity.role === 'analyst' ? analysts?.limits.resultBytes : undefined,
          request: query,
          reply,
          engineDone,
        },
        prepared,
      );
      clean = !entry.abort.signal.aborted;
      if (statement.kind === 'insert') written.inc(summary.writtenRows);
    } finally {
      entry.session = undefined;
      await lease.release(clean);
    }
  }

  /** Cancels a query that waits or runs in the engine. */
  function end(entry: RunningQuery, reason: ServerException): void {
    entry.abort.abort(reason);
    if (entry.session !== undefined) kill(entry.session);
  }

  function kill(lease: PooledSession): void {
    engine.kill(lease.session).catch((error) => logger.warn({ err: error }, 'cannot kill an abandoned query'));
  }

  return {
    handle,
    cancelAll: (reason) => {
      for (const entry of running.values()) end(entry, reason);
    },
    idle: async () => {
      await permits.idle();
      await analysts?.idle();
    },
    ended: () => (running.size === 0 ? Promise.resolve() : new Promise((resolve) => endWaiters.push(resolve))),
    close: () => sessions.close(),
  };
}
