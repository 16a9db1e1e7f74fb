import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { EXIT_FATAL, EXIT_RETRYABLE } from '../errors.js';

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
  /** SIGTERM, then SIGKILL when it has not ended after `graceMs`. */
  stop(graceMs: number): Promise<void>;
}

const FIRST_BACKOFF_MS = 500;
const LONGEST_BACKOFF_MS = 30_000;
/** A run this long counts as healthy and resets the backoff. */
const HEALTHY_MS = 60_000;

/** Milliseconds to wait before the n-th restart in a row (n from 1): 0.5 s doubling to 30 s. */
export function backoffMs(restarts: number): number {
  return Math.min(LONGEST_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** Math.max(0, restarts - 1));
}

/**
 * Keeps one process running: exit 75 and death by a signal are retried with backoff, exit 1 (and any other code) leaves it down and says so.
 */
export function createChild(options: {
  spec: ChildSpec;
  onLine: (line: string, stream: 'stdout' | 'stderr') => void;
  onState: (state: ChildState, detail: string) => void;
  setTimer?: (work: () => void, ms: number) => NodeJS.Timeout;
  nowMs?: () => number;
}): Child {
  const { spec, onLine, onState } = options;
  const setTimer = options.setTimer ?? setTimeout;
  const nowMs = options.nowMs ?? Date.now;
  let current: ChildProcess | undefined;
  let state: ChildState = 'stopped';
  let restarts = 0;
  let stopping = false;
  let timer: NodeJS.Timeout | undefined;

  const become = (next: ChildState, detail = '') => {
    state = next;
    onState(next, detail);
  };

  const start = () => {
    if (stopping) return;
    const startedMs = nowMs();
    become('starting');
    const child = spawn(process.execPath, [...spec.args], {
      env: spec.env,
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      // Its own group: Ctrl-C in the terminal reaches only the supervisor, which then stops everything in order.
      detached: true,
    });
    current = child;
    child.once('spawn', () => become('running'));
    child.once('error', (error) => become('failed', error.message));
    for (const stream of ['stdout', 'stderr'] as const) {
      createInterface({ input: child[stream] as NodeJS.ReadableStream }).on('line', (line) => onLine(line, stream));
    }
    child.once('exit', (code, signal) => {
      current = undefined;
      if (stopping) return become('stopped');
      if (signal === null && code === 0) return become('stopped', 'ended by itself');
      if (signal === null && code !== EXIT_RETRYABLE) {
        return become('failed', `exit code ${code}${code === EXIT_FATAL ? '' : ' (unexpected)'}; it stays down`);
      }
      if (nowMs() - startedMs > HEALTHY_MS) restarts = 0;
      restarts++;
      const waitMs = backoffMs(restarts);
      become('waiting to restart', `${signal ?? `exit code ${code}`}, again in ${waitMs / 1000} s`);
      timer = setTimer(start, waitMs);
    });
  };

  return {
    name: spec.name,
    state: () => state,
    pid: () => current?.pid,
    start,
    async stop(graceMs) {
      stopping = true;
      if (timer !== undefined) clearTimeout(timer);
      const child = current;
      if (child === undefined) {
        if (state !== 'failed') state = 'stopped';
        return;
      }
      const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
      child.kill('SIGTERM');
      const killer = setTimeout(() => child.kill('SIGKILL'), graceMs);
      await ended;
      clearTimeout(killer);
    },
  };
}
