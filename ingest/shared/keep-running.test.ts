import { describe, expect, it } from 'vitest';
import { FatalError, RetryableError } from '../../infra/errors.js';
import { FencedError } from '../../infra/log/errors.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { createMetrics } from '../../infra/telemetry/metrics.js';
import { keepRunning } from './keep-running.js';

function setUp(failures: readonly unknown[]) {
  const stop = new AbortController();
  const reasons: string[] = [];
  let runs = 0;
  const done = keepRunning(
    async () => {
      runs += 1;
      if (runs <= failures.length) throw failures[runs - 1];
    },
    {
      source: 'chain',
      logger: silentLogger(),
      metrics: createMetrics({ process: 'test', defaults: false }),
      signal: stop.signal,
      onFailed: (reason) => reasons.push(reason),
      firstDelayMs: 1,
    },
  );
  return { stop, reasons, done, runs: () => runs };
}

describe('keepRunning', () => {
  it('restarts a source after retryable and unknown errors, and reports the reason', async () => {
    const { done, reasons, runs } = setUp([new RetryableError('no answer'), new TypeError('x is null'), 'text']);
    await done;
    expect([runs(), reasons]).toEqual([4, ['no answer', 'x is null', 'text']]);
  });

  it.each([new FatalError('wrong network'), new FencedError('taken over')])(
    'rejects with %s without a restart',
    async (error) => {
      const { done, runs } = setUp([error]);
      await expect(done).rejects.toBe(error);
      expect(runs()).toBe(1);
    },
  );

  it('ends with the signal while it waits', async () => {
    const { done, stop } = setUp(Array.from({ length: 1000 }, () => new Error('again')));
    stop.abort();
    await done.catch(() => undefined);
  });
});
