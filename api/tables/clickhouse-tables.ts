import { setTimeout as sleep } from 'node:timers/promises';
import { ClickHouseError } from '@clickhouse/client';
import type { ClickHouse } from '../../infra/clickhouse/client.js';
import { RetryableError } from '../../infra/errors.js';
import { MissingTablesError, SINGLE_CHUNK_MAX_ROWS, type Tables } from './port.js';

/** Unknown table, unknown database: the processors have not created them yet. */
const MISSING_TABLE_CODES: ReadonlySet<string> = new Set(['60', '81']);
/** Total memory limit of the engine. A small engine reaches it briefly while it loads the history; a retry usually succeeds. */
const MEMORY_LIMIT_CODE = '241';
/** Delays before retries after a memory limit; after the last one the statement fails with RetryableError. */
const RETRY_DELAYS_MS = [100, 300];
const PING_TIMEOUT_MS = 2_000;
/** Above the longest statement's own time limit: only a database that hangs reaches it. */
const QUERY_TIMEOUT_MS = 15_000;
/**
 * Each statement reads a small key range and many run concurrently: several threads per statement cost more than they gain. Statements of requests run
 * before background work (leaderboard snapshots have priority 10).
 */
const SETTINGS = { max_execution_time: 10, max_threads: 1, priority: '1' } as const;
/** Time for the rest of a statement that is cut off. */
const CUT_OFF_MARGIN_MS = 10_000;
const cutOffSettings = (seconds: number) =>
  ({ ...SETTINGS, max_execution_time: seconds, timeout_overflow_mode: 'break' }) as const;
const SINGLE_CHUNK_SETTINGS = { ...SETTINGS, max_result_rows: String(SINGLE_CHUNK_MAX_ROWS) } as const;

/** A statement beyond its own memory limit would exceed it again: only the total limit is retried. */
const isMemoryLimitExceeded = (error: unknown): boolean =>
  error instanceof RetryableError &&
  error.cause instanceof ClickHouseError &&
  error.cause.code === MEMORY_LIMIT_CODE &&
  error.cause.message.includes('(total)');

/** Reads tables through the shared client. Missing tables cause MissingTablesError, a database that hangs RetryableError. */
export function createClickHouseTables(
  client: Pick<ClickHouse, 'query' | 'ping'>,
  options: { queryTimeoutMs?: number } = {},
): Tables {
  const queryTimeoutMs = options.queryTimeoutMs ?? QUERY_TIMEOUT_MS;
  return {
    async rows<T>(sql: Parameters<Tables['rows']>[0]): Promise<T[]> {
      // Cleared when the statement ends; the timer of AbortSignal.timeout would stay alive for the full time.
      const timeout = new AbortController();
      const { signal } = timeout;
      const { cutOffAfterS } = sql;
      const timeoutMs = cutOffAfterS === undefined ? queryTimeoutMs : cutOffAfterS * 1000 + CUT_OFF_MARGIN_MS;
      const timer = setTimeout(() => timeout.abort(), timeoutMs);
      const settings = sql.singleChunk === true ? SINGLE_CHUNK_SETTINGS : SETTINGS;
      const queryWithRetry = async (delaysMs: readonly number[]): Promise<T[]> => {
        const [waitMs, ...rest] = delaysMs;
        try {
          return await client.query<T>(sql.text, sql.params, {
            signal,
            settings: cutOffAfterS === undefined ? settings : cutOffSettings(cutOffAfterS),
          });
        } catch (error) {
          if (waitMs === undefined || !isMemoryLimitExceeded(error)) throw error;
        }
        await sleep(waitMs, undefined, { signal });
        return queryWithRetry(rest);
      };
      try {
        return await queryWithRetry(RETRY_DELAYS_MS);
      } catch (error) {
        if (signal.aborted) throw new RetryableError(`No response within ${timeoutMs} ms`, { cause: error });
        if (error instanceof ClickHouseError && MISSING_TABLE_CODES.has(error.code)) {
          throw new MissingTablesError(`The processors have not created the tables yet: ${error.message}`, {
            cause: error,
          });
        }
        throw error;
      } finally {
        clearTimeout(timer);
      }
    },
    async reachable() {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<boolean>((resolve) => {
        timer = setTimeout(() => resolve(false), PING_TIMEOUT_MS);
      });
      const pinged = client.ping().then(
        () => true,
        () => false,
      );
      try {
        return await Promise.race([pinged, late]);
      } finally {
        clearTimeout(timer);
      }
    },
  };
}
