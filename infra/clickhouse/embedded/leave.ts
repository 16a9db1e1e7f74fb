import { spawn } from 'node:child_process';

/** Ends its parent when that is still there after the time given. A parent that has ended is no longer its parent, whoever has its id by then. */
const WATCH = `
  const [parent, waitMs] = process.argv.slice(-2).map(Number);
  setTimeout(() => {
    if (process.ppid === parent) process.kill(parent, 'SIGKILL');
  }, waitMs);
`;

/**
 * Call it when the process leaves: ends it with SIGKILL when it has not left within `waitMs`. The engine's destructors, which run after the last
 * JavaScript, may wait for ever even when the engine was closed, and nothing in a process can end it by then; its supervisor, which waits for its
 * end before it starts another, would wait as long.
 */
export function endIfStuck(waitMs: number): void {
  // Without the environment: what NODE_OPTIONS loads is for the process itself.
  const watch = spawn(process.execPath, ['-e', WATCH, '--', String(process.pid), String(waitMs)], {
    detached: true,
    stdio: 'ignore',
    env: {},
  });
  watch.once('error', () => undefined);
  watch.unref();
}
