import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { runCommand } from '../../infra/run-command.js';
import { eventually } from '../support/product.js';
import { dockerRoot, isRequired } from './settings.js';

const socket = join(dockerRoot, 'docker.sock');
const ownerFile = join(dockerRoot, 'owner');
const pidFile = join(dockerRoot, 'docker.pid');
/** A run of the tests beside this one has its daemon for less. */
const OTHER_RUN_MS = 900_000;

/** Runs the Docker client and returns its standard output; rejects with the whole output. */
export async function docker(...args: string[]): Promise<string> {
  return run('docker', args);
}

/** Runs a command with further environment and returns its standard output; rejects with the whole output. */
export async function run(command: string, args: readonly string[], env: Record<string, string> = {}): Promise<string> {
  try {
    const options = { env: { ...process.env, ...env }, maxBuffer: 64 * 1024 * 1024 };
    return (await promisify(execFile)(command, args, options)).stdout.trim();
  } catch (error) {
    const { stdout = '', stderr = '', message } = error as Error & { stdout?: string; stderr?: string };
    const output = `${stdout}\n${stderr}`.trim();
    throw new Error(`${command} ${args.join(' ')}: ${output === '' ? message : output.slice(-4000)}`);
  }
}

const isReachable = async (host: readonly string[] = []) =>
  (await runCommand('docker', [...host, 'version', '--format', '{{.Server.Version}}'])).code === 0;
const exists = async (command: string, ...args: string[]) => (await runCommand(command, args)).code !== null;

/** Why this machine cannot run containers; null when it can. Always null for `npm run test:containers`, so that a missing tool fails the tests. */
export async function whyNoDocker(): Promise<string | null> {
  if (isRequired || (await isReachable())) return null;
  if (process.getuid?.() !== 0) return 'no Docker daemon is reachable, and only root may start one';
  return (await exists('dockerd', '--version'))
    ? null
    : 'no Docker daemon is reachable, and there is no dockerd to start';
}

export interface Daemon {
  /** Started by these tests: nothing else uses it. */
  readonly isOwn: boolean;
  stop(): Promise<void>;
}

/**
 * The Docker daemon of this machine, or one started here with its own data directory and socket, which ends with the tests. Sets DOCKER_HOST for it,
 * as testcontainers and the Docker client read it.
 */
export async function openDaemon(): Promise<Daemon> {
  if (await isReachable()) return { isOwn: false, stop: async () => undefined };
  mkdirSync(dockerRoot, { recursive: true });
  await eventually('the end of another run of the container tests', async () => !isOwned(), OTHER_RUN_MS);
  writeFileSync(ownerFile, String(process.pid));
  const host = `unix://${socket}`;
  // The daemon of a run that was killed continues.
  const child = (await isReachable(['-H', host])) ? null : spawnDaemon(host);
  process.env.DOCKER_HOST = host;
  process.env.TESTCONTAINERS_RYUK_DISABLED = 'true';
  const log = () => readFileSync(join(dockerRoot, 'dockerd.log'), 'utf8').slice(-4000);
  await eventually(
    'the Docker daemon',
    async () => {
      if (child?.exitCode != null) throw new Error(log());
      return isReachable();
    },
    60_000,
  );
  const left = (await docker('ps', '--all', '--quiet')).split('\n').filter(Boolean);
  if (left.length > 0) await docker('rm', '--force', '--volumes', ...left);
  return {
    isOwn: true,
    async stop() {
      const pid = Number(readFileSync(pidFile, 'utf8'));
      const ended =
        child === null ? eventually('the end of dockerd', async () => !existsSync(pidFile)) : once(child, 'exit');
      process.kill(pid, 'SIGTERM');
      await ended;
      rmSync(ownerFile);
      delete process.env.DOCKER_HOST;
    },
  };
}

/** Whether another living process uses the daemon. */
function isOwned(): boolean {
  if (!existsSync(ownerFile)) return false;
  const pid = Number(readFileSync(ownerFile, 'utf8'));
  return pid !== process.pid && pid > 0 && existsSync(`/proc/${pid}`);
}

function spawnDaemon(host: string): ChildProcess {
  const log = openSync(join(dockerRoot, 'dockerd.log'), 'w');
  const paths = ['--data-root', join(dockerRoot, 'data'), '--exec-root', join(dockerRoot, 'run'), '--pidfile', pidFile];
  return spawn('dockerd', [...paths, '--host', host], { stdio: ['ignore', log, log], detached: true });
}
