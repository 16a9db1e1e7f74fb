import { setTimeout as sleep } from 'node:timers/promises';
import { ClickHouseError } from '@clickhouse/client';
import type { ClickHouse } from '../../infra/clickhouse/client.js';
import { RetryableError } from '../../infra/errors.js';
import { SINGLE_CHUNK_MAX_ROWS, type Tables } from './port.js';

/** Unknown table, unknown database: the processors have not made them yet. */
const MISSING_TABLE_CODES: ReadonlySet<string> = new Set(['60', '81']);
/** Memory of all statements together. A small engine is full for moments while it takes in a history: the next moment there is room. */
const MEMORY_LIMIT_CODE = '241';
/** Waits before a statement that found no room is asked again; after the last of them it counts as trouble. */
const RETRY_DELAYS_MS = [100, 300];
const PING_TIMEOUT_MS = 2_000;
/** Above the longest statement's own limit: only a database that hangs gets here. */
const QUERY_TIMEOUT_MS = 15_000;
/**
 * Answers read a small key range each, and many are asked for at once: handing parts of one to other threads costs more than it gains. They go before
 * what works in the background (pictures of all wallets have priority 10).
 */
const SETTINGS = { max_threads: 1, priority: '1' } as const;
const SINGLE_CHUNK_SETTINGS = { ...SETTINGS, max_result_rows: String(SINGLE_CHUNK_MAX_ROWS) } as const;

/** A statement beyond its own limit will be beyond it again. */
const isMemoryLimitExceeded = (error: unknown): boolean =>
  error instanceof RetryableError &&
  error.cause instanceof ClickHouseError &&
  error.cause.code === MEMORY_LIMIT_CODE &&
  error.cause.message.includes('(total)');

/** The tables behind the shared client. Tables that are not made yet, and a database that hangs, count as trouble that passes. */
export function createClickHouseTables(
  client: Pick<ClickHouse, 'query' | 'ping'>,
  options: { queryTimeoutMs?: number } = {},
): Tables {
  const queryTimeoutMs = options.queryTimeoutMs ?? QUERY_TIMEOUT_MS;
  return {
    async rows<T>(sql: Parameters<Tables['rows']>[0]): Promise<T[]> {
      // Ends with the statement; the timer of AbortSignal.timeout would live for all of its time.
      const timeout = new AbortController();
      const { signal } = timeout;
      const timer = setTimeout(() => timeout.abort(), queryTimeoutMs);
      const queryWithRetry = async (delaysMs: readonly number[]): Promise<T[]> => {
        const [waitMs, ...rest] = delaysMs;
        try {
          return await client.query<T>(sql.text, sql.params, {
            signal,
            settings: sql.singleChunk === true ? SINGLE_CHUNK_SETTINGS : SETTINGS,
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
        if (signal.aborted) throw new RetryableError(`No answer within ${queryTimeoutMs} ms`, { cause: error });
        if (error instanceof ClickHouseError && MISSING_TABLE_CODES.has(error.code)) {
          throw new RetryableError(`The tables are not there yet: ${error.message}`, { cause: error });
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
      const answered = client.ping().then(
        () => true,
        () => false,
      );
      try {
        return await Promise.race([answered, late]);
      } finally {
        clearTimeout(timer);
      }
    },
  };
}
