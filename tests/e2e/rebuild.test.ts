import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { digest, untilTablesComplete } from '../support/digest.js';
import { freePorts } from '../support/ports.js';
import { eventually, startProduct } from '../support/product.js';
import { copyLoadedDataDir, REFERENCE_RUN_TIMEOUT_MS, referenceTables } from '../support/reference-run.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
let before: Record<string, string>;
let dataDir: string;
beforeAll(async () => {
  before = await referenceTables();
  dataDir = await copyLoadedDataDir();
}, REFERENCE_RUN_TIMEOUT_MS);
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

/** Starts a process from dist/; `ended` resolves with its exit code and its output. */
function start(script: string, args: readonly string[], env: Record<string, string>) {
  const child = spawn(process.execPath, [join(root, 'dist', script), ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
  });
  const ended = new Promise<{ code: number | null; output: string }>((resolve) =>
    child.once('close', (code) => resolve({ code, output })),
  );
  return { child, ended };
}

it('rebuild from offset 0 produces the same rows as the live sinks', async () => {
  const env = { RECORDED_HISTORY_ONLY: '1' };
  const [clickhouse, admin] = await freePorts(2);
  const alone = {
    ...env,
    ODDSTREAM_DATA: dataDir,
    LOG_LEVEL: 'info',
    CLICKHOUSE_EMBEDDED_PORT: String(clickhouse),
    ADMIN_PORT_CLICKHOUSE: String(admin),
    UV_THREADPOOL_SIZE: '16',
  };
  const store = start('infra/clickhouse/main.js', [], alone);
  try {
    await eventually('ClickHouse', async () => (await fetch(`http://127.0.0.1:${admin}/readyz`)).ok);
    const { code, output } = await start('processors/rebuild/main.js', ['all'], alone).ended;
    expect(code, output).toBe(0);
    expect(output.match(/"msg":"identical"/g)).toHaveLength(46);
    expect(output).toContain('"different":[]');
  } finally {
    store.child.kill('SIGTERM');
    await store.ended;
  }

  const again = await startProduct({ env, dataDir });
  try {
    await untilTablesComplete(again);
    expect(await digest(again)).toEqual(before);
  } finally {
    await again.stop();
  }
}, 400_000);
