import { ClickHouseError } from '@clickhouse/client';
import { RetryableError } from '../../infra/errors.js';

const TIMEOUT_CODE = '159';
const MEMORY_LIMIT_CODE = '241';
/** Unknown table and unknown database: the tables are being created or exchanged. */
const MISSING_TABLE_CODES: ReadonlySet<string> = new Set(['60', '81']);

/**
 * Error text of a statement that failed because of the wallets it scores: `timeout_180s`, `memory_limit` or `scoring_failed`. null: ClickHouse is
 * unreachable or overloaded, the statement may succeed later. Rethrows every other error.
 */
export function scoringFailureOf(error: unknown, budgetMs: number): string | null {
  const cause = error instanceof RetryableError ? error.cause : error;
  if (cause instanceof ClickHouseError) {
    if (cause.code === TIMEOUT_CODE) return `timeout_${budgetMs / 1000}s`;
    // The total memory limit is exceeded by load, the limit per query by the statement itself.
    if (cause.code === MEMORY_LIMIT_CODE && !cause.message.includes('(total)')) return 'memory_limit';
    if (MISSING_TABLE_CODES.has(cause.code)) return null;
  }
  if (error instanceof RetryableError) return null;
  if (error instanceof ClickHouseError) return 'scoring_failed';
  throw error;
}
