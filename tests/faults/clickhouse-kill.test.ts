import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ClickHouse, createClickHouse } from '../../infra/clickhouse/client.js';
import { migrate } from '../../infra/clickhouse/migrations.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { freePort } from '../support/ports.js';

const script = join(import.meta.dirname, '../../dist/infra/clickhouse/main.js');
const logger = silentLogger();
const account = { user: 'oddstream', password: 'of this test' };
let dataDir: string;
let url: string;
let adminPort: number;
let child: ChildProcess | undefined;
let client: ClickHouse;

/** Starts the process as the supervisor does and waits until it is ready. */
async function start(): Promise<ChildProcess> {
  const started = spawn(process.execPath, [script], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...process.env,
      UV_THREADPOOL_SIZE: '16',
      ODDSTREAM_DATA: dataDir,
      CLICKHOUSE_EMBEDDED_PORT: new URL(url).port,
      CLICKHOUSE_USER: account.user,
      CLICKHOUSE_PASSWORD: account.password,
      ADMIN_PORT_CLICKHOUSE: String(adminPort),
    },
  });
  child = started;
  started.stdout.resume();
  const ready = async () => (await fetch(`http://127.0.0.1:${adminPort}/readyz`).catch(() => undefined))?.status;
  await expect.poll(ready).toBe(200);
  return started;
}
const ended = (process: ChildProcess) =>
  new Promise<{ code: number | null; signal: string | null }>((resolve) => {
    process.once('exit', (code, signal) => resolve({ code, signal }));
  });

beforeAll(async () => {
  if (!existsSync(script)) throw new Error('dist/ is missing: npm test builds it');
  dataDir = await mkdtemp(join(tmpdir(), 'oddstream-kill-'));
  url = `http://127.0.0.1:${await freePort()}`;
  adminPort = await freePort();
  client = createClickHouse({ url, ...account, database: 'oddstream' }, { logger });
});
afterAll(async () => {
  if (child !== undefined && child.exitCode === null && child.signalCode === null) {
    const exited = ended(child);
    child.kill('SIGKILL');
    await exited;
  }
  await client.close();
  await rm(dataDir, { recursive: true, force: true });
});

const table = {
  id: '0001_facts',
  statements: () => [
    'CREATE TABLE IF NOT EXISTS facts (offset UInt64, amount UInt64) ENGINE = MergeTree ORDER BY offset SETTINGS non_replicated_deduplication_window = 1000',
    'CREATE TABLE IF NOT EXISTS sums (k UInt8, amount UInt64) ENGINE = SummingMergeTree ORDER BY k SETTINGS non_replicated_deduplication_window = 1000',
    'CREATE MATERIALIZED VIEW IF NOT EXISTS sums_mv TO sums AS SELECT toUInt8(offset % 7) AS k, sum(amount) AS amount FROM facts GROUP BY k',
  ],
};
const CHUNKS = 40;
const ROWS = 5000;

test('kill -9 between and during inserts, then a restart: every chunk is in the table and in the view exactly once', async () => {
  let server = await start();
  await migrate({ client, migrations: [table], logger });
  let kills = 0;
  for (let chunk = 0; chunk < CHUNKS; chunk++) {
    const rows = Array.from({ length: ROWS }, (_, i) => ({ offset: chunk * ROWS + i, amount: 1 }));
    const insert = () =>
      client.insertRows('facts', rows, { dedupToken: `chain.final-0-${chunk * ROWS}-${chunk * ROWS + ROWS - 1}` });
    if (chunk % 10 !== 5) {
      await insert();
      continue;
    }
    const exited = ended(server);
    const interrupted = insert().catch((error: unknown) => error);
    // The delay differs each time: before, while or after the rows are written.
    await new Promise((resolve) => setTimeout(resolve, kills * 8));
    server.kill('SIGKILL');
    expect((await exited).signal).toBe('SIGKILL');
    await interrupted;
    kills += 1;
    server = await start();
    await insert();
    await insert();
  }
  expect(kills).toBe(4);
  expect(await client.query('SELECT count() AS n, uniqExact(offset) AS u, max(offset) AS last FROM facts')).toEqual([
    { n: String(CHUNKS * ROWS), u: String(CHUNKS * ROWS), last: String(CHUNKS * ROWS - 1) },
  ]);
  expect(await client.query('SELECT sum(amount) AS n FROM sums')).toEqual([{ n: String(CHUNKS * ROWS) }]);
  expect(await migrate({ client, migrations: [table], logger })).toEqual([]);
});

test('SIGTERM lets a running query finish, closes the engine and exits with 0; the next start clears the spool directory', async () => {
  const server = child ?? (await start());
  const running = client.query('SELECT count() AS n FROM numbers(3) WHERE sleepEachRow(0.4) = 0');
  await expect
    .poll(
      async () =>
        (
          await client.query<{ n: string }>(
            "SELECT count() AS n FROM system.processes WHERE query LIKE '%sleepEachRow%' AND query NOT LIKE '%system.processes%'",
          )
        )[0]?.n,
    )
    .toBe('1');
  const exited = ended(server);
  server.kill('SIGTERM');
  expect(await running).toEqual([{ n: '3' }]);
  expect(await exited).toEqual({ code: 0, signal: null });
  await expect(client.ping()).rejects.toThrow();
  const spool = join(dataDir, 'clickhouse-spool');
  await rm(spool, { recursive: true, force: true });
  await mkdir(spool);
  await writeFile(join(spool, 'spool-1'), 'left behind');
  await start();
  expect((await readdir(spool)).includes('spool-1')).toBe(false);
  expect(await client.query('SELECT count() AS n FROM facts')).toEqual([{ n: String(CHUNKS * ROWS) }]);
});

test('a second process on the same directory or port exits with 75 instead of crashing', async () => {
  const second = spawn(process.execPath, [script], {
    stdio: 'ignore',
    env: {
      ...process.env,
      ODDSTREAM_DATA: dataDir,
      CLICKHOUSE_EMBEDDED_PORT: String(await freePort()),
      ADMIN_PORT_CLICKHOUSE: String(await freePort()),
    },
  });
  const exited = ended(second);
  const timer = setTimeout(() => second.kill('SIGKILL'), 100_000);
  expect(await exited).toEqual({ code: 75, signal: null });
  clearTimeout(timer);
  expect(await client.query('SELECT 1 AS a')).toEqual([{ a: 1 }]);
});
