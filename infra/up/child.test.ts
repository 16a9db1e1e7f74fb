import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { backoffMs, type Child, type ChildState, createChild } from './child.js';

const running: Child[] = [];
afterEach(async () => {
  for (const child of running.splice(0)) await child.stop(2000);
});

/** Runs a script under supervision with restarts at once; `until` resolves when the state is reached. */
function supervise(source: string) {
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
    setTimer: (work, ms) => {
      waits.push(ms);
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
  it('restarts exit 75 with growing waits', async () => {
    const run = supervise('process.exit(75)');
    run.child.start();
    await run.until(() => run.waits.length === 3);
    expect(run.waits).toEqual([500, 1000, 2000]);
  });

  it('leaves exit 1 down', async () => {
    const run = supervise('process.exit(1)');
    run.child.start();
    await run.until(() => run.child.state() === 'failed');
    expect(run.waits).toEqual([]);
  });

  it('restarts what was killed', async () => {
    const run = supervise('console.log("up"); setInterval(() => {}, 1000)');
    run.child.start();
    await run.until(() => run.lines.length === 1);
    process.kill(run.child.pid() as number, 'SIGKILL');
    await run.until(() => run.lines.length === 2);
    expect(run.states).toContain('waiting to restart');
  });

  it('stops with SIGTERM, and with SIGKILL what does not listen', async () => {
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
});
