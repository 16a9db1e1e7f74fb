import type { Logger } from '../../infra/telemetry/logger.js';

export interface Progress {
  /** Reports the number of completed units; logs at most every `intervalMs`. */
  report(done: number): void;
  /** Logs the end, regardless of the interval. */
  finish(): void;
}

/**
 * Structured progress lines `{progress: {source, done, total, unit, perSecond}}`; the supervisor draws its bar from them. `total` null:
 * the total is unknown until the end.
 */
export function createProgress(options: {
  logger: Logger;
  source: string;
  unit: string;
  total: number | null;
  intervalMs?: number;
  now?: () => number;
  /** Called with every line when the total is known: completed ratio, 0..1. */
  onRatio?: (share: number) => void;
}): Progress {
  const { logger, source, unit, intervalMs = 250, now = Date.now, onRatio } = options;
  const startedMs = now();
  let lastMs = Number.NEGATIVE_INFINITY;
  let latest = 0;
  const line = (total: number | null) => {
    lastMs = now();
    const seconds = Math.max(0.001, (lastMs - startedMs) / 1000);
    logger.info(
      { progress: { source, done: latest, total, unit, perSecond: Math.round(latest / seconds) } },
      'history',
    );
    if (total !== null) onRatio?.(total === 0 ? 1 : latest / total);
  };
  return {
    report(done) {
      latest = options.total === null ? done : Math.min(done, options.total);
      if (now() - lastMs >= intervalMs) line(options.total);
    },
    finish() {
      latest = options.total ?? latest;
      line(latest);
    },
  };
}
