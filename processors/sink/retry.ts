import { setTimeout as sleep } from 'node:timers/promises';
import { FatalError, isTransient, RetryableError } from '../../infra/errors.js';
import { FencedError } from '../../infra/log/errors.js';

const FIRST_DELAY_MS = 100;
const MAX_DELAY_MS = 5_000;
/** Consecutive rejections by a reachable server (it may be starting or out of memory) before the process exits and restarts. */
const MAX_REJECTIONS = 5;

/**
 * Runs `attempt` until it succeeds: without limit while the server is unreachable (retryable errors), MAX_REJECTIONS times when it rejects.
 * `onFailure` is called for every failure. Throws RetryableError after the last rejection, FatalError and FencedError at once, the signal's reason when aborted.
 */
export async function retryUntilSuccess<T>(
  what: string,
  attempt: () => Promise<T>,
  options: { signal: AbortSignal; onFailure: (error: unknown, delayMs: number) => void; firstDelayMs?: number },
): Promise<T> {
  let delayMs = options.firstDelayMs ?? FIRST_DELAY_MS;
  let rejections = 0;
  for (;;) {
    options.signal.throwIfAborted();
    try {
      return await attempt();
    } catch (error) {
      options.signal.throwIfAborted();
      if (error instanceof FencedError || error instanceof FatalError) throw error;
      if (!isTransient(error) && ++rejections >= MAX_REJECTIONS)
        throw new RetryableError(`${what}: ${error instanceof Error ? error.message : String(error)}`, {
          cause: error,
        });
      options.onFailure(error, delayMs);
      await sleep(delayMs, undefined, { signal: options.signal });
      delayMs = Math.min(delayMs * 2, MAX_DELAY_MS);
    }
  }
}
