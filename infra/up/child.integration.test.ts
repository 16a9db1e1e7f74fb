import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { backoffMs, type Child, type ChildState, createChild } from './child.js';

const running: Child[] = [];
afterEach(async () => {
  for (const child of running.splice(0)) await child.stop(2000);
});

/** Runs a script under supervision with immediate restarts; `until` resolves when the state is reached. */
function supervise(source: string, nowMs?: () => number, spawnProcess?: () => never) {
  const script = join(mkdtempSync(join(tmpdir(), 'oddstream-child-')), 'script.mjs');
  writeFileSync(script, source);
  const states: ChildState[] = [];
  const lines: string[] = [];
  const waits: number[] = [];
  const watchers: (() => void)[] = [];
  const wake = () => {
    for (const watcher of [...watchers]) watcher();
  };
  const child = createChild({
    spec: { name: 'test', args: [script], env: process.env },
    onLine: (line) => {
      lines.push(line);
      wake();
    },
    onState: (state) => {
      states.push(state);
      wake();
    },
    ...(nowMs === undefined ? {} : { nowMs }),
    ...(spawnProcess === undefined ? {} : { spawnProcess }),
    setTimer: (work, ms) => {
      waits.push(ms);
      wake();
      return setTimeout(work, 1);
    },
  });
  running.push(child);
  const until = (condition: () => boolean) =>
    new Promise<void>((resolve) => {
      const check = () => {
        if (!condition()) return;
        watchers.splice(watchers.indexOf(check), 1);
        resolve();
      };
      watchers.push(check);
      check();
    });
  return { child, states, lines, waits, until };
}

describe('backoffMs', () => {
  it('doubles from half a second to thirty', () => {
    expect([1, 2, 3, 4, 7, 8, 50].map(backoffMs)).toEqual([500, 1000, 2000, 4000, 30_000, 30_000, 30_000]);
  });
});

describe('createChild', () => {
  it.each([
    ['exit 75', 'process.exit(75)'],
    ['exit 0', 'process.exit(0)'],
    ["exit 1, which is also Node's for an uncaught exception", 'process.exit(1)'],
    ['exit 137', 'process.exit(137)'],
    ['an unknown error', "throw new TypeError('unexpected')"],
    ['SIGTERM from outside', "process.kill(process.pid, 'SIGTERM')"],
    ['SIGABRT', 'process.abort()'],
  ])('restarts after %s with growing waits', async (_name, source) => {
    const run = supervise(source);
    run.child.start();
    await run.until(() => run.waits.length === 3);
    expect(run.waits).toEqual([500, 1000, 2000]);
    expect(run.states).not.toContain('failed');
  });

  it('does not restart a process that ended with EXIT_FATAL, and reports it after its last line', async () => {
    const run = supervise("console.log('set X'); process.exit(78)");
    run.child.start();
    await run.until(() => run.child.state() === 'failed');
    expect(run.waits).toEqual([]);
    expect(run.lines).toEqual(['set X']);
  });

  it('resets the backoff after a run of more than a minute', async () => {
    let nowMs = 0;
    const run = supervise('process.exit(0)', () => {
      nowMs += run.waits.length === 2 ? 61_000 : 1;
      return nowMs;
    });
    run.child.start();
    await run.until(() => run.waits.length === 4);
    expect(run.waits).toEqual([500, 1000, 500, 1000]);
  });

  it('retries a failed spawn until it is stopped', async () => {
    const run = supervise('', undefined, () => {
      throw Object.assign(new Error('spawn EAGAIN'), { code: 'EAGAIN' });
    });
    run.child.start();
    await run.until(() => run.waits.length === 3);
    await run.child.stop(1000);
    expect(run.child.state()).toBe('stopped');
    expect(run.states).not.toContain('failed');
  });

  it('restarts a killed process', async () => {
    const run = supervise('console.log("up"); setInterval(() => {}, 1000)');
    run.child.start();
    await run.until(() => run.lines.length === 1);
    process.kill(run.child.pid() as number, 'SIGKILL');
    await run.until(() => run.lines.length === 2);
    expect(run.states).toContain('waiting to restart');
  });

  it('stops a process with SIGTERM, and with SIGKILL after graceMs', async () => {
    const polite = supervise(
      'process.on("SIGTERM", () => { console.log("bye"); process.exit(0); }); console.log("up"); setInterval(() => {}, 1000)',
    );
    polite.child.start();
    await polite.until(() => polite.lines.includes('up'));
    await polite.child.stop(5000);
    expect(polite.child.state()).toBe('stopped');
    await polite.until(() => polite.lines.includes('bye'));

    const deaf = supervise('process.on("SIGTERM", () => {}); console.log("up"); setInterval(() => {}, 1000)');
    deaf.child.start();
    await deaf.until(() => deaf.lines.includes('up'));
    await deaf.child.stop(50);
    expect(deaf.child.state()).toBe('stopped');
  });

  it('two restarts that overlap leave one process', async () => {
    const run = supervise(
      "process.on('SIGTERM', () => setTimeout(() => process.exit(0), 300)); console.log(process.pid); setInterval(() => {}, 1000)",
    );
    run.child.start();
    await run.until(() => run.lines.length === 1);
    await Promise.all([run.child.restart(5_000), run.child.restart(5_000)]);
    await run.until(() => run.lines.length >= 2);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    const isAlive = (pid: number) => {
      try {
        return process.kill(pid, 0);
      } catch {
        return false;
      }
    };
    const alive = run.lines.map(Number).filter(isAlive);
    expect(alive).toEqual([run.child.pid()]);
  });

  it('restart() starts at once, also after a fatal exit', async () => {
    const run = supervise('console.log("up"); setInterval(() => {}, 1000)');
    run.child.start();
    await run.until(() => run.lines.length === 1);
    const first = run.child.pid();
    await run.child.restart(5000);
    await run.until(() => run.lines.length === 2);
    expect(run.child.pid()).not.toBe(first);
    expect(run.waits).toEqual([]);

    const broken = supervise('process.exit(78)');
    broken.child.start();
    await broken.until(() => broken.child.state() === 'failed');
    await broken.child.restart(5000);
    await broken.until(() => broken.states.filter((state) => state === 'starting').length === 2);
  });
});
