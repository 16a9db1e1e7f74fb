import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, inject } from 'vitest';
import { digest, untilTablesComplete } from './digest.js';
import { eventually, type Product, startProduct, untilLoaded, untilUp } from './product.js';
import { shortHistory } from './short-recording.js';

/** Timeout of hooks that need the reference run: another file may just have started it, and on a busy machine it takes minutes. */
export const REFERENCE_RUN_TIMEOUT_MS = 600_000;
const WAIT_MS = 400_000;
const HISTORY_ONLY = { RECORDED_HISTORY_ONLY: '1' };

interface ReferenceRun {
  readonly tables: Record<string, string>;
  /** Data directory of the product of the reference run, which has been stopped. */
  readonly dataDir: string;
}

/** Runs once per test run and day (the recording is shifted by whole days); the first caller starts it. */
async function run(length: 'whole' | 'short'): Promise<ReferenceRun> {
  const path = join(inject('runDir'), `undisturbed-${length}-${Math.floor(Date.now() / 86_400_000)}`);
  const failure = `${path}.failed`;
  try {
    mkdirSync(path);
  } catch {
    await eventually(
      'the undisturbed run of another test file',
      async () => existsSync(`${path}.json`) || existsSync(failure),
      WAIT_MS,
    );
    if (existsSync(failure)) throw new Error(`the undisturbed run failed: ${readFileSync(failure, 'utf8')}`);
    return JSON.parse(readFileSync(`${path}.json`, 'utf8')) as ReferenceRun;
  }
  const dataDir = mkdtempSync(join(path, 'data-'));
  const calm = await startProduct({ env: length === 'whole' ? HISTORY_ONLY : shortHistory(), dataDir });
  try {
    await untilTablesComplete(calm);
    const truth = await digest(calm);
    expect(Number.parseInt(truth.fills ?? '0', 10)).toBeGreaterThan(10_000);
    expect((await calm.stop()).code).toBe(0);
    const done: ReferenceRun = { tables: truth, dataDir };
    writeFileSync(`${dataDir}.json`, JSON.stringify(done));
    renameSync(`${dataDir}.json`, `${path}.json`);
    return done;
  } catch (error) {
    writeFileSync(failure, error instanceof Error ? error.message : String(error));
    throw error;
  } finally {
    await calm.dispose();
  }
}

/** Digest of the tables of an uninterrupted product with the recorded history, or the short one, on the embedded engines. */
export async function referenceTables(length: 'whole' | 'short' = 'whole'): Promise<Record<string, string>> {
  return (await run(length)).tables;
}

/** A copy of the data directory of the reference run, for tests that start with a loaded history; the caller removes it. */
export async function copyLoadedDataDir(): Promise<string> {
  const { dataDir } = await run('whole');
  const copy = mkdtempSync(join(tmpdir(), 'oddstream-e2e-'));
  // Tables that are newer than the progress of the sinks look like restored ones.
  cpSync(dataDir, copy, { recursive: true, preserveTimestamps: true });
  return copy;
}

/** A product with the recorded history in its tables, started on such a copy and removed with it. */
export async function startLoaded(env: Record<string, string> = {}): Promise<Product> {
  const dataDir = await copyLoadedDataDir();
  const product = await startProduct({ env: { ...HISTORY_ONLY, ...env }, dataDir });
  const dispose = async () => {
    await product.dispose();
    rmSync(dataDir, { recursive: true, force: true });
  };
  try {
    await untilUp(product);
    await untilTablesComplete(product);
    await untilLoaded(product);
  } catch (error) {
    await dispose();
    throw error;
  }
  return { ...product, dispose };
}
