import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { FatalError, RetryableError } from '../errors.js';
import { runCommand } from '../run-command.js';

const JARS = 'kafka-jars';

/** Path of a file of this folder that is not compiled, from sources and from dist. */
function sourceFile(name: string): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'package.json'))) folder = dirname(folder);
  return join(folder, 'infra', 'kafka', name);
}

/** File name to SHA-512 in hex, as committed. */
async function expectedJars(): Promise<ReadonlyMap<string, string>> {
  const lines = (await readFile(sourceFile('jars.sha512'), 'utf8')).trim().split('\n');
  return new Map(lines.map((line) => [line.slice(130), line.slice(0, 128)]));
}

/** Describes how the jars in `dir` differ from the committed ones; null when they do not. */
async function findJarMismatch(dir: string, expected: ReadonlyMap<string, string>): Promise<string | null> {
  const present = await readdir(dir);
  for (const name of present) if (!expected.has(name)) return `${name} is not one of the jars expected`;
  for (const [name, sha512] of expected) {
    if (!present.includes(name)) return `${name} is missing`;
    const bytes = await readFile(join(dir, name));
    if (createHash('sha512').update(bytes).digest('hex') !== sha512)
      return `${name} is not the file expected (SHA-512)`;
  }
  return null;
}

/** The Apache Kafka version of the committed jars. */
export async function kafkaVersion(): Promise<string> {
  const core = [...(await expectedJars()).keys()].find((name) => name.startsWith('kafka_2.13-'));
  return core?.replace(/^kafka_2\.13-|\.jar$/g, '') ?? 'unknown';
}

/**
 * The directory with the broker's jars: `<dataDir>/kafka-jars`, fetched with Maven when it is not there yet, and compared with the committed
 * checksums every time. Throws FatalError when Maven is missing or a file is not what it must be, RetryableError when Maven cannot fetch.
 */
export async function ensureJars(dataDir: string, onFetch: () => void = () => undefined): Promise<string> {
  const expected = await expectedJars();
  const dir = join(dataDir, JARS);
  if (existsSync(dir) && (await findJarMismatch(dir, expected)) === null) return dir;
  await requireMaven();
  onFetch();
  const fresh = join(dataDir, `${JARS}-${process.pid}`);
  await mkdir(fresh, { recursive: true });
  try {
    const goal = ['dependency:copy-dependencies', '-DincludeScope=runtime', `-DoutputDirectory=${fresh}`];
    const fetched = await runCommand('mvn', ['-q', '-B', '-f', sourceFile('pom.xml'), ...goal]);
    if (fetched.code !== 0) throw new RetryableError(`Maven could not fetch Apache Kafka:\n${fetched.output}`);
    const fault = await findJarMismatch(fresh, expected);
    if (fault !== null) throw new FatalError(`The fetched jars of Apache Kafka are not the expected ones: ${fault}`);
    await rm(dir, { recursive: true, force: true });
    await rename(fresh, dir).catch(async (error: unknown) => {
      // Another process may have created the directory meanwhile.
      if (!existsSync(dir) || (await findJarMismatch(dir, expected)) !== null) throw error;
    });
    return dir;
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
}

async function requireMaven(): Promise<void> {
  const maven = await runCommand('mvn', ['-v']);
  if (maven.code !== 0) {
    throw new FatalError('Apache Maven (mvn) is needed to fetch Apache Kafka, and it was not found or does not run');
  }
}
