import { setMaxListeners } from 'node:events';

/**
 * Runs tasks concurrently. The first failure aborts the signal passed to all of them and is thrown after all have ended; an abort of
 * `signal` ends them without an error.
 */
export async function runConcurrently(
  signal: AbortSignal,
  start: (signal: AbortSignal) => readonly Promise<void>[],
): Promise<void> {
  const failed = new AbortController();
  const either = AbortSignal.any([signal, failed.signal]);
  // Every task and each of its reads adds a listener to this signal.
  setMaxListeners(0, either);
  const failures: unknown[] = [];
  await Promise.all(
    start(either).map(async (task) => {
      try {
        await task;
      } catch (error) {
        if (!either.aborted) failures.push(error);
        failed.abort();
      }
    }),
  );
  if (failures.length > 0) throw failures[0];
}
