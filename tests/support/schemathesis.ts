import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { captured } from '../../infra/command.js';

const requirements = resolve('tests/fuzz/requirements.txt');

/** Why this machine cannot run Schemathesis; null when it can. In CI always null: there a missing Python must fail the test, not silence it. */
export async function whyNoSchemathesis(): Promise<string | null> {
  if (process.env.CI !== undefined && process.env.CI !== '' && process.env.CI !== 'false') return null;
  const { code } = await captured('python3', [
    '-c',
    'import venv, ensurepip, sys; sys.exit(sys.version_info < (3, 11))',
  ]);
  return code === 0 ? null : 'Python 3.11 or later with venv is needed to run Schemathesis, and none was found';
}

/** The program, from a virtual environment of its own with exactly the committed packages; installed when it is not there yet. */
export async function ensureSchemathesis(dataDir: string): Promise<string> {
  const locked = createHash('sha256')
    .update(await readFile(requirements))
    .digest('hex')
    .slice(0, 12);
  const dir = resolve(dataDir, `schemathesis-${locked}`);
  const program = join(dir, 'bin', 'schemathesis');
  const done = join(dir, 'installed');
  if (existsSync(done)) return program;
  await rm(dir, { recursive: true, force: true });
  await mkdir(dataDir, { recursive: true });
  const steps: readonly (readonly [string, readonly string[]])[] = [
    ['python3', ['-m', 'venv', dir]],
    [join(dir, 'bin', 'pip'), ['install', '--quiet', '--no-cache-dir', '--require-hashes', '-r', requirements]],
  ];
  for (const [command, args] of steps) {
    const { code, output } = await captured(command, args);
    if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${code}:\n${output}`);
  }
  // Only a whole environment has this file.
  await writeFile(done, '');
  return program;
}
