import { describe, expect, it } from 'vitest';
import { RetryableError } from '../../infra/errors.js';
import { FencedError } from '../../infra/log/errors.js';
import { createMemoryLog, createMemoryStore, type MemoryLog, type MemoryStore } from '../../infra/log/testing.js';
import { createMembership, readLiveMembers } from '../../infra/membership/membership.js';
import { runAsLeader } from '../../infra/membership/run-as-leader.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { createMetrics } from '../../infra/telemetry/metrics.js';
import { createTaskRunner } from '../../processors/assignment/task-runner.js';
import { createCodec } from '../../schemas/codec.js';
import { allTopics } from '../../schemas/topics.js';
import { eventually } from '../support/product.js';

const codec = createCodec();
const logger = silentLogger();

async function join(store: MemoryStore, member: string) {
  const log: MemoryLog = createMemoryLog({ store });
  await log.ensureTopics(allTopics);
  const controller = new AbortController();
  let seen: readonly string[] = [];
  const membership = createMembership({
    log,
    codec,
    logger,
    role: 'processors',
    member,
    heartbeatMs: 20,
    deadAfterMs: 200,
  });
  const running = membership.run(controller.signal, (members) => {
    seen = members;
  });
  running.catch(() => undefined);
  return {
    log,
    sees: (...names: string[]) => eventually(`${member} to see ${names}`, async () => seen.join() === names.join()),
    leave: async () => {
      controller.abort();
      await running;
    },
    die: () => {
      log.crash();
      controller.abort();
    },
  };
}

const untilStopped = (signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });

describe('membership', () => {
  it('reports members that join, leave and die', async () => {
    const store = createMemoryStore();
    const a = await join(store, 'a');
    await a.sees('a');
    const b = await join(store, 'b');
    const c = await join(store, 'c');
    for (const one of [a, b, c]) await one.sees('a', 'b', 'c');
    const alive = () => readLiveMembers({ log: a.log, codec, logger, role: 'processors' });
    expect(await alive()).toEqual(['a', 'b', 'c']);
    expect(await readLiveMembers({ log: a.log, codec, logger, role: 'ingest' })).toEqual([]);
    await b.leave();
    expect(await alive()).toEqual(['a', 'c']);
    for (const one of [a, c]) await one.sees('a', 'c');
    c.die();
    await a.sees('a');
    await a.leave();
  });
});

describe('runAsLeader', () => {
  it('runs the work in one process at a time; another starts when that leaves or dies', async () => {
    const store = createMemoryStore();
    const start = async (member: string) => {
      const log = createMemoryLog({ store });
      await log.ensureTopics(allTopics);
      const controller = new AbortController();
      let state = 'waiting';
      const running = runAsLeader(
        { log, codec, logger, role: 'ingest', member, signal: controller.signal, heartbeatMs: 20, deadAfterMs: 200 },
        async (signal) => {
          state = 'working';
          await untilStopped(signal);
          state = 'done';
        },
        (workers) => {
          state = `waits for ${workers}`;
        },
      );
      running.catch(() => undefined);
      return {
        is: (expected: string) => eventually(`${member} to be ${expected}`, async () => state === expected),
        stop: async () => {
          controller.abort();
          await running;
        },
        die: () => {
          log.crash();
          controller.abort();
        },
      };
    };
    const a = await start('b');
    await a.is('working');
    const b = await start('a');
    const c = await start('c');
    for (const one of [b, c]) await one.is('waits for b');
    await c.stop();
    await a.stop();
    await a.is('done');
    await b.is('working');
    const d = await start('d');
    await d.is('waits for a');
    b.die();
    await d.is('working');
    await d.stop();
  });

  it('rejects with the failure of the work, and announces that it leaves', async () => {
    const log = createMemoryLog();
    await log.ensureTopics(allTopics);
    const { signal } = new AbortController();
    await expect(
      runAsLeader({ log, codec, logger, role: 'ingest', member: 'a', signal }, () =>
        Promise.reject(new Error('broken')),
      ),
    ).rejects.toThrow('broken');
    expect(await readLiveMembers({ log, codec, logger, role: 'ingest' })).toEqual([]);
  });
});

describe('task runner', () => {
  const harness = (run: (name: string, signal: AbortSignal, start: number) => Promise<void>) => {
    const activeTasks: string[] = [];
    const starts = new Map<string, number>();
    const tasks = ['x', 'y'].map((name) => ({
      name,
      create: () => ({
        check: async () => ({ ok: true }),
        async run(signal: AbortSignal) {
          const start = (starts.get(name) ?? 0) + 1;
          starts.set(name, start);
          activeTasks.push(name);
          try {
            await run(name, signal, start);
          } finally {
            activeTasks.splice(activeTasks.indexOf(name), 1);
          }
        },
      }),
    }));
    const metrics = createMetrics({ process: 'test', defaults: false });
    const value = async (name: string) => {
      const found = await metrics.registry.getSingleMetric(`oddstream_${name}`)?.get();
      return found?.values[0]?.value ?? 0;
    };
    return { activeTasks, starts, value, runner: createTaskRunner({ tasks, logger, metrics, fencedDelayMs: 1 }) };
  };

  it('runs exactly the assigned tasks, one run of a task at a time', async () => {
    const { activeTasks, starts, value, runner } = harness(async (_name, signal) => {
      await untilStopped(signal);
      await new Promise((resolve) => setImmediate(resolve));
    });
    const controller = new AbortController();
    const running = runner.run(controller.signal);
    runner.assign(['x', 'y']);
    await eventually('both', async () => activeTasks.length === 2);
    runner.assign(['y']);
    runner.assign(['x', 'y']);
    await eventually('x again', async () => starts.get('x') === 2 && activeTasks.length === 2);
    expect(starts.get('y')).toBe(1);
    expect([await value('tasks_owned'), await value('task_takeovers_total')]).toEqual([2, 1]);
    expect(Object.keys(await runner.checks()).sort()).toEqual(['x', 'y']);
    controller.abort();
    await running;
    expect(activeTasks).toEqual([]);
  });

  it('restarts a task after a takeover, and rejects with any other failure after all tasks have ended', async () => {
    const { activeTasks, starts, value, runner } = harness(async (name, signal, start) => {
      if (name === 'x' && start === 1) throw new FencedError('taken over');
      if (name === 'x') throw new Error('broken');
      await untilStopped(signal);
    });
    runner.assign(['x', 'y']);
    await expect(runner.run(new AbortController().signal)).rejects.toThrow('broken');
    expect(starts.get('x')).toBe(2);
    expect([await value('task_fenced_total'), await value('task_takeovers_total')]).toEqual([1, 0]);
    expect(activeTasks).toEqual([]);
  });

  it('restarts a task whose dependency fails, which is not ready then, while the others go on', async () => {
    const { starts, value, runner } = harness(async (name, signal, start) => {
      if (name === 'x' && start <= 3) throw new RetryableError('tables rejected the rows');
      await untilStopped(signal);
    });
    const controller = new AbortController();
    const running = runner.run(controller.signal);
    runner.assign(['x', 'y']);
    await eventually('the fourth run', async () => starts.get('x') === 4);
    expect(starts.get('y')).toBe(1);
    expect(await runner.checks()).toEqual({ x: { ok: false, detail: 'tables rejected the rows' }, y: { ok: true } });
    expect(await value('task_failures_total')).toBe(3);
    controller.abort();
    await running;
  });
});
