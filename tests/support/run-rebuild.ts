import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { freePorts } from './ports.js';
import { eventually } from './product.js';

/**
 * Runs `npm run rebuild -- <args>` on the data directory of a stopped product with a separate ClickHouse process, as an operator does. `root`: the
 * project, whose dist/ is built.
 */
export async function runRebuild(options: {
  root: string;
  dataDir: string;
  env: Record<string, string>;
  args: readonly string[];
}): Promise<{ code: number | null; output: string }> {
  const { root, dataDir } = options;
  const [clickhouse, admin] = await freePorts(2);
  const env = {
    ...process.env,
    ...options.env,
    ODDSTREAM_DATA: dataDir,
    CLICKHOUSE_EMBEDDED_PORT: String(clickhouse),
    ADMIN_PORT_CLICKHOUSE: String(admin),
    UV_THREADPOOL_SIZE: '16',
  };
  const run = (script: string, ...args: string[]) => {
    const child = spawn(process.execPath, [join(root, 'dist', script), ...args], {
      env,
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
  };
  const store = run('infra/clickhouse/main.js');
  try {
    await eventually('ClickHouse', async () => (await fetch(`http://127.0.0.1:${admin}/readyz`)).ok);
    return await run('processors/rebuild/main.js', ...options.args).ended;
  } finally {
    store.child.kill('SIGTERM');
    await store.ended;
  }
}
