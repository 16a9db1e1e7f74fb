import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, inject } from 'vitest';
import { digest, untilTablesComplete } from './digest.js';
import { eventually, type Product, startProduct, untilLoaded, untilUp } from './product.js';
import { shortHistory } from './short-recording.js';

/** For hooks of tests that ask for the undisturbed run: another file may have begun it a moment ago, and on a busy machine it takes minutes. */
export const REFERENCE_RUN_TIMEOUT_MS = 600_000;
const WAIT_MS = 400_000;
const HISTORY_ONLY = { RECORDED_HISTORY_ONLY: '1' };

interface ReferenceRun {
  readonly tables: Record<string, string>;
  /** Of the product that was undisturbed, which has been stopped. */
  readonly dataDir: string;
}

/** Done once in a run of the tests and day (the recording is shifted by whole days), by whoever asks first. */
async function run(length: 'whole' | 'short'): Promise<ReferenceRun> {
  const place = join(inject('runDir'), `undisturbed-${length}-${Math.floor(Date.now() / 86_400_000)}`);
  const failure = `${place}.failed`;
  try {
    mkdirSync(place);
  } catch {
    await eventually(
      'the undisturbed run of another test file',
      async () => existsSync(`${place}.json`) || existsSync(failure),
      WAIT_MS,
    );
    if (existsSync(failure)) throw new Error(`the undisturbed run failed: ${readFileSync(failure, 'utf8')}`);
    return JSON.parse(readFileSync(`${place}.json`, 'utf8')) as ReferenceRun;
  }
  const dataDir = mkdtempSync(join(place, 'data-'));
  const calm = await startProduct({ env: length === 'whole' ? HISTORY_ONLY : shortHistory(), dataDir });
  try {
    await untilTablesComplete(calm);
    const truth = await digest(calm);
    expect(Number.parseInt(truth.fills ?? '0', 10)).toBeGreaterThan(10_000);
    expect((await calm.stop()).code).toBe(0);
    const done: ReferenceRun = { tables: truth, dataDir };
    writeFileSync(`${dataDir}.json`, JSON.stringify(done));
    renameSync(`${dataDir}.json`, `${place}.json`);
    return done;
  } catch (error) {
    writeFileSync(failure, error instanceof Error ? error.message : String(error));
    throw error;
  } finally {
    await calm.dispose();
  }
}

/** Digest of the tables an undisturbed product makes of the recorded history, or of the short one, on the embedded engines. */
export async function referenceTables(length: 'whole' | 'short' = 'whole'): Promise<Record<string, string>> {
  return (await run(length)).tables;
}

/** A copy of what an undisturbed product leaves behind, for a test that begins where the history is loaded; its caller removes it. */
export async function copyLoadedDataDir(): Promise<string> {
  const { dataDir } = await run('whole');
  const copy = mkdtempSync(join(tmpdir(), 'oddstream-e2e-'));
  cpSync(dataDir, copy, { recursive: true });
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
