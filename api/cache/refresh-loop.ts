import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../infra/telemetry/logger.js';
import type { Metrics } from '../../infra/telemetry/metrics.js';

/** Pauses for `ms`; rejects when the loop is being stopped. */
export type Throttle = (ms: number) => Promise<void>;

const INTERVAL_MS = 60_000;

/** Refreshes a cache in the background once a minute, or less often if a pass takes long. Resolves after `signal` has aborted. */
export async function runRefreshLoop(
  deps: {
    readonly logger: Logger;
    readonly metrics: Metrics;
    /** Name of the cache in log messages. */
    readonly name: string;
    /** Gauge with the result of the last pass. */
    readonly gauge: { readonly name: string; readonly help: string };
    readonly refresh: (pause: Throttle) => Promise<number>;
    /** Minimum ratio of the pause between passes to the duration of a pass. */
    readonly minIdleRatio?: number;
    readonly intervalMs?: number;
  },
  signal: AbortSignal,
): Promise<void> {
  const gauge = deps.metrics.gauge(deps.gauge.name, deps.gauge.help);
  const passes = deps.metrics.counter('api_cache_warmup_passes_total', 'Completed refresh passes of a cache', [
    'cache',
  ]);
  const throttle: Throttle = (ms) => sleep(ms, undefined, { signal });
  while (!signal.aborted) {
    const startedMs = performance.now();
    try {
      gauge.set(await deps.refresh(throttle));
      passes.inc({ cache: deps.gauge.name });
    } catch (error) {
      // Tables may not exist yet or be unreachable; requests report that themselves, and the next pass retries.
      if (!signal.aborted) deps.logger.debug({ err: error }, `could not fill ${deps.name}`);
    }
    await throttle(
      Math.max(deps.intervalMs ?? INTERVAL_MS, (deps.minIdleRatio ?? 0) * (performance.now() - startedMs)),
    ).catch(() => undefined);
  }
}
