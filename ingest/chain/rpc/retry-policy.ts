import { FatalError, RetryableError } from '../../../infra/errors.js';
import { pause } from '../../shared/pause.js';
import { classifyRpcError, requestedDelayMs } from './rpc-error.js';

export interface RetryPolicy {
  /** Consecutive attempts before a request fails. */
  readonly attempts: number;
  readonly baseMs: number;
  readonly maxMs: number;
}

export const defaultRetryPolicy: RetryPolicy = { attempts: 8, baseMs: 250, maxMs: 15_000 };

/** Delay before attempt n+1: exponential with 50 % jitter, so that many readers do not retry at once. */
export function backoffMs(attempt: number, { baseMs, maxMs }: RetryPolicy, random: () => number = Math.random): number {
  const full = Math.min(maxMs, baseMs * 2 ** (attempt - 1));
  return full / 2 + (full / 2) * random();
}

/** Repeats an operation after transient failures. Throws RetryableError when the attempts are exhausted or the node rejects the request. */
export async function withRetry<T>(
  what: string,
  signal: AbortSignal,
  policy: RetryPolicy,
  attempt: () => Promise<T>,
): Promise<T> {
  for (let tried = 1; ; tried += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (error instanceof RetryableError || error instanceof FatalError) throw error;
      const failure = classifyRpcError(error);
      const message = `${what}: ${error instanceof Error ? error.message : String(error)}`;
      if (failure.kind === 'rejected' || tried >= policy.attempts || signal.aborted) {
        throw new RetryableError(message, { cause: error });
      }
      await pause(Math.max(requestedDelayMs(error), backoffMs(tried, policy)), signal);
      if (signal.aborted) throw new RetryableError(message, { cause: error });
    }
  }
}
