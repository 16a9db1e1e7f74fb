import type { Metrics } from '../../telemetry/metrics.js';
import { readAnalystFunctions } from './analyst-functions.js';
import { type AnalystLimits, addLimitHint, analystSettings, checkAnalystSettings } from './analyst-profile.js';
import { createAnalystStatementValidator } from './analyst-statement-validator.js';
import type { Engine } from './engine.js';
import { parseEngineError, ServerException } from './errors.js';
import { createQueryPermits, type QueryPermit } from './query-permits.js';
import type { QueryRequest } from './request.js';
import { quoteIdentifier } from './sql-text.js';
import type { Statement } from './statement.js';

export interface AnalystOptions {
  /** Needed from other machines; undefined: analysts connect from this machine only. */
  readonly password: string | undefined;
  /** The one database they read. It is created when it is missing. */
  readonly database: string;
  /** Statements of analysts that run at once, in addition to the product's queries. */
  readonly concurrency: number;
  readonly limits: AnalystLimits;
}

/** The read-only service for analysts: validates statements and enforces their limits. */
export interface Analysts {
  readonly settings: Readonly<Record<string, string>>;
  /** Longest time of one statement in the engine, including its wait for the product's queries. */
  readonly engineTimeoutMs: number;
  /** Longest time a client may take to read one result. */
  readonly sendTimeoutMs: number;
  readonly limits: AnalystLimits;
  /** Acquires a permit to run a statement. Rejects with code 202 when too many run, wait, or send their results. */
  acquire(signal: AbortSignal): Promise<QueryPermit>;
  /** Returns the request and statement as they may run. Throws what `AnalystStatementValidator.validate` throws. */
  validate(
    request: QueryRequest,
    statement: Statement,
  ): Promise<{ readonly request: QueryRequest; readonly statement: Statement }>;
  /** Counts a result as being sent until the returned function is called. */
  trackSending(): () => void;
  /** The error with the limit that was exceeded and the remedy. */
  explainError(error: unknown): ServerException;
  idle(): Promise<void>;
}

const MAX_WAITING = 50;
const MAX_WAIT_MS = 30_000;
/** Results that may be sent from files to slow clients at once. */
const MAX_SENDING = 10;
const SEND_TIMEOUT_MS = 600_000;
/** The engine checks its time limit only between blocks; a statement that exceeds it by this much is killed. */
const KILL_GRACE_MS = 5_000;

export async function createAnalysts(deps: {
  engine: Engine;
  options: AnalystOptions;
  metrics: Metrics;
}): Promise<Analysts> {
  const { engine, options, metrics } = deps;
  const { database, limits } = options;
  await engine.queryText(`CREATE DATABASE IF NOT EXISTS ${quoteIdentifier(database)}`);
  const validator = createAnalystStatementValidator({
    engine,
    functions: await readAnalystFunctions(engine),
    database,
    limits,
  });
  const permits = createQueryPermits({
    capacity: options.concurrency,
    maxWaiting: MAX_WAITING,
    maxWaitMs: MAX_WAIT_MS,
    hint: ' These are the limits of user analyst (ANALYST_QUERIES).',
  });
  const running = metrics.gauge('clickhouse_analyst_queries_running', "Analysts' queries that run in the engine now");
  const waiting = metrics.gauge('clickhouse_analyst_queries_waiting', "Analysts' queries that wait for a permit");
  const rejected = metrics.counter(
    'clickhouse_analyst_rejections_total',
    "Analysts' statements rejected before they ran",
    ['code'],
  );
  let sendingCount = 0;
  const observe = () => {
    running.set(permits.running);
    waiting.set(permits.waiting);
  };

  async function acquire(signal: AbortSignal): Promise<QueryPermit> {
    if (sendingCount >= MAX_SENDING) {
      const text = `Too many simultaneous queries. ${MAX_SENDING} results of user analyst are still being sent to their clients.`;
      throw new ServerException(202, 'TOO_MANY_SIMULTANEOUS_QUERIES', text);
    }
    const acquired = permits.acquire(signal);
    observe();
    const permit = await acquired;
    observe();
    return {
      index: permit.index,
      release: () => {
        permit.release();
        observe();
      },
    };
  }

  async function validate(request: QueryRequest, statement: Statement) {
    try {
      checkAnalystSettings(request.settings, limits);
      const admitted = await validator.validate(request, statement);
      const settings = { ...request.settings, ...admitted.settings };
      // A result sent from a file does not block the engine on a slow client, and an error still sets the HTTP status.
      return { request: { ...request, settings, waitEndOfQuery: true }, statement: admitted.statement };
    } catch (error) {
      rejected.inc({ code: String(parseEngineError(error).code) });
      throw error;
    }
  }

  return {
    settings: analystSettings(database, limits),
    engineTimeoutMs: limits.executionS * 1000 + KILL_GRACE_MS,
    sendTimeoutMs: SEND_TIMEOUT_MS,
    limits,
    acquire,
    validate,
    trackSending: () => {
      sendingCount += 1;
      return () => {
        sendingCount -= 1;
      };
    },
    explainError: (error) => addLimitHint(parseEngineError(error), limits),
    idle: () => permits.idle(),
  };
}
