import { FatalError } from '../../infra/errors.js';
import { FencedError } from '../../infra/log/errors.js';
import type { Logger } from '../../infra/telemetry/logger.js';
import type { Metrics } from '../../infra/telemetry/metrics.js';
import { pause } from './pause.js';

export interface KeepRunningOptions {
  readonly source: string;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly signal: AbortSignal;
  /** Called with the reason of a failure before the source is restarted. */
  readonly onFailed: (reason: string) => void;
  readonly firstDelayMs?: number;
  readonly maxDelayMs?: number;
  /** After a run of at least this duration, the backoff starts at `firstDelayMs` again. */
  readonly stableRunMs?: number;
}

/**
 * Runs one source and restarts it after every failure: a response of a node, a feed or a catalog must end neither the process nor the other
 * sources. Rejects only with FatalError (an operator must act) and FencedError (another process owns the topics).
 */
export async function keepRunning(run: () => Promise<void>, options: KeepRunningOptions): Promise<void> {
  const { source, logger, metrics, signal, firstDelayMs = 500, maxDelayMs = 30_000, stableRunMs = 60_000 } = options;
  const failures = metrics.counter('source_failures_total', 'Runs of a source that ended with an error', ['source']);
  let delayMs = firstDelayMs;
  while (!signal.aborted) {
    const startedMs = performance.now();
    try {
      return await run();
    } catch (error) {
      if (signal.aborted || error instanceof FatalError || error instanceof FencedError) throw error;
      if (performance.now() - startedMs >= stableRunMs) delayMs = firstDelayMs;
      failures.inc({ source });
      logger.error({ err: error, source, delayMs }, 'source failed, restarting it');
      options.onFailed(error instanceof Error ? error.message : String(error));
      await pause(delayMs, signal);
      delayMs = Math.min(delayMs * 2, maxDelayMs);
    }
  }
}
