import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { requireJava } from '../../infra/kafka/broker.js';
import { runCommand } from '../../infra/run-command.js';
import { freePort } from './ports.js';

/** Apicurio Registry as its project publishes it on Maven Central: a Quarkus application with an in-memory store. */
const VERSION = '2.6.13.Final';
const SHA512 =
  '11d36e7340ed8d6218755a66d3ff38fe6e9c9bd9c723eae9da131d0e1811d4d1205fd2c3da4ec052f1a1933e07d96a072ad2c620ab0854db75ef3cb5b62ee40f';
const ARTIFACT = `io.apicurio:apicurio-registry-app:${VERSION}:tar.gz:all`;
const COPY = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy';
const READY_WITHIN_MS = 60_000;

export interface TestRegistry {
  /** For SCHEMA_REGISTRY_URL. */
  readonly url: string;
  readonly port: number;
  stop(): Promise<void>;
}

async function run(command: string, args: readonly string[]): Promise<void> {
  const { code, output } = await runCommand(command, args);
  if (code !== 0) throw new Error(`${command} failed with ${code}:\n${output}`);
}

/** Directory of the unpacked application under ./data, downloaded with Maven (142 MB, once) and compared with its checksum. */
export async function ensureApicurio(): Promise<string> {
  const data = resolve('data');
  const dir = join(data, `apicurio-${VERSION}`);
  if (existsSync(dir)) return dir;
  await mkdir(data, { recursive: true });
  const fresh = await mkdtemp(join(data, 'apicurio-new-'));
  try {
    await run('mvn', ['-q', '-B', COPY, `-Dartifact=${ARTIFACT}`, `-DoutputDirectory=${fresh}`]);
    const archive = join(fresh, `apicurio-registry-app-${VERSION}-all.tar.gz`);
    const sha512 = createHash('sha512')
      .update(await readFile(archive))
      .digest('hex');
    if (sha512 !== SHA512) throw new Error(`${archive} is not the file expected (SHA-512 ${sha512})`);
    await run('tar', ['xzf', archive, '-C', fresh]);
    await rm(archive);
    await rename(fresh, dir).catch((error: unknown) => {
      // Another worker may have created the directory meanwhile.
      if (!existsSync(dir)) throw error;
    });
    return dir;
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
}

/** A real, empty schema registry on a free port. */
export async function startTestRegistry(): Promise<TestRegistry> {
  const dir = await ensureApicurio();
  const port = await freePort();
  const child = spawn(
    'java',
    [
      ...['-Xmx384m', '-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', '-XX:+ExitOnOutOfMemoryError'],
      ...['-Dquarkus.http.host=127.0.0.1', `-Dquarkus.http.port=${port}`, '-Dquarkus.log.level=WARN'],
      ...['-jar', `apicurio-registry-app-${VERSION}-runner.jar`],
    ],
    { cwd: dir, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
  });
  child.stderr.on('data', (chunk) => {
    output += chunk;
  });
  const ended = once(child, 'exit');
  const url = `http://127.0.0.1:${port}/apis/ccompat/v7`;
  const stop = async () => {
    child.kill('SIGKILL');
    await ended;
  };
  const deadline = Date.now() + READY_WITHIN_MS;
  for (;;) {
    if (child.exitCode !== null) throw new Error(`The registry ended with ${child.exitCode}:\n${output}`);
    const responded = await fetch(`${url}/subjects`).then(
      (response) => response.ok,
      () => false,
    );
    if (responded) return { url, port, stop };
    if (Date.now() > deadline) {
      await stop();
      throw new Error(`The registry did not respond within ${READY_WITHIN_MS} ms:\n${output}`);
    }
    await sleep(100);
  }
}

/** Why this machine cannot run the registry; null when it can. In CI always null, so that a missing tool fails the tests. */
export async function whyNoRegistry(): Promise<string | null> {
  if (process.env.CI !== undefined && process.env.CI !== '' && process.env.CI !== 'false') return null;
  try {
    await requireJava();
  } catch (error) {
    return (error as Error).message;
  }
  const maven = await runCommand('mvn', ['-v']);
  return maven.code === 0 ? null : 'Apache Maven (mvn) is needed to fetch Apicurio Registry, and none was found';
}
