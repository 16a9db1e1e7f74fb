import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { freePorts } from './ports.js';
import { eventually } from './product.js';

export interface ClickHouseProcess {
  readonly url: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly pid: number;
  readonly dataDir: string;
  /** SIGTERM closes the engine and keeps the data directory. Default: SIGKILL, and the directory is removed. */
  stop(signal?: 'SIGTERM'): Promise<void>;
}

/** Starts the embedded server as `npm run clickhouse` does: a separate process with user and password, for CLICKHOUSE_URL. */
export async function startClickHouseProcess(options: { readonly dataDir?: string } = {}): Promise<ClickHouseProcess> {
  const [port, admin] = (await freePorts(2)) as [number, number];
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), 'oddstream-clickhouse-'));
  const [user, password] = ['writer', 'a pass:word'];
  const child = spawn(process.execPath, [resolve('dist/infra/clickhouse/main.js')], {
    stdio: 'ignore',
    env: {
      ...process.env,
      UV_THREADPOOL_SIZE: '16',
      ODDSTREAM_DATA: dataDir,
      CLICKHOUSE_EMBEDDED_PORT: String(port),
      CLICKHOUSE_USER: user,
      CLICKHOUSE_PASSWORD: password,
      ADMIN_PORT_CLICKHOUSE: String(admin),
    },
  });
  const ended = once(child, 'exit');
  await eventually('ClickHouse', async () => (await fetch(`http://127.0.0.1:${admin}/readyz`)).ok, 30_000);
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    user,
    password,
    pid: child.pid ?? -1,
    dataDir,
    async stop(signal) {
      child.kill('SIGCONT');
      child.kill(signal ?? 'SIGKILL');
      await ended;
      if (signal === undefined) rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
