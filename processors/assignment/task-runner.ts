import { setTimeout as sleep } from 'node:timers/promises';
import { RetryableError } from '../../infra/errors.js';
import { FencedError, LogUnavailableError } from '../../infra/log/errors.js';
import type { Logger } from '../../infra/telemetry/logger.js';
import type { Metrics } from '../../infra/telemetry/metrics.js';
import type { Check } from '../../infra/telemetry/readiness.js';

/** One run of a task; it is started once. */
export interface TaskRun {
  run(signal: AbortSignal): Promise<void>;
  check(): Promise<Check>;
}

/** Work that one process at a time runs. A task acquires ownership of its consumer group before it reads its position. */
export interface Task {
  readonly name: string;
  create(): TaskRun;
}

export interface TaskRunner {
  /** Runs until the signal. Rejects with the first failure that is neither fencing nor retryable, after every task has ended. */
  run(signal: AbortSignal): Promise<void>;
  /** Sets the tasks to run: starts missing ones and stops the others. */
  assign(names: readonly string[]): void;
  checks(): Promise<Record<string, Check>>;
}

/** Delay before a restart after another process took over a task that is assigned to this one (member lists differ, usually for one heartbeat) or the log became unavailable. */
const FENCED_DELAY_MS = 2_000;
/** Longest delay before the restart of a task that keeps failing. */
const MAX_DELAY_MS = 60_000;
/** A task that has failed counts as not ready until it has run for so long. */
const FAILING_MS = 60_000;

interface Running {
  readonly stop: AbortController;
  readonly ended: Promise<void>;
  readonly current: Current;
}

interface Current {
  run: TaskRun;
  /** Of the newest run that has failed. */
  failure: { readonly message: string; readonly atMs: number } | null;
}

const isRecent = (failure: Current['failure']): failure is NonNullable<Current['failure']> =>
  failure !== null && performance.now() - failure.atMs < FAILING_MS;

/** Runs the tasks that are assigned to this process; starts a task when it is gained and stops it when it is lost or taken over. */
export function createTaskRunner(options: {
  tasks: readonly Task[];
  logger: Logger;
  metrics: Metrics;
  fencedDelayMs?: number;
}): TaskRunner {
  const { tasks, logger, fencedDelayMs = FENCED_DELAY_MS } = options;
  const owned = options.metrics.gauge('tasks_owned', 'Tasks that are assigned to this process');
  const takenOver = options.metrics.counter('task_takeovers_total', 'Tasks gained from a process that left or died');
  const fenced = options.metrics.counter(
    'task_fenced_total',
    'Tasks that another process took over while they ran in this process',
  );
  const failed = options.metrics.counter('task_failures_total', 'Runs of tasks that failed and are started again', [
    'task',
  ]);
  const running = new Map<string, Running>();
  /** Completion of stopped runs: a task's next run waits for its last one to end. */
  const ending = new Map<string, Promise<void>>();
  let assigned: ReadonlySet<string> | undefined;
  /** False until the first assignment, which is not counted as takeovers. */
  let hadAssignment = false;
  let active: AbortSignal | undefined;
  let fail: (error: unknown) => void = () => undefined;

  const runTask = async (task: Task, current: Current, signal: AbortSignal): Promise<void> => {
    let delayMs = fencedDelayMs;
    while (!signal.aborted) {
      try {
        await current.run.run(signal);
        return;
      } catch (error) {
        if (signal.aborted) return;
        // Other tasks of the process, such as the event stream, need not end because tables cannot be written.
        delayMs =
          error instanceof FencedError || !isRecent(current.failure)
            ? fencedDelayMs
            : Math.min(delayMs * 2, MAX_DELAY_MS);
        if (error instanceof FencedError) {
          fenced.inc();
          logger.warn({ task: task.name }, 'another process took the task over');
        } else if (error instanceof LogUnavailableError) {
          logger.warn({ task: task.name, err: error }, 'the log is unavailable, starting the task again');
        } else if (error instanceof RetryableError) {
          failed.inc({ task: task.name });
          current.failure = { message: error.message, atMs: performance.now() };
          logger.error({ task: task.name, err: error, delayMs }, 'task has failed, starting it again');
        } else throw error;
        await sleep(delayMs, undefined, { signal }).catch(() => undefined);
        current.run = task.create();
      }
    }
  };

  const start = (task: Task): void => {
    const stop = new AbortController();
    const current: Current = { run: task.create(), failure: null };
    const before = ending.get(task.name) ?? Promise.resolve();
    const ended = before.then(() => runTask(task, current, stop.signal)).catch((error: unknown) => fail(error));
    running.set(task.name, { stop, ended, current });
  };

  const reconcile = (): void => {
    if (active === undefined || active.aborted || assigned === undefined) return;
    for (const [name, { stop, ended }] of running) {
      if (assigned.has(name)) continue;
      logger.info({ task: name }, 'task moves to another process');
      stop.abort();
      ending.set(name, ended);
      running.delete(name);
    }
    for (const task of tasks) {
      if (!assigned.has(task.name) || running.has(task.name)) continue;
      if (hadAssignment) {
        takenOver.inc();
        logger.info({ task: task.name }, 'task arrives from another process');
      }
      start(task);
    }
    hadAssignment = true;
    owned.set(running.size);
  };

  return {
    async run(signal) {
      const failures: unknown[] = [];
      const over = new Promise<void>((resolve) => {
        fail = (error) => {
          failures.push(error);
          resolve();
        };
        if (signal.aborted) resolve();
        signal.addEventListener('abort', () => resolve(), { once: true });
      });
      active = signal;
      reconcile();
      await over;
      active = undefined;
      for (const { stop } of running.values()) stop.abort();
      await Promise.all([...ending.values(), ...[...running.values()].map(({ ended }) => ended)]);
      if (failures.length > 0) throw failures[0];
    },
    assign(names) {
      assigned = new Set(names);
      reconcile();
    },
    async checks() {
      const found = await Promise.all(
        [...running].map(async ([name, { current }]): Promise<readonly [string, Check]> => {
          const check = await current.run.check();
          return [name, isRecent(current.failure) ? { ...check, ok: false, detail: current.failure.message } : check];
        }),
      );
      return Object.fromEntries(found);
    },
  };
}
