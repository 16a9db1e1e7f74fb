import { spawn } from 'node:child_process';

/** Kills its parent when that still runs after the given time. Checks the parent id, because another process may have the pid of a parent that has ended. */
const WATCH = `
  const [parent, waitMs] = process.argv.slice(-2).map(Number);
  setTimeout(() => {
    if (process.ppid === parent) process.kill(parent, 'SIGKILL');
  }, waitMs);
`;

/**
 * Call it when the process exits: a child process ends it with SIGKILL when it still runs after `waitMs`. The engine's destructors run after the
 * last JavaScript and may block forever even when the engine was closed; no code of the process runs by then, and the supervisor restarts
 * the process only after its end.
 */
export function endIfStuck(waitMs: number): void {
  // Empty environment: modules that NODE_OPTIONS preloads are not for this child.
  const watch = spawn(process.execPath, ['-e', WATCH, '--', String(process.pid), String(waitMs)], {
    detached: true,
    stdio: 'ignore',
    env: {},
  });
  watch.once('error', () => undefined);
  watch.unref();
}
