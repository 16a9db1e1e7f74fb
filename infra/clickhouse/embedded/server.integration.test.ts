import { type IncomingHttpHeaders, request } from 'node:http';
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestClickHouse, type TestClickHouse } from '../testing.js';

const owners = [
  { user: 'default', password: '' },
  { user: 'owner', password: 's3cret:with colon' },
];
let ch: TestClickHouse;
beforeAll(async () => {
  ch = await startTestClickHouse({ owners });
  await ch.client.command('CREATE TABLE test.kept (a UInt64, b String) ENGINE = MergeTree ORDER BY a');
});
afterAll(() => ch.stop());

interface QueryResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}
async function sendQuery(params: Record<string, string>, init: RequestInit = {}): Promise<QueryResponse> {
  const response = await fetch(`${ch.url}/?${new URLSearchParams(params)}`, { method: 'POST', ...init });
  return { status: response.status, headers: response.headers, text: await response.text() };
}
interface RawResponse {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** The connection was closed before the end of the response. */
  readonly isCut: boolean;
}
/** Returns the response as received: not decompressed, and incomplete when the connection was closed. */
const sendRawQuery = (
  sql: string,
  headers: Record<string, string> = {},
  params: Record<string, string> = {},
): Promise<RawResponse> =>
  new Promise((resolve, reject) => {
    request(`${ch.url}/?${new URLSearchParams(params)}`, { method: 'POST', headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', () => undefined);
      response.on('close', () => {
        const { statusCode: status, headers, complete } = response;
        resolve({ status, headers, body: Buffer.concat(chunks), isCut: !complete });
      });
    })
      .on('error', reject)
      .end(sql);
  });
const summary = (response: QueryResponse) =>
  JSON.parse(response.headers.get('x-clickhouse-summary') ?? '{}') as Record<string, string>;

describe('paths', () => {
  test('/ping, / and unknown paths', async () => {
    for (const path of ['/ping', '/', '/replicas_status']) {
      const response = await fetch(ch.url + path);
      expect([response.status, await response.text()]).toEqual([200, 'Ok.\n']);
    }
    expect((await fetch(`${ch.url}/nope`)).status).toBe(404);
    expect((await fetch(`${ch.url}/ping`, { method: 'HEAD' })).status).toBe(200);
    expect((await fetch(`${ch.url}/?query=SELECT+1`, { method: 'HEAD' })).status).toBe(200);
    expect((await fetch(ch.url, { method: 'DELETE' })).status).toBe(405);
  });
});

describe('formats and headers', () => {
  test('FORMAT in the SQL, then default_format, then the header, then TabSeparated', async () => {
    expect((await sendQuery({ query: 'SELECT 1 AS a, 2 AS b FORMAT CSV', default_format: 'JSON' })).text).toBe('1,2\n');
    expect((await sendQuery({ query: 'SELECT 1 AS a', default_format: 'JSONEachRow' })).text).toBe('{"a":1}\n');
    expect(
      (await sendQuery({ query: 'SELECT 1 AS a' }, { headers: { 'x-clickhouse-format': 'CSVWithNames' } })).text,
    ).toBe('"a"\n1\n');
    expect((await sendQuery({ query: "SELECT 1, 'x'" })).text).toBe('1\tx\n');
    expect((await sendQuery({ query: 'SHOW DATABASES', default_format: 'JSONEachRow' })).text).toContain(
      '{"name":"test"}',
    );
  });

  test.each([
    ['JSON', 'application/json; charset=UTF-8'],
    ['JSONEachRow', 'application/x-ndjson; charset=UTF-8'],
    ['CSV', 'text/csv; charset=UTF-8; header=absent'],
    ['CSVWithNames', 'text/csv; charset=UTF-8; header=present'],
    ['TabSeparated', 'text/tab-separated-values; charset=UTF-8'],
    ['Parquet', 'application/octet-stream'],
    ['Pretty', 'text/plain; charset=UTF-8'],
  ])('%s is %s', async (format, type) => {
    const response = await sendQuery({ query: `SELECT 1 AS a FORMAT ${format}` });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe(type);
    expect(response.headers.get('x-clickhouse-format')).toBe(format);
  });

  test('a format with a header and footer is one document over many blocks', async () => {
    const response = await sendQuery({ query: 'SELECT number FROM numbers(300000)', default_format: 'JSON' });
    const parsed = JSON.parse(response.text) as { rows: number; data: { number: number }[] };
    expect(parsed.rows).toBe(300000);
    expect(parsed.data.at(-1)).toEqual({ number: 299999 });
    const csv = (await sendQuery({ query: 'SELECT number AS n FROM numbers(200000) FORMAT CSVWithNames' })).text.split(
      '\n',
    );
    expect(csv.length).toBe(200002);
    expect(csv.filter((line) => line === '"n"')).toEqual(['"n"']);
  });

  test('headers contain the query id, the server and a summary of strings', async () => {
    const response = await sendQuery({ query: 'SELECT number FROM numbers(10)', query_id: 'my-query' });
    expect(response.headers.get('x-clickhouse-query-id')).toBe('my-query');
    expect(response.headers.get('x-clickhouse-server-display-name')).toBe('oddstream');
    expect(response.headers.get('x-clickhouse-timezone')).toBe('UTC');
    expect(summary(response)).toMatchObject({ result_rows: '10', written_rows: '0' });
    expect(Number(summary(response).elapsed_ns)).toBeGreaterThan(0);
    expect((await sendQuery({ query: 'SELECT timezone(), toString(toDateTime(0))' })).text).toMatch(
      /\t1970-01-01 00:00:00\n$/,
    );
  });

  test('the response is compressed only when requested and accepted', async () => {
    const [sql, params] = ['SELECT number FROM numbers(50000)', { enable_http_compression: '1' }];
    const url = `${ch.url}/?${new URLSearchParams({ query: sql, ...params })}`;
    const packed = await sendRawQuery(sql, { 'accept-encoding': 'gzip' }, params);
    expect(gunzipSync(packed.body).toString().split('\n').length).toBe(50001);
    const plain = await fetch(url, { headers: { 'accept-encoding': 'identity' } });
    expect(plain.headers.get('content-encoding')).toBeNull();
    for (const encoding of ['br', 'deflate', 'gzip']) {
      const response = await fetch(url, { headers: { 'accept-encoding': encoding } });
      expect(response.headers.get('content-encoding')).toBe(encoding);
      expect((await response.text()).length).toBe(
        (await (await fetch(url, { headers: { 'accept-encoding': 'identity' } })).text()).length,
      );
    }
  });

  test('wait_end_of_query returns the complete result and its summary', async () => {
    const response = await sendQuery({ query: 'SELECT number FROM numbers(100000)', wait_end_of_query: '1' });
    expect(response.text.split('\n').length).toBe(100001);
    expect(summary(response).result_rows).toBe('100000');
    const failed = await sendQuery({
      query: 'SELECT throwIf(number = 90000) FROM numbers(100000)',
      wait_end_of_query: '1',
    });
    expect(failed.status).toBe(400);
    expect(failed.headers.get('x-clickhouse-exception-code')).toBe('395');
  });
});

describe('exceptions', () => {
  test.each([
    ['SELECT * FROM nope', 404, '60', 'UNKNOWN_TABLE'],
    ['SELECT nope', 404, '47', 'UNKNOWN_IDENTIFIER'],
    ['SELECT nope(1)', 404, '46', 'UNKNOWN_FUNCTION'],
    ['SELECT 1 FORMAT Nope', 404, '73', 'UNKNOWN_FORMAT'],
    ['SELEC 1', 400, '62', 'SYNTAX_ERROR'],
    ['SELECT FROM FROM', 400, '62', 'SYNTAX_ERROR'],
    ['SELECT 1; SELECT 2', 400, '62', 'SYNTAX_ERROR'],
    ['SELECT {x:UInt8}', 400, '456', 'UNKNOWN_QUERY_PARAMETER'],
    ['SELECT throwIf(1)', 400, '395', 'FUNCTION_THROW_IF_VALUE_IS_NON_ZERO'],
    ["SELECT toUInt8('x')", 400, '6', 'CANNOT_PARSE_TEXT'],
    ['CREATE TABLE test.x (a Int8) ENGINE = Nope', 404, '56', 'UNKNOWN_STORAGE'],
    ['', 400, '62', 'SYNTAX_ERROR'],
  ])('%s -> %d', async (query, status, code, name) => {
    const response = await sendQuery({}, { body: query });
    expect(response.status).toBe(status);
    expect(response.headers.get('x-clickhouse-exception-code')).toBe(code);
    expect(response.text).toMatch(
      new RegExp(
        `^Code: ${code}\\. DB::Exception: [\\s\\S]*\\(${name}\\) \\(version [\\d.]+ \\(official build\\)\\)\\n$`,
      ),
    );
    expect(response.text).not.toContain("COMPRESSION 'none'");
    expect(response.text).not.toContain('spool');
  });

  test('database, setting and compression that do not exist', async () => {
    expect((await sendQuery({ query: 'SELECT 1', database: 'nope' })).headers.get('x-clickhouse-exception-code')).toBe(
      '81',
    );
    const unknown = await sendQuery({ query: 'SELECT 1', no_such_setting: '1' });
    expect([unknown.status, unknown.headers.get('x-clickhouse-exception-code')]).toEqual([404, '115']);
    expect(unknown.text).toContain('no_such_setting');
    expect((await sendQuery({ query: 'SELECT 1', "x'; DROP": '1' })).headers.get('x-clickhouse-exception-code')).toBe(
      '115',
    );
    expect((await sendQuery({ query: 'SELECT 1', compress: '1' })).status).toBe(400);
    expect((await sendQuery({ query: 'SELECT 1', role: 'r' })).headers.get('x-clickhouse-exception-code')).toBe('511');
    expect((await sendQuery({}, { body: 'SELECT 1', headers: { 'content-encoding': 'zstd' } })).status).toBe(400);
    expect((await sendQuery({}, { body: 'not gzip', headers: { 'content-encoding': 'gzip' } })).status).toBe(400);
    expect((await sendQuery({}, { body: Buffer.from([0x53, 0x45, 0xff, 0xfe]) })).status).toBe(400);
    expect(
      (await sendQuery({}, { body: `SELECT '${'x'.repeat(300_000)}'` })).headers.get('x-clickhouse-exception-code'),
    ).toBe('62');
    expect(
      (await sendQuery({ max_query_size: '1000000' }, { body: `SELECT length('${'x'.repeat(300_000)}')` })).text,
    ).toBe('300000\n');
  });

  test('an error after the first rows is sent in the tagged block and the body ends incomplete', async () => {
    const sql = 'SELECT number, throwIf(number = 900000) FROM numbers(1000000) SETTINGS max_block_size = 10000';
    const { status, headers, body, isCut } = await sendRawQuery(sql);
    expect([status, isCut]).toEqual([200, true]);
    const tag = headers['x-clickhouse-exception-tag'];
    expect(tag).toMatch(/^\w+$/);
    expect(body.toString()).toContain(`\r\n__exception__\r\n${tag}\r\nCode: 395. DB::Exception`);
    const rows: unknown[] = [];
    const read = async () => {
      for await (const row of ch.client.stream(sql)) rows.push(row);
    };
    await expect(read()).rejects.toMatchObject({ code: '395' });
    expect(rows.length).toBeGreaterThan(0);
  });
});

describe('identities', () => {
  const query = { query: "SELECT 'in'" };
  const basic = (user: string, password: string) => ({
    authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
  });

  test('each of the three authentication methods works, two at once are rejected', async () => {
    expect((await sendQuery(query, { headers: basic('owner', 's3cret:with colon') })).status).toBe(200);
    expect(
      (await sendQuery(query, { headers: { 'x-clickhouse-user': 'owner', 'x-clickhouse-key': 's3cret:with colon' } }))
        .status,
    ).toBe(200);
    expect((await sendQuery({ ...query, user: 'owner', password: 's3cret:with colon' })).status).toBe(200);
    expect(
      (await sendQuery({ ...query, user: 'owner' }, { headers: basic('owner', 's3cret:with colon') })).status,
    ).toBe(403);
  });

  test('wrong credentials get code 516 and nothing runs', async () => {
    for (const response of [
      await sendQuery(query, { headers: basic('owner', 'wrong') }),
      await sendQuery(query, { headers: basic('nobody', '') }),
      await sendQuery({ ...query, user: 'owner' }),
      await sendQuery({ ...query, user: 'default', password: 'x' }),
      await sendQuery(query, { headers: { authorization: 'Bearer x' } }),
    ]) {
      expect([response.status, response.headers.get('x-clickhouse-exception-code')]).toEqual([403, '516']);
    }
  });
});

describe('session state', () => {
  test('settings, database, parameters and temporary tables end with the request', async () => {
    const settings = () =>
      sendQuery({ query: "SELECT getSetting('max_block_size'), getSetting('readonly'), currentDatabase()" });
    const before = (await settings()).text;
    expect((await sendQuery({ query: "SELECT getSetting('max_block_size')", max_block_size: '77' })).text).toBe('77\n');
    await sendQuery({ query: 'SET max_block_size = 99' });
    await sendQuery({ query: 'USE test' });
    await sendQuery({ query: 'SELECT {a:UInt8}', param_a: '1' });
    await sendQuery({ query: 'CREATE TEMPORARY TABLE leftover (a Int8)' });
    for (let i = 0; i < 12; i++) {
      expect((await settings()).text).toBe(before);
      expect((await sendQuery({ query: 'SELECT {a:UInt8}' })).headers.get('x-clickhouse-exception-code')).toBe('456');
      expect((await sendQuery({ query: 'SELECT * FROM leftover' })).headers.get('x-clickhouse-exception-code')).toBe(
        '60',
      );
    }
  });

  test('a named session keeps its state, but not the settings of one request', async () => {
    const at = { session_id: 'mine' };
    expect(
      (await sendQuery({ ...at, session_check: '1', query: 'SELECT 1' })).headers.get('x-clickhouse-exception-code'),
    ).toBe('372');
    await sendQuery({ ...at, query: 'CREATE TEMPORARY TABLE kept (a Int8)' });
    await sendQuery({ ...at, query: 'SET max_block_size = 99' });
    await sendQuery({ ...at, query: 'USE test' });
    await sendQuery({ ...at, query: 'INSERT INTO kept VALUES (5)' });
    const state = "SELECT (SELECT sum(a) FROM kept), getSetting('max_block_size'), currentDatabase()";
    expect((await sendQuery({ ...at, query: state, max_block_size: '5', database: 'system' })).text).toBe(
      '5\t5\tsystem\n',
    );
    expect((await sendQuery({ ...at, query: state })).text).toBe('5\t99\ttest\n');
    expect((await sendQuery({ query: 'SELECT * FROM kept' })).status).toBe(404);
    const both = await Promise.all(
      [1, 2].map(() =>
        sendQuery({
          ...at,
          query: 'SELECT count() FROM numbers(3000000000) WHERE sipHash64(number) = 1 SETTINGS max_execution_time = 4',
        }),
      ),
    );
    expect(both.map((response) => response.headers.get('x-clickhouse-exception-code')).sort()).toEqual(['159', '373']);
    expect(
      (await sendQuery({ ...at, query: 'SELECT 1', session_timeout: '99999' })).headers.get(
        'x-clickhouse-exception-code',
      ),
    ).toBe('374');
  });

  test('GET requests are read-only', async () => {
    const get = (query: string, extra = {}) => sendQuery({ query, ...extra }, { method: 'GET' });
    for (const extra of [{}, { session_id: 'reader' }]) {
      expect((await get('SELECT 1', extra)).text).toBe('1\n');
      expect(
        (await get('CREATE TABLE test.g (a Int8) ENGINE = Memory', extra)).headers.get('x-clickhouse-exception-code'),
      ).toBe('164');
      expect((await get('INSERT INTO test.kept VALUES (9, 9)', extra)).headers.get('x-clickhouse-exception-code')).toBe(
        '164',
      );
    }
    expect((await get('SELECT {a:String}', { param_a: 'x', max_threads: '1' })).text).toBe('x\n');
    expect(
      (await sendQuery({ session_id: 'reader', query: 'CREATE TABLE test.g (a Int8) ENGINE = Memory' })).status,
    ).toBe(200);
  });
});

describe('parameters', () => {
  test('any text parameter is returned unchanged', async () => {
    const hostile = [
      "'; DROP TABLE test.kept; --",
      '\\',
      "\\'",
      '{x:String}',
      '`"',
      '\t\n\r\b\0',
      '\u{1f4a9}é',
      '%27',
      '/*',
      '-- ',
    ];
    for (const s of hostile) expect(await ch.client.query('SELECT {s:String} AS s', { s })).toEqual([{ s }]);
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'grapheme' }), async (s) => {
        expect(
          await ch.client.query('SELECT {s:String} AS s, [{s:String}] = {a:Array(String)} AS same', { s, a: [s] }),
        ).toEqual([{ s, same: 1 }]);
      }),
      { numRuns: 60 },
    );
  });

  test('types, identifiers and nulls', async () => {
    const sql =
      'SELECT {u:UInt256} AS u, {d:DateTime64(3)} AS d, {n:Nullable(Int8)} AS n, {m:Map(String, UInt8)} AS m, {b:Bool} AS b';
    const big = 2n ** 256n - 1n;
    expect(
      await ch.client.query(sql, { u: big, d: new Date(1_700_000_000_123), n: null, m: { a: 1 }, b: true }),
    ).toEqual([{ u: big.toString(), d: '2023-11-14 22:13:20.123', n: null, m: { a: 1 }, b: true }]);
    expect(
      await ch.client.query('SELECT name FROM system.{t:Identifier} WHERE name = {n:String}', {
        t: 'databases',
        n: 'test',
      }),
    ).toEqual([{ name: 'test' }]);
    await expect(ch.client.query('SELECT {n:UInt8}', { n: "1'; SELECT 2" })).rejects.toMatchObject({ code: '457' });
  });
});
