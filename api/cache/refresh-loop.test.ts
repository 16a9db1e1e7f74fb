import { expect, it } from 'vitest';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { createMetrics } from '../../infra/telemetry/metrics.js';
import { runRefreshLoop, type Throttle } from './refresh-loop.js';

const deps = () => ({
  logger: silentLogger(),
  metrics: createMetrics({ process: 'api', defaults: false }),
  name: 'a cache',
  gauge: { name: 'held', help: 'Held' },
  intervalMs: 1,
});

it('fills again and again, tells how much there was, and goes on after a failure', async () => {
  const told = deps();
  const stop = new AbortController();
  const seen: string[] = [];
  const refresh = async () => {
    seen.push(/held\b.* (\d+)\n/.exec(await told.metrics.registry.metrics())?.[1] ?? '');
    if (seen.length === 2) throw new Error('away');
    if (seen.length === 4) stop.abort();
    return seen.length;
  };
  await runRefreshLoop({ ...told, refresh }, stop.signal);
  expect(seen).toEqual(['0', '1', '1', '3']);
  expect(await told.metrics.registry.metrics()).toMatch(/cache_warmup_passes_total\{cache="held".* 3\n/);
});

it('ends at once when told to, in the middle of a pass and between two', async () => {
  for (const refresh of [async (pause: Throttle) => pause(3_600_000).then(() => 1), async () => 1]) {
    const stop = new AbortController();
    const ended = runRefreshLoop({ ...deps(), intervalMs: 3_600_000, refresh }, stop.signal);
    setTimeout(() => stop.abort(), 20);
    await ended;
  }
});
