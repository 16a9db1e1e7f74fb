import { expect, it } from 'vitest';
import { plans } from '../../schemas/plans.js';
import { renderFailure } from '../errors/error-formats.js';
import { ApiError } from '../errors/failure.js';
import { createMemoryRateLimitStore } from '../limits/memory-rate-limit-store.js';
import { enforceCopyPnlLimit } from './request-limit.js';

it('enforceCopyPnlLimit accepts one request per 5 s and key and returns the remaining milliseconds', async () => {
  const store = createMemoryRateLimitStore({ windowMs: 60_000 });
  const caller = (keyHash: string) => ({
    accountId: 'one account',
    keyHash,
    poolKeyHash: keyHash,
    limitKeyHash: keyHash,
    plan: 'starter' as const,
    terms: plans.starter,
  });
  const request = (keyHash: string, nowMs: number) => enforceCopyPnlLimit(store, { caller: caller(keyHash), nowMs });
  const START_MS = 1_800_000_000_000;

  await request('a', START_MS);
  const error = await request('a', START_MS + 1_766).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(ApiError);
  expect(renderFailure('v2', (error as ApiError).failure)).toEqual({
    status: 429,
    headers: {
      'retry-after': '4',
      'x-ratelimit-limit': '1',
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': '1800000005',
    },
    body: {
      error: 'copy-pnl rate limited (1 req per 5s per key).',
      retryAfterMs: 3_234,
      reset_at: 1_800_000_005,
    },
  });
  await request('b', START_MS + 1_766);
  await expect(request('a', START_MS + 4_999)).rejects.toThrow('rate_limited');
  // Rejected requests did not extend the window.
  await request('a', START_MS + 5_000);
});
