import { expect, it } from 'vitest';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { createMetrics } from '../../infra/telemetry/metrics.js';
import { keepFilled, type Pause } from './keep-filled.js';

const deps = () => ({
  logger: silentLogger(),
  metrics: createMetrics({ process: 'api', defaults: false }),
  what: 'a cache',
  gauge: { name: 'held', help: 'Held' },
  againAfterMs: 1,
});

it('fills again and again, tells how much there was, and goes on after a failure', async () => {
  const told = deps();
  const stop = new AbortController();
  const seen: string[] = [];
  const fill = async () => {
    seen.push(/held\b.* (\d+)\n/.exec(await told.metrics.registry.metrics())?.[1] ?? '');
    if (seen.length === 2) throw new Error('away');
    if (seen.length === 4) stop.abort();
    return seen.length;
  };
  await keepFilled({ ...told, fill }, stop.signal);
  expect(seen).toEqual(['0', '1', '1', '3']);
  expect(await told.metrics.registry.metrics()).toMatch(/cache_fills_total\{gauge="held".* 3\n/);
});

it('ends at once when told to, in the middle of a pass and between two', async () => {
  for (const fill of [async (pause: Pause) => pause(3_600_000).then(() => 1), async () => 1]) {
    const stop = new AbortController();
    const ended = keepFilled({ ...deps(), againAfterMs: 3_600_000, fill }, stop.signal);
    setTimeout(() => stop.abort(), 20);
    await ended;
  }
});
