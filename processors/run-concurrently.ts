import { setMaxListeners } from 'node:events';

/**
 * Wait for tasks that run side by side. The first failure aborts the signal they were started with and is thrown once all have ended; a
 * stop asked for by `signal` ends them without an error.
 */
export async function runConcurrently(
  signal: AbortSignal,
  start: (signal: AbortSignal) => readonly Promise<void>[],
): Promise<void> {
  const own = new AbortController();
  const either = AbortSignal.any([signal, own.signal]);
  // Every task and every read of theirs listens to it.
  setMaxListeners(0, either);
  const failures: unknown[] = [];
  await Promise.all(
    start(either).map(async (task) => {
      try {
        await task;
      } catch (error) {
        if (!either.aborted) failures.push(error);
        own.abort();
      }
    }),
  );
  if (failures.length > 0) throw failures[0];
}
