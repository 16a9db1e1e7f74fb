import { describe } from 'vitest';
import { createMemoryRateLimitStore } from '../../api/limits/memory-rate-limit-store.js';
import { startTestRedis, whyNoRedis } from '../support/redis.js';
import { describeRateLimitStore, describeRedisRateLimits } from './rate-limit-suite.js';

describe('rate-limit store in memory', () =>
  describeRateLimitStore(async () => createMemoryRateLimitStore({ windowMs: 1_000 }), false));

const missing = whyNoRedis();
describe.skipIf(missing !== null)(missing === null ? 'on a process' : `not run: ${missing}`, () =>
  describeRedisRateLimits('Redis', startTestRedis),
);
