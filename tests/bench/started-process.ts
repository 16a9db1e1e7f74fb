import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Readiness } from '../../infra/telemetry/readiness.js';
import { freePorts } from '../support/ports.js';
import { usageOf } from './process-usage.js';

/** What the supervisor waits before it starts a process again. */
const RESTART_MS = 500;

/** One process of the product as on a host of its own: with its own data directory, sharing log and ClickHouse with others. */
export interface StartedProcess {
  readiness(): Promise<Readiness>;
  /** Sum over all series of a metric. */
  metric(name: string): Promise<number>;
  /** Processor time since its start, s. */
  cpuS(): number;
  /** SIGKILL; resolves when it has ended. */
  kill(): Promise<void>;
  /** Starts it again as a supervisor does. */
  restart(): Promise<void>;
  /** Ends it and removes its data directory. */
  dispose(): Promise<void>;
}

const dist = join(dirname(fileURLToPath(import.meta.url)), '..', '..');

/** `script`: `processors`, `stream-gateway`; `adminVariable`: the setting of its admin port. */
export async function startProcess(options: {
  readonly script: string;
  readonly args: readonly string[];
  readonly adminVariable: string;
  readonly env: Readonly<Record<string, string>>;
}): Promise<StartedProcess> {
  const { script, args, adminVariable } = options;
  const [port] = await freePorts(1);
  const dataDir = mkdtempSync(join(tmpdir(), 'oddstream-process-'));
  const env = {
    ...process.env,
    ODDSTREAM_DATA: dataDir,
    LOG_LEVEL: 'error',
    ...options.env,
    [adminVariable]: String(port),
  };
  const start = (): ChildProcess =>
    spawn(process.execPath, ['--disable-warning=ExperimentalWarning', join(dist, script, 'main.js'), ...args], {
      env,
      stdio: ['ignore', 'inherit', 'inherit'],
    });
  let child = start();
  const kill = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  };
  const get = (path: string) => fetch(`http://127.0.0.1:${port}${path}`, { signal: AbortSignal.timeout(5_000) });
  return {
    readiness: async () => (await get('/readyz')).json() as Promise<Readiness>,
    async metric(name) {
      const lines = (await (await get('/metrics')).text()).split('\n').filter((line) => line.startsWith(`${name}{`));
      return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
    },
    cpuS: () => (usageOf(child.pid ?? -1)?.cpuMs ?? Number.NaN) / 1000,
    kill,
    async restart() {
      await sleep(RESTART_MS);
      child = start();
    },
    async dispose() {
      await kill();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
