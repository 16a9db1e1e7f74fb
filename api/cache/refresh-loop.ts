import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../infra/telemetry/logger.js';
import type { Metrics } from '../../infra/telemetry/metrics.js';

/** Waits; rejects when the work is to end. */
export type Throttle = (ms: number) => Promise<void>;

const INTERVAL_MS = 60_000;

/**
 * Fills a cache ahead of questions, so that nobody's page waits for it: once a minute until `signal` fires, less often where a pass takes long. Resolves then.
 */
export async function runRefreshLoop(
  deps: {
    readonly logger: Logger;
    readonly metrics: Metrics;
    /** What is filled, in a message. */
    readonly name: string;
    /** Of a gauge that tells what `fill` last resolved with. */
    readonly gauge: { readonly name: string; readonly help: string };
    readonly refresh: (pause: Throttle) => Promise<number>;
    /** At least so many times as long as a pass took passes until the next one. */
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
      // The tables are made, or come back, in their own time; whoever asks meanwhile is told.
      if (!signal.aborted) deps.logger.debug({ err: error }, `could not fill ${deps.name}`);
    }
    await throttle(
      Math.max(deps.intervalMs ?? INTERVAL_MS, (deps.minIdleRatio ?? 0) * (performance.now() - startedMs)),
    ).catch(() => undefined);
  }
}
