import { describe } from 'vitest';
import { createMemoryRateLimitStore } from '../../api/limits/memory-rate-limit-store.js';
import { describeRateLimitStore } from './rate-limit-suite.js';

describe('rate-limit store in memory', () =>
  describeRateLimitStore(async () => createMemoryRateLimitStore({ windowMs: 1_000 }), false));
