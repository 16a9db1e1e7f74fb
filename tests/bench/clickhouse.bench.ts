import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Session } from 'chdb';
import { type ClickHouse, createClickHouse } from '../../infra/clickhouse/client.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { freePorts } from '../support/ports.js';
import { median, quantile } from './measure.js';
import type { Figure } from './report/figure.js';

const account = { user: 'bench', password: 'bench' };
const CHUNK = 20_000;
const RUNS = 9;
const COLUMNS =
  'id String, wallet String, token UInt256, price Decimal(18, 6), size UInt64, timestamp_ms DateTime64(3), block UInt64, log_index UInt32';
const TABLE = (name: string) =>
  `CREATE TABLE ${name} (${COLUMNS}) ENGINE = ReplacingMergeTree ORDER BY (block, log_index) SETTINGS non_replicated_deduplication_window = 1000`;
const VIEW = (name: string) =>
  `CREATE MATERIALIZED VIEW ${name}_mv ENGINE = SummingMergeTree ORDER BY wallet SETTINGS non_replicated_deduplication_window = 1000 AS SELECT wallet, sum(size) AS total FROM ${name} GROUP BY wallet`;

interface Row {
  readonly id: string;
  readonly wallet: string;
  readonly token: bigint;
  readonly price: string;
  readonly size: number;
  readonly timestamp_ms: number;
  readonly block: number;
  readonly log_index: number;
}

/**
 * The embedded server in a separate process, compared with the engine in this process: rows per second of inserts of 20,000 rows into a table with
 * a materialized view, latency of trivial queries, resident memory.
 */
export async function run(): Promise<readonly Figure[]> {
  const dir = mkdtempSync(join(tmpdir(), 'oddstream-bench-clickhouse-'));
  const server = await startServer(dir);
  try {
    const client = createClickHouse({ url: server.url, ...account, database: 'bench' }, { logger: silentLogger() });
    await client.ensureDatabase();
    const direct = openDirect(join(dir, 'direct'));
    const rates: Record<string, string>[] = [];
    const measured = new Map<string, { once: number[]; twice: number[] }>();
    const json = (rows: readonly Row[]) =>
      Buffer.from(`${rows.map((row) => JSON.stringify({ ...row, token: row.token.toString() })).join('\n')}\n`);
    const file = join(dir, 'rows');
    const methods: readonly [string, (rows: readonly Row[], table: string) => Promise<void>][] = [
      [
        'HTTP insertRows (JSONEachRow, encoding included)',
        (rows, table) => client.insertRows(table, rows, { dedupToken: token() }),
      ],
      [
        'HTTP JSONEachRow bytes',
        (rows, table) => client.insertBytes(table, 'JSONEachRow', encoded(rows, json), { dedupToken: token() }),
      ],
      [
        'HTTP RowBinary bytes',
        (rows, table) => client.insertBytes(table, 'RowBinary', encoded(rows, rowBinary), { dedupToken: token() }),
      ],
      ['engine called directly, JSONEachRow in the SQL', (rows, table) => direct.inline(table, encoded(rows, json))],
      [
        'engine called directly, RowBinary from a file',
        (rows, table) => direct.file(table, encoded(rows, rowBinary), file),
      ],
    ];
    for (const [name, insert] of methods) {
      const table = `t${rates.length}`;
      for (const sql of [TABLE(table), VIEW(table)]) {
        await client.command(sql);
        await direct.command(sql);
      }
      const timed = async (size: number, from: number) => {
        const chunks = Array.from({ length: RUNS + 1 }, (_, i) => rowsFrom(from + i * size, size));
        for (const rows of chunks)
          if (!name.includes('included')) encoded(rows, name.includes('JSON') ? json : rowBinary);
        await insert(chunks[0]!, table);
        const perSecond: number[] = [];
        for (const rows of chunks.slice(1)) {
          const startedAt = performance.now();
          await insert(rows, table);
          perSecond.push(size / ((performance.now() - startedAt) / 1000));
        }
        return perSecond;
      };
      const once = await timed(CHUNK, 0);
      const twice = await timed(2 * CHUNK, (RUNS + 1) * CHUNK);
      measured.set(name, { once, twice });
      rates.push({ method: name, 'rows/s (median)': Math.round(median(once)).toLocaleString('en') });
    }
    console.table(rates);
    const latencies = await latency(client, direct);
    console.log(`server: resident ${server.residentMb()} MB`);
    await direct.close();
    await client.close();
    const baselineOf = (name: string) =>
      [...measured].find(
        ([other]) => other.startsWith('engine') && other.includes('JSON') === name.includes('JSON'),
      )?.[1].once ?? [];
    return [
      ...[...measured]
        .filter(([name]) => name.startsWith('HTTP'))
        .map(
          ([name, { once, twice }]): Figure => ({
            name: `inserts of ${CHUNK.toLocaleString('en')} rows, ${name}`,
            unit: 'rows/s',
            better: 'more',
            values: once,
            baseline: { name: 'engine called directly', values: baselineOf(name) },
            twice: { work: `${(2 * CHUNK).toLocaleString('en')} rows`, values: twice },
          }),
        ),
      ...latencies,
    ];
  } finally {
    await server.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}

async function latency(client: ClickHouse, direct: Direct): Promise<Figure[]> {
  const medians = new Map<string, number[]>();
  const measure = async (query: string, work: () => Promise<unknown>) => {
    const times: number[] = [];
    for (let i = 0; i < 550; i++) {
      const startedAt = performance.now();
      await work();
      if (i >= 50) times.push(performance.now() - startedAt);
    }
    // The median of each hundred.
    medians.set(
      query,
      [0, 1, 2, 3, 4].map((n) => median(times.slice(n * 100, (n + 1) * 100))),
    );
    return { query, 'p50 ms': median(times).toFixed(2), 'p99 ms': quantile(times, 0.99).toFixed(2) };
  };
  const point = 'SELECT count() AS n FROM t0 WHERE block = 7';
  const idle = [
    await measure('direct SELECT 1', () => direct.query('SELECT 1')),
    await measure('HTTP SELECT 1', () => client.query('SELECT 1')),
    await measure('HTTP SELECT {a:UInt32}', () => client.query('SELECT {a:UInt32} AS a', { a: 1 })),
    await measure('HTTP point read', () => client.query(point)),
  ];
  const abort = new AbortController();
  const long = client
    .query(
      'SELECT count() AS n FROM numbers(1000000000000) WHERE sipHash64(number) = 1 SETTINGS max_threads = 1',
      {},
      { signal: abort.signal },
    )
    .catch((error: unknown) => error);
  const concurrent = await measure('HTTP SELECT 1 during a long query', () => client.query('SELECT 1'));
  abort.abort();
  await long;
  console.table([...idle, concurrent]);
  const baseline = { name: 'engine called directly, SELECT 1', values: medians.get('direct SELECT 1') ?? [] };
  return [...medians]
    .filter(([query]) => query.startsWith('HTTP'))
    .map(([query, values]) => ({ name: `p50 of ${query}`, unit: 'ms', better: 'less', values, baseline }));
}

let tokens = 0;
function token(): string {
  tokens += 1;
  return `bench-${tokens}`;
}

const cache = new WeakMap<readonly Row[], Buffer>();
function encoded(rows: readonly Row[], encode: (rows: readonly Row[]) => Buffer): Buffer {
  const cached = cache.get(rows);
  if (cached !== undefined) return cached;
  const bytes = encode(rows);
  cache.set(rows, bytes);
  return bytes;
}

function rowsFrom(first: number, count: number): Row[] {
  return Array.from({ length: count }, (_, i) => {
    const n = first + i;
    return {
      id: `0x${n.toString(16).padStart(64, '0')}-${n % 100}`,
      wallet: `0x${((n * 7919) % 5000).toString(16).padStart(40, '0')}`,
      token: BigInt(n) * 98_765_432_109_876_543_210_987n,
      price: '0.530000',
      size: n,
      timestamp_ms: 1_700_000_000_000 + n,
      block: n >> 6,
      log_index: n & 63,
    };
  });
}

/** ClickHouse's RowBinary: strings prefixed with their length, integers little endian, in column order. */
function rowBinary(rows: readonly Row[]): Buffer {
  const out = Buffer.alloc(rows.length * 200);
  let at = 0;
  const text = (value: string) => {
    at = out.writeUInt8(value.length, at);
    at += out.write(value, at, 'latin1');
  };
  for (const row of rows) {
    text(row.id);
    text(row.wallet);
    for (let shift = 0n; shift < 256n; shift += 64n)
      at = out.writeBigUInt64LE((row.token >> shift) & 0xffffffffffffffffn, at);
    at = out.writeBigInt64LE(BigInt(row.price.replace('.', '')), at);
    at = out.writeBigUInt64LE(BigInt(row.size), at);
    at = out.writeBigInt64LE(BigInt(row.timestamp_ms), at);
    at = out.writeBigUInt64LE(BigInt(row.block), at);
    at = out.writeUInt32LE(row.log_index, at);
  }
  return out.subarray(0, at);
}

interface Direct {
  inline(table: string, rows: Buffer): Promise<void>;
  file(table: string, rows: Buffer, path: string): Promise<void>;
  command(sql: string): Promise<void>;
  query(sql: string): Promise<unknown>;
  close(): Promise<void>;
}

function openDirect(path: string): Direct {
  const session = new Session(path);
  const command = async (sql: string) => {
    await session.queryAsync(sql);
  };
  return {
    command,
    query: (sql) => session.queryAsync(sql),
    inline: async (table, rows) => {
      await session.insert({ table, values: rows, format: 'JSONEachRow' });
    },
    file: async (table, rows, path) => {
      writeFileSync(path, rows);
      await command(`INSERT INTO ${table} FROM INFILE '${path}' COMPRESSION 'none' FORMAT RowBinary`);
    },
    close: async () => session.close(),
  };
}

async function startServer(dataDir: string) {
  const [port, adminPort] = await freePorts(2);
  const script = fileURLToPath(new URL('../../infra/clickhouse/main.js', import.meta.url));
  const child: ChildProcess = spawn(process.execPath, [script], {
    stdio: 'ignore',
    env: {
      ...process.env,
      UV_THREADPOOL_SIZE: '16',
      ODDSTREAM_DATA: dataDir,
      CLICKHOUSE_EMBEDDED_PORT: String(port),
      CLICKHOUSE_USER: account.user,
      CLICKHOUSE_PASSWORD: account.password,
      ADMIN_PORT_CLICKHOUSE: String(adminPort),
    },
  });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  for (let i = 0; (await fetch(`http://127.0.0.1:${adminPort}/readyz`).catch(() => undefined))?.status !== 200; i++) {
    if (i > 200 || child.exitCode !== null) throw new Error('the server did not start');
    await sleep(50);
  }
  return {
    url: `http://127.0.0.1:${port}`,
    residentMb: () =>
      Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]) / 1024),
    stop: async () => {
      child.kill('SIGTERM');
      await exited;
    },
  };
}
