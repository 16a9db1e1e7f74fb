import { expect, it } from 'vitest';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { createMetrics } from '../../infra/telemetry/metrics.js';
import { idleAfter, runRefreshLoop, type Throttle } from './refresh-loop.js';

const deps = () => ({
  logger: silentLogger(),
  metrics: createMetrics({ process: 'api', defaults: false }),
  intervalMs: 1,
});

it('runRefreshLoop repeats passes, reports their results and continues after a failure', async () => {
  const common = deps();
  const stop = new AbortController();
  const seen: string[] = [];
  const refresh = async () => {
    seen.push(/warmup_markets\{.* (\d+)\n/.exec(await common.metrics.registry.metrics())?.[1] ?? '');
    if (seen.length === 2) throw new Error('unreachable');
    if (seen.length === 4) stop.abort();
    return seen.length;
  };
  await runRefreshLoop({ ...common, refresh }, stop.signal);
  expect(seen).toEqual(['0', '1', '1', '3']);
  expect(await common.metrics.registry.metrics()).toMatch(
    /cache_warmup_passes_total\{cache="api_cache_warmup_markets".* 3\n/,
  );
});

it('runRefreshLoop stops at once when aborted, during a pass and between passes', async () => {
  for (const refresh of [async (pause: Throttle) => pause(3_600_000).then(() => 1), async () => 1]) {
    const stop = new AbortController();
    const ended = runRefreshLoop({ ...deps(), intervalMs: 3_600_000, refresh }, stop.signal);
    setTimeout(() => stop.abort(), 20);
    await ended;
  }
});

it.each([
  { passMs: 20, idleMs: 60_000 },
  { passMs: 2_000, idleMs: 200_000 },
  { passMs: 45_000, idleMs: 600_000 },
])('idleAfter is $idleMs ms after a pass of $passMs ms', ({ passMs, idleMs }) => {
  expect(idleAfter(passMs)).toBe(idleMs);
});
