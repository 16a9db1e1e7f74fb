import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { digest, untilTablesComplete } from '../support/digest.js';
import { startProduct } from '../support/product.js';
import { copyLoadedDataDir, REFERENCE_RUN_TIMEOUT_MS, referenceTables } from '../support/reference-run.js';
import { runRebuild } from '../support/run-rebuild.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
let before: Record<string, string>;
let dataDir: string;
beforeAll(async () => {
  before = await referenceTables();
  dataDir = await copyLoadedDataDir();
}, REFERENCE_RUN_TIMEOUT_MS);
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

it('rebuild from offset 0 produces the same rows as the live sinks', async () => {
  const env = { RECORDED_HISTORY_ONLY: '1' };
  const { code, output } = await runRebuild({ root, dataDir, env: { ...env, LOG_LEVEL: 'info' }, args: ['all'] });
  expect(code, output).toBe(0);
  expect(output.match(/"msg":"identical"/g)).toHaveLength(46);
  expect(output).toContain('"different":[]');

  const again = await startProduct({ env, dataDir });
  try {
    await untilTablesComplete(again);
    expect(await digest(again)).toEqual(before);
  } finally {
    await again.stop();
  }
}, 400_000);
