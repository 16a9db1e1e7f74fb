import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { EXIT_FATAL } from '../errors.js';

/** `failed`: ended with EXIT_FATAL and not restarted. `stopped`: not started yet, or ended by `stop()`. */
export type ChildState = 'starting' | 'running' | 'waiting to restart' | 'failed' | 'stopped';

export interface ChildSpec {
  readonly name: string;
  /** Arguments of the node command, script first. */
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface Child {
  readonly name: string;
  readonly state: () => ChildState;
  readonly pid: () => number | undefined;
  start(): void;
  /** Ends it (SIGTERM, after `graceMs` SIGKILL) and starts it without backoff, also after it has failed. */
  restart(graceMs: number): Promise<void>;
  /** SIGTERM, then SIGKILL when it has not ended after `graceMs`. */
  stop(graceMs: number): Promise<void>;
}

const INITIAL_BACKOFF_MS = 500;
const MAX_BACKOFF_MS = 30_000;
/** A run this long counts as healthy and resets the backoff. */
const HEALTHY_MS = 60_000;
/** Time to read the last output of an ended process from its pipes. */
const OUTPUT_DRAIN_MS = 1_000;

/** Milliseconds to wait before the n-th restart in a row (n from 1): 0.5 s doubling to 30 s. */
export function backoffMs(restarts: number): number {
  return Math.min(MAX_BACKOFF_MS, INITIAL_BACKOFF_MS * 2 ** Math.max(0, restarts - 1));
}

/**
 * Keeps one process running: restarts it with backoff after every exit without stop(), except after EXIT_FATAL, which needs an operator.
 * A failed spawn (no memory, too many processes) is retried too.
 */
export function createChild(options: {
  spec: ChildSpec;
  onLine: (line: string, stream: 'stdout' | 'stderr') => void;
  onState: (state: ChildState, detail: string) => void;
  setTimer?: (work: () => void, ms: number) => NodeJS.Timeout;
  nowMs?: () => number;
  spawnProcess?: typeof spawn;
}): Child {
  const { spec, onLine, onState } = options;
  const setTimer = options.setTimer ?? setTimeout;
  const nowMs = options.nowMs ?? Date.now;
  const spawnProcess = options.spawnProcess ?? spawn;
  let current: ChildProcess | undefined;
  let state: ChildState = 'stopped';
  let restarts = 0;
  let stopping = false;
  let timer: NodeJS.Timeout | undefined;

  const setState = (next: ChildState, detail = '') => {
    state = next;
    onState(next, detail);
  };

  const scheduleRestart = (why: string, startedMs: number) => {
    if (nowMs() - startedMs > HEALTHY_MS) restarts = 0;
    restarts++;
    const waitMs = backoffMs(restarts);
    setState('waiting to restart', `${why}, restart in ${waitMs / 1000} s`);
    timer = setTimer(start, waitMs);
  };

  const start = () => {
    if (stopping || current !== undefined) return;
    const startedMs = nowMs();
    setState('starting');
    let child: ChildProcess;
    try {
      child = spawnProcess(process.execPath, [...spec.args], {
        env: spec.env,
        stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
        // A separate process group: Ctrl-C in the terminal reaches only the supervisor, which then stops the processes in order.
        detached: true,
      });
    } catch (error) {
      return scheduleRestart(`cannot be started: ${error instanceof Error ? error.message : String(error)}`, startedMs);
    }
    current = child;
    child.once('spawn', () => setState('running'));
    child.on('error', (error) => {
      // With a pid the process runs, and the error concerns a signal or message to it; its exit is reported separately.
      if (child.pid !== undefined || current !== child) return;
      current = undefined;
      if (!stopping) scheduleRestart(`cannot be started: ${error.message}`, startedMs);
    });
    for (const stream of ['stdout', 'stderr'] as const) {
      const input = child[stream];
      if (input) createInterface({ input }).on('line', (line) => onLine(line, stream));
    }
    child.once('exit', (code, signal) => {
      if (current !== child) return;
      current = undefined;
      if (stopping) return setState('stopped');
      if (code !== EXIT_FATAL) return scheduleRestart(signal ?? `exit code ${code}`, startedMs);
      // A grandchild may keep its pipes open, so the wait for its last output is bounded.
      const fail = () => {
        clearTimeout(drainTimer);
        child.off('close', fail);
        if (!stopping) setState('failed', `exit code ${code}`);
      };
      child.once('close', fail);
      const drainTimer = setTimeout(fail, OUTPUT_DRAIN_MS);
    });
  };

  const stop = async (graceMs: number) => {
    stopping = true;
    if (timer !== undefined) clearTimeout(timer);
    const child = current;
    if (child?.pid === undefined) {
      if (state !== 'failed') state = 'stopped';
      return;
    }
    const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    child.kill('SIGTERM');
    const killer = setTimeout(() => child.kill('SIGKILL'), graceMs);
    await ended;
    clearTimeout(killer);
  };

  return {
    name: spec.name,
    state: () => state,
    pid: () => current?.pid,
    start,
    stop,
    async restart(graceMs) {
      await stop(graceMs);
      stopping = false;
      restarts = 0;
      start();
    },
  };
}
