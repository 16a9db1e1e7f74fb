import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { ClickHouseLogLevel, createClient } from '@clickhouse/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestClickHouse, type TestClickHouse } from '../testing.js';

let ch: TestClickHouse;
beforeAll(async () => {
  ch = await startTestClickHouse();
});
afterAll(() => ch.stop());

/** Runs for an hour on one core: until it is aborted. */
const LONG = 'SELECT sum(cityHash64(number, number + 1)) AS v FROM numbers(600000000000) SETTINGS max_threads = 1';

/** Starts the query and waits until it runs; the result aborts it and waits for its error. */
async function startLongQuery(sql: string): Promise<() => Promise<void>> {
  const abort = new AbortController();
  const failed = expect(ch.client.query(sql, {}, { signal: abort.signal })).rejects.toThrow();
  await expect.poll(() => runningQueries('600000000000')).toBeGreaterThan(0);
  return async () => {
    abort.abort();
    await failed;
    await expect.poll(() => runningQueries('600000000000')).toBe(0);
  };
}

async function runningQueries(text: string): Promise<number> {
  const rows = await ch.client.query<{ n: string }>(
    'SELECT count() AS n FROM system.processes WHERE position(query, {text:String}) > 0 AND position(query, {excluded:String}) = 0',
    { text, excluded: 'system.processes' },
  );
  return Number(rows[0]?.n);
}

test('a long query does not delay short ones, with and without parameters', async () => {
  const abortLongQuery = await startLongQuery(LONG);
  for (let i = 0; i < 20; i++) expect(await ch.client.query('SELECT {i:UInt32} AS i', { i })).toEqual([{ i }]);
  expect(await runningQueries('600000000000')).toBe(1);
  await abortLongQuery();
});

test('a scalar subquery in a long query does not block the process', async () => {
  const abortLongQuery = await startLongQuery(`SELECT (${LONG}) AS v`);
  for (let i = 0; i < 10; i++) await (await fetch(`${ch.url}/ping`)).text();
  expect(await runningQueries('600000000000')).toBeGreaterThan(0);
  await abortLongQuery();
});

test('queries above the concurrency wait, and none sees the parameters or settings of another', async () => {
  const responses = await Promise.all(
    Array.from({ length: 200 }, (_, i) =>
      ch.client.query<{ v: number; b: number }>(
        "SELECT {v:UInt32} AS v, getSetting('max_block_size') AS b",
        { v: i },
        { settings: { max_block_size: String(1000 + i) } },
      ),
    ),
  );
  expect(responses).toEqual(responses.map((_, i) => [{ v: i, b: 1000 + i }]));
});

test('two million rows are streamed while the query still runs', async () => {
  const response = await fetch(
    `${ch.url}/?query=${encodeURIComponent('SELECT number FROM numbers(2000000) FORMAT RowBinary')}`,
  );
  let bytes = 0;
  let seenRunning = 0;
  let rest: Buffer = Buffer.alloc(0);
  let next = 0n;
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    if (bytes === 0) seenRunning = await runningQueries('numbers(2000000)');
    bytes += chunk.length;
    rest = Buffer.concat([rest, chunk]);
    for (; rest.length >= 8; rest = rest.subarray(8)) if (rest.readBigUInt64LE() === next) next += 1n;
  }
  expect([bytes, next]).toEqual([16_000_000, 2_000_000n]);
  expect(seenRunning).toBe(1);
});

test('a query ends when its client stops reading or closes the connection', async () => {
  for await (const _ of ch.client.stream(
    "SELECT number, repeat('x', 100) AS pad FROM numbers(1000000000) WHERE number != 777",
  ))
    break;
  await expect.poll(() => runningQueries('777'), { timeout: 10_000 }).toBe(0);
  const abort = new AbortController();
  const endless = ch.client.query(
    'SELECT sum(cityHash64(number)) FROM numbers(100000000000) WHERE number != 888',
    {},
    { signal: abort.signal },
  );
  await expect.poll(() => runningQueries('888')).toBe(1);
  abort.abort();
  await expect(endless).rejects.toThrow();
  await expect.poll(() => runningQueries('888'), { timeout: 10_000 }).toBe(0);
  expect(await ch.client.query('SELECT 1 AS a')).toEqual([{ a: 1 }]);
});

test('a query id runs once at a time', async () => {
  const abort = new AbortController();
  const first = ch.client.query(LONG, {}, { queryId: 'twice', signal: abort.signal });
  await expect.poll(() => runningQueries('600000000000')).toBe(1);
  await expect(ch.client.query('SELECT 1', {}, { queryId: 'twice' })).rejects.toMatchObject({ code: '216' });
  abort.abort();
  await expect(first).rejects.toThrow();
});

test('one connection serves many requests', async () => {
  const client = createClient({ url: ch.url, max_open_connections: 1, log: { level: ClickHouseLogLevel.OFF } });
  for (let i = 0; i < 50; i++) await (await client.query({ query: 'SELECT 1', format: 'TabSeparated' })).text();
  await expect(client.query({ query: 'SELECT nope' })).rejects.toMatchObject({ code: '47' });
  await client.close();
});

// The last test: it closes the server.
test('close waits for an insert whose rows arrive while the server closes', async () => {
  for (const table of ['late', 'late_copy'])
    await ch.client.command(`CREATE TABLE ${table} (a UInt64) ENGINE = MergeTree ORDER BY a`);
  await ch.client.command(
    'CREATE MATERIALIZED VIEW late_mv TO late_copy AS SELECT a FROM late WHERE sleepEachRow(0.05) = 0',
  );
  const query = new URLSearchParams({ database: 'test', query: 'INSERT INTO late FORMAT TSV' });
  const sending = request(`${ch.url}/?${query}`, { method: 'POST' });
  const cut = once(sending, 'error');
  sending.write('1\n');
  await new Promise((resolve) => setTimeout(resolve, 200));
  const closed = ch.server.close();
  await new Promise((resolve) => setTimeout(resolve, 100));
  sending.end(Array.from({ length: 40 }, (_, i) => `${i + 2}\n`).join(''));
  await cut;
  await closed;
  // The engine removes its status file when it has shut down, which it does not while a query runs.
  expect(existsSync(join(ch.dataDir, 'clickhouse', 'status'))).toBe(false);
});
