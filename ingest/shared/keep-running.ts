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
  /** Told why the source is away, until it runs again. */
  readonly onFailed: (reason: string) => void;
  readonly firstDelayMs?: number;
  readonly maxDelayMs?: number;
  /** A run at least this long was a good one: the next failure waits for `firstDelayMs` again. */
  readonly stableRunMs?: number;
}

/**
 * Runs one source, and again after whatever ends it: what a node, a feed or a catalogue answers must end neither the process nor the other
 * sources. Rejects only with FatalError (a person must mend it) and FencedError (another process writes for the sources now).
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
      logger.error({ err: error, source, delayMs }, 'a source failed, starting it again');
      options.onFailed(error instanceof Error ? error.message : String(error));
      await pause(delayMs, signal);
      delayMs = Math.min(delayMs * 2, maxDelayMs);
    }
  }
}
