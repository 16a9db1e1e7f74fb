import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../infra/telemetry/logger.js';
import type { Metrics } from '../../infra/telemetry/metrics.js';

/** Pauses for `ms`; rejects when the loop is being stopped. */
export type Throttle = (ms: number) => Promise<void>;

const INTERVAL_MS = 60_000;
/** Limits passes to a hundredth of the time: each reads the whole catalogue, which delays requests. */
const MIN_IDLE_RATIO = 100;
/** A first pass takes minutes; markets that are listed after it must not wait for hours. */
const MAX_IDLE_MS = 600_000;
const GAUGE = 'api_cache_warmup_markets';

/** Pause after a pass of `passMs`, ms. */
export const idleAfter = (passMs: number, intervalMs = INTERVAL_MS): number =>
  Math.max(intervalMs, Math.min(MIN_IDLE_RATIO * passMs, MAX_IDLE_MS));

/** Refreshes the caches in the background once a minute, or less often if a pass takes long. Resolves after `signal` has aborted. */
export async function runRefreshLoop(
  deps: {
    readonly logger: Logger;
    readonly metrics: Metrics;
    readonly refresh: (pause: Throttle) => Promise<number>;
    readonly intervalMs?: number;
  },
  signal: AbortSignal,
): Promise<void> {
  const gauge = deps.metrics.gauge(GAUGE, 'Markets whose metadata the last cache warm-up pass loaded');
  const passes = deps.metrics.counter('api_cache_warmup_passes_total', 'Completed refresh passes of a cache', [
    'cache',
  ]);
  const throttle: Throttle = (ms) => sleep(ms, undefined, { signal });
  while (!signal.aborted) {
    const startedMs = performance.now();
    try {
      gauge.set(await deps.refresh(throttle));
      passes.inc({ cache: GAUGE });
    } catch (error) {
      // Tables may not exist yet or be unreachable; requests report that themselves, and the next pass retries.
      if (!signal.aborted) deps.logger.debug({ err: error }, 'could not fill metadata of the largest markets');
    }
    await throttle(idleAfter(performance.now() - startedMs, deps.intervalMs)).catch(() => undefined);
  }
}
