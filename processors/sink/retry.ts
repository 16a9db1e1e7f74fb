import { setTimeout as sleep } from 'node:timers/promises';
import { FatalError, isTransient, RetryableError } from '../../infra/errors.js';
import { FencedError } from '../../infra/log/errors.js';

const FIRST_DELAY_MS = 100;
const MAX_DELAY_MS = 5_000;
/** A server that answers but refuses gets a few chances (it may be out of memory or starting), then the process ends and starts anew. */
const MAX_REJECTIONS = 5;

/**
 * Run `attempt` until it succeeds: for ever while the outside world is away (retryable errors), a few times when it refuses.
 * `failed` hears of every failure. Throws RetryableError for a standing refusal, FatalError and FencedError at once, the signal's reason when aborted.
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
