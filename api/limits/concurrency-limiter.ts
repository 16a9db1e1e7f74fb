import { ApiError } from '../errors/failure.js';
import { rateLimitHeaders } from './rate-limit-headers.js';

export interface ConcurrencyLimiterOptions {
  readonly perAccount: number;
  readonly total: number;
  readonly maxWaitMs: number;
  /** Message of the error for both limits. */
  readonly message: string;
  readonly accountScope: string;
  readonly totalScope: string;
  readonly nowMs: () => number;
}

const RETRY_MS = 1_000;

/**
 * Limits how many costly tasks of one process run concurrently, per account and in total. A permit goes to the longest waiting task whose account is below its limit, and back to the account that returned it
 * only if no other one waits.
 */
export function createConcurrencyLimiter(options: ConcurrencyLimiterOptions) {
  const { perAccount, total, message } = options;
  const running = new Map<string, number>();
  let totalRunning = 0;
  const waiting = new Set<{ readonly accountId: string; readonly go: () => void }>();

  const accountFull = (accountId: string): boolean => (running.get(accountId) ?? 0) >= perAccount;
  const hasPermit = (accountId: string): boolean => totalRunning < total && !accountFull(accountId);
  const acquire = (accountId: string): void => {
    totalRunning += 1;
    running.set(accountId, (running.get(accountId) ?? 0) + 1);
  };
  const release = (accountId: string): void => {
    totalRunning -= 1;
    const left = (running.get(accountId) ?? 1) - 1;
    if (left === 0) running.delete(accountId);
    else running.set(accountId, left);
    // An account that always has tasks waiting must not keep its permit: tasks of others go first.
    const others = [...waiting].filter((waiter) => waiter.accountId !== accountId);
    for (const waiter of new Set([...others, ...waiting])) {
      if (totalRunning >= total) break;
      if (!hasPermit(waiter.accountId)) continue;
      acquire(waiter.accountId);
      waiter.go();
    }
  };
  const rejection = (accountId: string): ApiError => {
    if (!accountFull(accountId)) {
      return new ApiError({ kind: 'overloaded', message, scope: options.totalScope, retryAfterS: RETRY_MS / 1000 });
    }
    const nowMs = options.nowMs();
    const retryAtMs = nowMs + RETRY_MS;
    return new ApiError({
      kind: 'rate_limited',
      message,
      scope: options.accountScope,
      retryAtMs,
      nowMs,
      limitPerMinute: perAccount,
      headers: rateLimitHeaders({ limit: perAccount, remaining: 0, resetMs: retryAtMs }),
    });
  };
  const waitForPermit = (accountId: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const waiter = {
        accountId,
        go: () => {
          clearTimeout(timer);
          waiting.delete(waiter);
          resolve();
        },
      };
      const timer = setTimeout(() => {
        waiting.delete(waiter);
        reject(rejection(accountId));
      }, options.maxWaitMs);
      waiting.add(waiter);
    });

  return {
    /** Runs `work` once a permit is free; throws ApiError when the wait exceeds the limit. */
    async run<T>(accountId: string, work: () => Promise<T>): Promise<T> {
      if (hasPermit(accountId)) acquire(accountId);
      else await waitForPermit(accountId);
      try {
        return await work();
      } finally {
        release(accountId);
      }
    },
  };
}
