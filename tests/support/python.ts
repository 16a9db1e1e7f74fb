import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { runCommand } from '../../infra/run-command.js';

/** Why this machine cannot run a Python tool; null when it can. In CI always null, so that a missing Python fails the test. */
export async function whyNoPython(tool: string): Promise<string | null> {
  if (process.env.CI !== undefined && process.env.CI !== '' && process.env.CI !== 'false') return null;
  const { code } = await runCommand('python3', [
    '-c',
    'import venv, ensurepip, sys; sys.exit(sys.version_info < (3, 11))',
  ]);
  return code === 0 ? null : `Python 3.11 or later with venv is needed to run ${tool}, and none was found`;
}

/** Directory of the programs of a virtual environment with exactly the committed packages and hashes; installed if it does not exist. */
export async function pythonWith(tool: string, requirements: string, dataDir = resolve('data')): Promise<string> {
  const locked = createHash('sha256')
    .update(await readFile(requirements))
    .digest('hex')
    .slice(0, 12);
  const dir = resolve(dataDir, `${tool}-${locked}`);
  const programs = join(dir, 'bin');
  const done = join(dir, 'installed');
  if (existsSync(done)) return programs;
  await mkdir(dataDir, { recursive: true });
  // Test files that run at the same time share the environment: one of them installs it.
  const lock = `${dir}.lock`;
  while (!(await acquire(lock))) {
    await setTimeout(200);
    if (existsSync(done)) return programs;
  }
  try {
    if (!existsSync(done)) await install(dir, requirements);
    // Only a complete environment has this file.
    await writeFile(done, '');
  } finally {
    await rm(lock, { recursive: true, force: true });
  }
  return programs;
}

/** A process that was killed leaves its lock: an older one no longer counts. */
const LOCK_MS = 3 * 60_000;

/** True if the caller has created the directory. */
async function acquire(lock: string): Promise<boolean> {
  try {
    await mkdir(lock);
    return true;
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    const created = await stat(lock).catch(() => null);
    if (created !== null && Date.now() - created.mtimeMs > LOCK_MS) await rm(lock, { recursive: true, force: true });
    return false;
  }
}

async function install(dir: string, requirements: string): Promise<void> {
  const programs = join(dir, 'bin');
  await rm(dir, { recursive: true, force: true });
  const steps: readonly (readonly [string, readonly string[]])[] = [
    ['python3', ['-m', 'venv', dir]],
    [
      join(programs, 'pip'),
      ['install', '--quiet', '--no-cache-dir', '--no-compile', '--require-hashes', '-r', requirements],
    ],
  ];
  for (const [command, args] of steps) {
    const { code, output } = await runCommand(command, args);
    if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${code}:\n${output}`);
  }
}
