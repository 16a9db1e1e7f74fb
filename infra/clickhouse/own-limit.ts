import { ClickHouseError } from '@clickhouse/client';
import { RetryableError } from '../errors.js';

const TIMEOUT_CODE = '159';
const MEMORY_LIMIT_CODE = '241';

/** Whether a statement exceeded its own time or memory limit: repeated, it would again. The total memory limit is exceeded by load instead. */
export function exceededOwnLimit(error: unknown): boolean {
  const cause = error instanceof RetryableError ? error.cause : error;
  if (!(cause instanceof ClickHouseError)) return false;
  return cause.code === TIMEOUT_CODE || (cause.code === MEMORY_LIMIT_CODE && !cause.message.includes('(total)'));
}
