import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const dist = join(import.meta.dirname, '..', '..', 'dist', 'infra');
const children: ChildProcess[] = [];
let dir = '';
beforeEach(() => {
  expect(existsSync(dist), 'build first: npm run build').toBe(true);
  dir = mkdtempSync(join(tmpdir(), 'run-process-'));
});
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  rmSync(dir, { recursive: true, force: true });
});

/** A process whose `main` is `body`; `before` runs ahead of runProcess. */
function start(body: string, options: { before?: string; channel?: boolean; drainMs?: number } = {}) {
  const script = join(dir, 'script.mjs');
  const from = (path: string) => JSON.stringify(pathToFileURL(join(dist, path)).href);
  writeFileSync(
    script,
    `import { runProcess } from ${from('telemetry/run-process.js')};
     import { createLogger } from ${from('telemetry/logger.js')};
     import { FatalError, RetryableError } from ${from('errors.js')};
     const untilAborted = (signal) => new Promise((resolve) => {
       const stay = setInterval(() => undefined, 1000);
       const end = () => { clearInterval(stay); resolve(); };
       if (signal.aborted) end(); else signal.addEventListener('abort', end);
     });
     ${options.before ?? ''}
     runProcess({
       logger: createLogger({ process: 'test', level: 'info' }),
       drainMs: ${options.drainMs ?? 4000},
       main: async (signal) => { process.stdout.write('up\\n'); ${body} },
     });`,
  );
  const stdio = ['ignore', 'pipe', 'pipe', ...(options.channel === true ? ['ipc' as const] : [])] as const;
  const child = spawn(process.execPath, [script], { stdio: [...stdio] });
  children.push(child);
  let output = '';
  const wakes: (() => void)[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk) => {
      output += chunk;
      for (const wake of wakes) wake();
    });
  }
  // 'close' is not emitted after a disconnect(), so printed() waits for the output.
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const printed = (text: string) =>
    new Promise<void>((resolve) => {
      const check = () => {
        if (output.includes(text)) resolve();
      };
      wakes.push(check);
      check();
    });
  return { child, ended, printed, output: () => output };
}

describe('runProcess', () => {
  it.each([
    ['return;', 0, 'stopped'],
    ["throw new RetryableError('the node is unreachable');", 75, 'the node is unreachable'],
    ["throw new FatalError('bad state');", 78, 'bad state'],
    ["throw new TypeError('a bug');", 75, 'a bug'],
    ["setTimeout(() => { throw 'no error at all'; }, 1); await untilAborted(signal);", 75, 'no error at all'],
    ["throw Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });", 75, 'connect'],
    ["setTimeout(() => { throw new RetryableError('later'); }, 1); await untilAborted(signal);", 75, 'later'],
    ["Promise.reject(new FatalError('unhandled')); await untilAborted(signal);", 78, 'unhandled'],
  ])('maps the end to an exit code and logs the reason: %s', async (body, code, text) => {
    const run = start(body);
    expect(await run.ended).toBe(code);
    await run.printed(text);
  });

  it('logs the stack of an unknown error, and of a FatalError only what to do', async () => {
    const outputOf = async (body: string) => {
      const run = start(body);
      await run.ended;
      await run.printed('"level":"fatal"');
      return run.output();
    };
    expect(await outputOf("throw new TypeError('a bug');")).toContain('script.mjs');
    const fatal = await outputOf("throw new FatalError('set LOG_URL');");
    expect(fatal).toContain('"msg":"set LOG_URL"');
    expect(fatal).not.toContain('script.mjs');
  });

  it.each(['SIGINT', 'SIGTERM'] as const)('drains on %s and ends with 0', async (signal) => {
    const run = start("await untilAborted(signal); process.stdout.write('drained\\n');");
    await run.printed('up');
    run.child.kill(signal);
    expect(await run.ended).toBe(0);
    await run.printed('drained');
  });

  it('ends with 1 when draining takes too long, and at once at a second signal', async () => {
    const slow = start('await new Promise(() => setInterval(() => undefined, 1000));', { drainMs: 50 });
    await slow.printed('up');
    slow.child.kill('SIGTERM');
    expect(await slow.ended).toBe(1);
    await slow.printed('did not drain in time');

    const twice = start('await new Promise(() => setInterval(() => undefined, 1000));', { drainMs: 60_000 });
    await twice.printed('up');
    twice.child.kill('SIGTERM');
    await twice.printed('stopping');
    twice.child.kill('SIGTERM');
    expect(await twice.ended).toBe(1);
  });

  it('ends with its supervisor, also when that ended before the start', async () => {
    const late = start('await untilAborted(signal);', { channel: true });
    await late.printed('up');
    late.child.disconnect();
    expect(await late.ended).toBe(0);
    await late.printed('supervisor ended');

    // The supervisor's ends of the pipes are closed while the process still has lines to write.
    const mute = start('await untilAborted(signal);', {
      channel: true,
      before: `process.once('disconnect', () => {
        for (let i = 0; i < 100; i++) createLogger({ process: 'test', level: 'info' }).info({ i }, 'unread');
      });`,
    });
    await mute.printed('up');
    mute.child.stdout?.destroy();
    mute.child.stderr?.destroy();
    mute.child.disconnect();
    expect(await mute.ended).toBe(0);

    const early = start('await untilAborted(signal);', {
      channel: true,
      before:
        "process.stdout.write('loading\\n'); await new Promise((resolve) => process.once('disconnect', resolve));",
    });
    await early.printed('loading');
    early.child.disconnect();
    expect(await early.ended).toBe(0);
    await early.printed('supervisor ended');
  });
});
