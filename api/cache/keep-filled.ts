import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../infra/telemetry/logger.js';
import type { Metrics } from '../../infra/telemetry/metrics.js';

/** Waits; rejects when the work is to end. */
export type Pause = (ms: number) => Promise<void>;

const AGAIN_AFTER_MS = 60_000;

/**
 * Fills a cache ahead of questions, so that nobody's page waits for it: once a minute until `signal` fires, less often where a pass takes long. Resolves then.
 */
export async function keepFilled(
  deps: {
    readonly logger: Logger;
    readonly metrics: Metrics;
    /** What is filled, in a message. */
    readonly what: string;
    /** Of a gauge that tells what `fill` last resolved with. */
    readonly gauge: { readonly name: string; readonly help: string };
    readonly fill: (pause: Pause) => Promise<number>;
    /** At least so many times as long as a pass took passes until the next one. */
    readonly rest?: number;
    readonly againAfterMs?: number;
  },
  signal: AbortSignal,
): Promise<void> {
  const gauge = deps.metrics.gauge(deps.gauge.name, deps.gauge.help);
  const passes = deps.metrics.counter(
    'api_cache_fills_total',
    'Passes over what a cache is to hold ahead of questions',
    ['gauge'],
  );
  const pause: Pause = (ms) => sleep(ms, undefined, { signal });
  while (!signal.aborted) {
    const began = performance.now();
    try {
      gauge.set(await deps.fill(pause));
      passes.inc({ gauge: deps.gauge.name });
    } catch (error) {
      // The tables are made, or come back, in their own time; whoever asks meanwhile is told.
      if (!signal.aborted) deps.logger.debug({ err: error }, `could not fill ${deps.what}`);
    }
    await pause(Math.max(deps.againAfterMs ?? AGAIN_AFTER_MS, (deps.rest ?? 0) * (performance.now() - began))).catch(
      () => undefined,
    );
  }
}
