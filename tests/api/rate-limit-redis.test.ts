import { describe } from 'vitest';
import { startTestRedis, whyNoRedis } from '../support/redis.js';
import { describeRedisRateLimits } from './rate-limit-suite.js';

const missing = whyNoRedis();
describe.skipIf(missing !== null)(missing === null ? 'on a process' : `not run: ${missing}`, () =>
  describeRedisRateLimits('Redis', startTestRedis),
);
