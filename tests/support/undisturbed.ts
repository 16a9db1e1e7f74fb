import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, inject } from 'vitest';
import { digest, loaded } from './digest.js';
import { eventually, startProduct } from './product.js';

const WAIT_MS = 120_000;

/**
 * Digest of the tables an undisturbed product makes of the recorded history, on the embedded engines. Measured once in a run of the tests and
 * day (the recording is shifted by whole days), by whoever asks first.
 */
export async function undisturbed(): Promise<Record<string, string>> {
  const place = join(inject('runDir'), `undisturbed-${Math.floor(Date.now() / 86_400_000)}`);
  const read = () => JSON.parse(readFileSync(`${place}.json`, 'utf8')) as Record<string, string>;
  try {
    mkdirSync(place);
  } catch {
    const theirs = await eventually('the undisturbed run', async () => read(), WAIT_MS).catch(() => null);
    if (theirs !== null) return theirs;
  }
  const calm = await startProduct({ env: { RECORDED_HISTORY_ONLY: '1' } });
  try {
    await loaded(calm);
    const truth = await digest(calm);
    expect(Number.parseInt(truth.fills ?? '0', 10)).toBeGreaterThan(10_000);
    writeFileSync(`${place}.tmp`, JSON.stringify(truth));
    renameSync(`${place}.tmp`, `${place}.json`);
    return truth;
  } finally {
    await calm.dispose();
  }
}
