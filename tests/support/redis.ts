import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createConnection } from 'node:net';
import { freePort } from './ports.js';
import { eventually } from './product.js';

export interface TestRedis {
  readonly url: string;
  /** Suspends the server: it keeps its connections and does not respond. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  stop(): Promise<void>;
}

/** A real, empty Redis server on a free port, in memory only. */
export async function startTestRedis(port?: number): Promise<TestRedis> {
  const listenPort = port ?? (await freePort());
  const args = ['--port', String(listenPort), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
  const child: ChildProcess = spawn('redis-server', args, { stdio: 'ignore' });
  await once(child, 'spawn');
  await eventually('Redis to listen', async () => {
    const socket = createConnection({ host: '127.0.0.1', port: listenPort });
    await once(socket, 'connect');
    socket.destroy();
    return true;
  });
  return {
    url: `redis://127.0.0.1:${listenPort}`,
    async pause() {
      child.kill('SIGSTOP');
    },
    async resume() {
      child.kill('SIGCONT');
    },
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** Why this machine cannot run Redis; null when it can. In CI always null, so that a missing server fails the tests. */
export function whyNoRedis(): string | null {
  if (process.env.CI !== undefined && process.env.CI !== '' && process.env.CI !== 'false') return null;
  return spawnSync('redis-server', ['--version']).error === undefined ? null : 'no redis-server on this machine';
}
