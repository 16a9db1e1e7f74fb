import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { eventually, startProduct } from '../support/product.js';
import { shortHistory } from '../support/short-recording.js';

const dataDir = mkdtempSync(join(tmpdir(), 'oddstream-dev-key-'));
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

/** Starts the product on the data directory, waits for the start-up text, and stops it. Returns the output of all processes, and the key. */
async function outputOfAStart(): Promise<{ readonly output: string; readonly key: string }> {
  const product = await startProduct({ dataDir, env: shortHistory() });
  try {
    await eventually('the addresses', async () => product.output().includes('Ctrl-C stops everything.'), 240_000);
    return { key: product.key(), output: product.output() };
  } finally {
    await product.stop();
  }
}

it('the first start prints the ready key, a later start on the same data directory does not', async () => {
  const first = await outputOfAStart();
  expect(first.key).toMatch(/^\S{20,}$/);
  expect(first.output.match(/^.*Your key.*$/gm)).toEqual([
    expect.stringContaining(`Your key (enterprise plan, this machine only): ${first.key}`),
  ]);
  // The key is in the start-up text only, not in the logs of the processes.
  const [before = '', text = ''] = first.output.split(/^(?=.*REST {5,})/m);
  expect(before).not.toContain(first.key);
  expect(text.split('Ctrl-C stops everything.').slice(1).join('')).not.toContain(first.key);
  expect(statSync(join(dataDir, 'dev-key')).mode & 0o777).toBe(0o600);

  const second = await outputOfAStart();
  expect(second.key).toBe(first.key);
  expect(second.output).not.toContain(first.key);
  expect(second.output).toContain(`Your key (enterprise plan, this machine only): in ${join(dataDir, 'dev-key')}`);
}, 500_000);
