import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { createClient } from '@clickhouse/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestClickHouse, type TestClickHouse } from '../testing.js';

let ch: TestClickHouse;
beforeAll(async () => {
  ch = await startTestClickHouse();
});
afterAll(() => ch.stop());

async function post(
  query: string,
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = {},
  settings: Record<string, string> = {},
) {
  const response = await fetch(`${ch.url}/?${new URLSearchParams({ database: 'test', query, ...settings })}`, {
    method: 'POST',
    body,
    headers,
  });
  return { status: response.status, headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) };
}
async function scalar(sql: string): Promise<unknown> {
  const [row] = await ch.client.query<{ v: unknown }>(sql);
  return row?.v;
}

describe('rows arrive byte for byte', () => {
  const columns =
    'a UInt64, b String, c Nullable(Float64), d Array(String), e DateTime64(3), f FixedString(4), g UInt256';
  const source = `SELECT number AS a, randomString(number % 40) AS b, if(number % 3 = 0, NULL, number / 7) AS c,
    [toString(number), '\\n\\n', '''";\\t\\\\'] AS d, toDateTime64(number, 3) AS e, randomFixedString(4) AS f, toUInt256(number) * toUInt256('100000000000000000000000000000000000000000000000000') AS g
    FROM numbers(30000)`;
  beforeAll(async () => {
    await ch.client.command(`CREATE TABLE source (${columns}) ENGINE = MergeTree ORDER BY a`);
    await ch.client.command(`INSERT INTO source ${source}`);
  });

  test.each([
    'RowBinary',
    'RowBinaryWithNamesAndTypes',
    'Native',
    'CSV',
    'TabSeparated',
    'Values',
    'Parquet',
    'ArrowStream',
  ])('%s', async (format) => {
    const rows = await post(`SELECT * FROM source ORDER BY a FORMAT ${format}`, '');
    expect(rows.status).toBe(200);
    await ch.client.command('DROP TABLE IF EXISTS copy');
    await ch.client.command(`CREATE TABLE copy (${columns}) ENGINE = MergeTree ORDER BY a`);
    const written = await post(`INSERT INTO copy FORMAT ${format}`, rows.bytes);
    expect(written.bytes.toString()).toBe('');
    expect(JSON.parse(written.headers.get('x-clickhouse-summary') ?? '')).toMatchObject({ written_rows: '30000' });
    const sums =
      'SELECT (SELECT (count(), sum(sipHash64(*))) FROM source) = (SELECT (count(), sum(sipHash64(*))) FROM copy) AS v';
    expect(await scalar(sums)).toBe(1);
  });

  test('binary rows may contain bytes that end lines and statements', async () => {
    await ch.client.command('CREATE TABLE raw (s String) ENGINE = MergeTree ORDER BY tuple()');
    const values = ['\n\n', ';', '\r\n', '\0', "'", '\\', ' \n\n;DROP TABLE raw;\n\n'];
    const body = Buffer.concat(
      values.map((value) => Buffer.concat([Buffer.from([value.length]), Buffer.from(value, 'latin1')])),
    );
    expect((await post('INSERT INTO raw FORMAT RowBinary', body)).status).toBe(200);
    const inBody = Buffer.concat([Buffer.from('INSERT INTO raw FORMAT RowBinary\n'), body]);
    expect((await post('', inBody)).status).toBe(200);
    const rows = await ch.client.query<{ s: string; n: number }>(
      'SELECT s, toUInt32(count()) AS n FROM raw GROUP BY s',
    );
    expect(new Map(rows.map((row) => [row.s, row.n]))).toEqual(new Map(values.map((value) => [value, 2])));
  });
});

describe('bodies', () => {
  beforeAll(() => ch.client.command('CREATE TABLE bodies (a UInt64, b String) ENGINE = MergeTree ORDER BY a'));
  const lines = Buffer.from(
    Array.from({ length: 50_000 }, (_, i) => JSON.stringify({ a: i, b: `row ${i}` })).join('\n'),
  );

  test.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ] as const)('Content-Encoding: %s', async (encoding, pack) => {
    await ch.client.command('TRUNCATE TABLE bodies');
    const response = await post('INSERT INTO bodies FORMAT JSONEachRow', pack(lines), { 'content-encoding': encoding });
    expect(response.bytes.toString()).toBe('');
    expect(await scalar('SELECT (count(), sum(a)) AS v FROM bodies')).toEqual(['50000', '1249975000']);
  });

  test('the official client: rows, a stream, compressed', async () => {
    const client = createClient({ url: ch.url, database: 'test', compression: { request: true, response: true } });
    try {
      await client.command({ query: 'TRUNCATE TABLE bodies' });
      await client.insert({ table: 'bodies', values: [{ a: 1, b: 'x' }], format: 'JSONEachRow' });
      await client.insert({
        table: 'bodies',
        values: Readable.from([{ a: '2' }, { a: '3' }]),
        columns: ['a'],
        format: 'JSONEachRow',
      });
      await client.insert({ table: 'bodies', values: [[4, 'y']], format: 'JSONCompactEachRow' });
      const result = await client.query({ query: 'SELECT * FROM bodies ORDER BY a', format: 'JSON' });
      expect((await result.json<{ a: string; b: string }>()).data.map((row) => row.b)).toEqual(['x', '', '', 'y']);
      const inserted = await client.insert({ table: 'bodies', values: [{ a: 5 }], format: 'JSONEachRow' });
      expect(inserted.summary?.written_rows).toBe('1');
    } finally {
      await client.close();
    }
  });

  test('INSERT takes columns, defaults, a SETTINGS clause, and VALUES with expressions and parameters', async () => {
    await ch.client.command(
      "CREATE TABLE partial (a UInt64, b String DEFAULT 'none', `c d` UInt8) ENGINE = MergeTree ORDER BY a",
    );
    await post('INSERT INTO test.`partial` (a, `c d`) SETTINGS max_threads = 1 FORMAT TSV', '1\t2\n');
    await post('', 'INSERT INTO TABLE partial VALUES (2, upper({x:String}), 1 + 1);', {}, { param_x: "it's" });
    await post('', 'INSERT INTO partial VALUES (3, DEFAULT, 0)');
    await post('INSERT INTO partial SELECT 4, b, 5 FROM partial WHERE a = 2', '');
    expect(await ch.client.query('SELECT a, b, `c d` AS c FROM partial ORDER BY a')).toEqual([
      { a: '1', b: 'none', c: 2 },
      { a: '2', b: "IT'S", c: 2 },
      { a: '3', b: 'none', c: 0 },
      { a: '4', b: "IT'S", c: 5 },
    ]);
  });

  test('an INSERT with a row that does not parse is rejected as a whole; the message names the row and no spool file', async () => {
    await ch.client.command('TRUNCATE TABLE bodies');
    const response = await post('INSERT INTO bodies FORMAT JSONEachRow', '{"a":1}\n{"a":"x"}\n');
    expect([response.status, response.headers.get('x-clickhouse-exception-code')]).toEqual([400, '27']);
    expect(response.bytes.toString()).toMatch(/^Code: 27\. DB::Exception: Cannot parse input.*\(at row 2\)/);
    expect(response.bytes.toString()).not.toContain('spool');
    expect((await post('INSERT INTO nope FORMAT CSV', '1')).status).toBe(404);
    expect((await post('INSERT INTO bodies FORMAT Nope', '1')).status).toBe(404);
    expect((await post('INSERT INTO bodies FORMAT CSV', '')).status).toBe(200);
    expect(await scalar('SELECT toUInt32(count()) AS v FROM bodies')).toBe(0);
    expect((await readdir(join(ch.dataDir, 'clickhouse-spool'))).filter((name) => name.startsWith('spool-'))).toEqual(
      [],
    );
  });

  test('an INSERT whose client closes the connection amid its rows inserts none', async () => {
    await ch.client.command('TRUNCATE TABLE bodies');
    const abort = new AbortController();
    async function* endless() {
      for (let i = 0; i < 100_000; i++) {
        yield Buffer.from(`${i},x\n`);
        if (i === 50_000) abort.abort();
      }
    }
    const init = {
      method: 'POST',
      body: Readable.toWeb(Readable.from(endless())),
      duplex: 'half',
      signal: abort.signal,
    };
    await expect(
      fetch(`${ch.url}/?query=INSERT+INTO+test.bodies+FORMAT+CSV`, init as unknown as RequestInit),
    ).rejects.toThrow();
    await expect
      .poll(async () =>
        (await readdir(join(ch.dataDir, 'clickhouse-spool'))).filter((name) => name.startsWith('spool-')),
      )
      .toEqual([]);
    expect(await scalar('SELECT toUInt32(count()) AS v FROM bodies')).toBe(0);
  });
});
