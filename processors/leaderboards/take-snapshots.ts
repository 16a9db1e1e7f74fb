import { RetryableError } from '../../infra/errors.js';
import type { Metrics } from '../../infra/telemetry/metrics.js';

/**
 * Takes snapshots one after the other, also those after one that fails with RetryableError, and awaits `after` each; true leaves out the rest. Rejects with
 * a RetryableError that names the failed ones, at once with any other error.
 */
export async function takeSnapshots<T extends { readonly name: string }>(
  snapshots: readonly T[],
  options: {
    readonly table: (snapshot: T) => string;
    readonly take: (snapshot: T) => Promise<void>;
    readonly after?: () => Promise<boolean>;
    readonly metrics: Metrics;
    readonly signal: AbortSignal | undefined;
  },
): Promise<void> {
  const { signal } = options;
  const failed = options.metrics.counter(
    'leaderboard_snapshot_failures_total',
    'Snapshots of leaderboards that failed and are taken again later, by table',
    ['table'],
  );
  const failures: { readonly name: string; readonly error: RetryableError }[] = [];
  for (const snapshot of snapshots) {
    signal?.throwIfAborted();
    try {
      await options.take(snapshot);
    } catch (error) {
      if (signal?.aborted === true || !(error instanceof RetryableError)) throw error;
      failed.inc({ table: options.table(snapshot) });
      failures.push({ name: snapshot.name, error });
    }
    if ((await options.after?.()) === true) break;
  }
  const [first] = failures;
  if (first === undefined) return;
  throw new RetryableError(`${failures.map(({ name }) => name).join(', ')}: ${first.error.message}`, {
    cause: first.error,
  });
}
