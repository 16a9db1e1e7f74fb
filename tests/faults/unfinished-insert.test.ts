import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { freePorts } from '../support/ports.js';
import { eventually } from '../support/product.js';

let dataDir: string;
let port: number;
let admin: number;
let child: ChildProcess;
beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'oddstream-unfinished-'));
  [port, admin] = (await freePorts(2)) as [number, number];
  await start();
});
afterEach(async () => {
  await end();
  rmSync(dataDir, { recursive: true, force: true });
});

async function start(): Promise<void> {
  child = spawn(process.execPath, [resolve('dist/infra/clickhouse/main.js')], {
    stdio: 'ignore',
    env: {
      ...process.env,
      UV_THREADPOOL_SIZE: '16',
      ODDSTREAM_DATA: dataDir,
      CLICKHOUSE_EMBEDDED_PORT: String(port),
      CLICKHOUSE_USER: 'writer',
      CLICKHOUSE_PASSWORD: 'secret',
      ADMIN_PORT_CLICKHOUSE: String(admin),
    },
  });
  await eventually('ClickHouse', async () => (await fetch(`http://127.0.0.1:${admin}/readyz`)).ok, 30_000);
}
async function end(signal: 'SIGKILL' | 'SIGTERM' = 'SIGKILL'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill(signal);
  await exited;
}
async function query(sql: string, settings: Record<string, string> = {}, database = 'product'): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}/?${new URLSearchParams({ database, ...settings })}`, {
    method: 'POST',
    body: sql,
    headers: { 'x-clickhouse-user': 'writer', 'x-clickhouse-key': 'secret' },
  });
  const text = await response.text();
  if (!response.ok) throw new Error(text);
  return text.trim();
}
const insert = (chunk: number) =>
  query(`INSERT INTO trades SELECT number, ${chunk} FROM numbers(${chunk * 10}, 10)`, {
    insert_deduplication_token: `chunk-${chunk}`,
    deduplicate_blocks_in_dependent_materialized_views: '1',
  });
const partsOf = (path: string) => readdirSync(path).filter((name) => /^all_\d+_\d+_\d+$/.test(name));
const pathOf = async (table: string) =>
  join(
    dataDir,
    'clickhouse',
    'store',
    ...(
      await query(
        `SELECT concat(substring(toString(uuid), 1, 3), '/', toString(uuid)) FROM system.tables WHERE database = 'product' AND name = '${table}'`,
      )
    ).split('/'),
  );

// SIGTERM: the insert failed after its token was written, then the engine was closed.
it.each([
  ['SIGKILL', 'SIGKILL'],
  ['SIGTERM', 'SIGTERM'],
  ['SIGKILL, when another process has got the pid', 'SIGKILL'],
] as const)(
  'an insert without a part, whose token was written before %s, is complete exactly once after a repeat',
  async (state, signal) => {
    const engine = 'SETTINGS non_replicated_deduplication_window = 1000';
    await query('CREATE DATABASE product', {}, 'default');
    await query(`CREATE TABLE trades (n UInt64, chunk UInt64) ENGINE = MergeTree ORDER BY n ${engine}`);
    await query(`CREATE TABLE sums (chunk UInt64, total UInt64) ENGINE = SummingMergeTree ORDER BY chunk ${engine}`);
    await query('CREATE MATERIALIZED VIEW sums_mv TO sums AS SELECT chunk, sum(n) AS total FROM trades GROUP BY chunk');
    for (const table of ['trades', 'sums']) await query(`SYSTEM STOP MERGES ${table}`);
    for (const chunk of [0, 1, 2]) await insert(chunk);
    const trades = await pathOf('trades');
    await end(signal);
    if (state.includes('another')) {
      const status = join(dataDir, 'clickhouse', 'status');
      writeFileSync(status, readFileSync(status, 'utf8').replace(/^PID: \d+/m, `PID: ${process.pid}`));
    }
    // Simulates the state in which the newest part of `trades` was not committed although its token was written, but the part of the view was committed.
    const [newest] = partsOf(trades).sort((a, b) => Number(b.split('_')[2]) - Number(a.split('_')[2]));
    expect(readFileSync(join(trades, 'deduplication_logs', 'deduplication_log_1.txt'), 'utf8')).toContain(newest);
    rmSync(join(trades, String(newest)), { recursive: true });

    await start();
    expect(await query('SELECT count() FROM trades')).toBe('20');
    await insert(2);
    // Repeating a complete insert has no effect.
    await insert(1);
    expect(await query('SELECT count(), uniqExact(n), max(n) FROM trades')).toBe('30\t30\t29');
    expect(await query('SELECT sum(total) FROM sums')).toBe(String((29 * 30) / 2));
  },
);
