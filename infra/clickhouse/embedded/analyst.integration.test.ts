import { once } from 'node:events';
import { type ClientRequest, request } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestClickHouse, type TestClickHouse } from '../testing.js';
import { type AnalystLimits, DEFAULT_ANALYST_LIMITS } from './analyst-profile.js';

const owner = { user: 'owner', password: 'only for the owner' };
// Time enough for the other limits to be met first on a busy machine.
const limits: AnalystLimits = { ...DEFAULT_ANALYST_LIMITS, executionS: 10, resultBytes: 20_000_000 };
let ch: TestClickHouse;
beforeAll(async () => {
  ch = await startTestClickHouse({
    owners: [owner],
    analyst: { password: 'for analysts', database: 'market', concurrency: 2, limits },
  });
});
afterAll(() => ch.stop());

interface QueryResponse {
  readonly status: number;
  readonly code: string | null;
  readonly text: string;
}
async function sendQuery(
  query: string,
  params: Record<string, string> = {},
  headers: Record<string, string> = {},
): Promise<QueryResponse> {
  const url = `${ch.url}/?${new URLSearchParams(params)}`;
  const response = await fetch(url, { method: 'POST', body: query, headers });
  return {
    status: response.status,
    code: response.headers.get('x-clickhouse-exception-code'),
    text: await response.text(),
  };
}
const asOwner = { 'x-clickhouse-user': owner.user, 'x-clickhouse-key': owner.password };
const HEAVY = 'SELECT count() FROM numbers(1000000000000) WHERE sipHash64(number) = 1';
/** Number of analysts' queries in the engine. */
const heavyCount = async () =>
  Number(
    (
      await sendQuery(
        "SELECT count() FROM system.processes WHERE query LIKE '%numbers(1000000000000)%' AND query NOT LIKE '%processes%'",
        {},
        asOwner,
      )
    ).text,
  );
/** A request on a separate connection, which the test may close. */
function startRequest(query: string): ClientRequest {
  const sent = request(ch.url, { method: 'POST', agent: false });
  sent.on('error', () => undefined);
  sent.end(query);
  return sent;
}

describe('accounts', () => {
  test('an analyst needs no password from this machine, and only the right one is accepted', async () => {
    const accepted: readonly Record<string, string>[] = [
      {},
      { user: 'analyst' },
      { user: 'default' },
      { user: 'analyst', password: 'for analysts' },
    ];
    for (const params of accepted) {
      expect([params, (await sendQuery('SELECT currentDatabase()', params)).text]).toEqual([params, 'market\n']);
    }
    const rejected: readonly Record<string, string>[] = [
      { user: 'analyst', password: 'x' },
      { user: 'default', password: 'x' },
      { user: 'nobody' },
      { user: 'owner' },
    ];
    for (const params of rejected) {
      const { status, code } = await sendQuery('SELECT 1', params);
      expect([params, status, code]).toEqual([params, 403, '516']);
    }
  });

  test('an analyst behind a proxy needs the password', async () => {
    for (const header of [
      'x-forwarded-for',
      'forwarded',
      'via',
      'x-real-ip',
      'x-forwarded-host',
      'x-forwarded-proto',
    ]) {
      expect((await sendQuery('SELECT 1', {}, { [header]: 'for=192.0.2.1' })).code).toBe('516');
      expect(
        (await sendQuery('SELECT 1', { user: 'analyst', password: 'for analysts' }, { [header]: 'for=192.0.2.1' }))
          .text,
      ).toBe('1\n');
    }
  });
});

describe('limits', () => {
  test.each([
    ['time', HEAVY, 408, '159', /max_execution_time = 10 s \(ANALYST_TIMEOUT_S\)/],
    [
      'memory',
      'SELECT length(groupArray(number)) FROM numbers(100000000)',
      413,
      '241',
      /max_memory_usage = 200000000 bytes \(ANALYST_MEMORY_MB\)/,
    ],
    [
      'result rows',
      'SELECT number FROM numbers(1000001)',
      413,
      '396',
      /max_result_rows = 1000000 \(ANALYST_RESULT_ROWS\)/,
    ],
  ])('a statement over the limit of %s gets an error that names it', async (_limit, query, status, code, text) => {
    const response = await sendQuery(query);
    expect([response.status, response.code]).toEqual([status, code]);
    expect(response.text).toMatch(text);
  });

  test.each(['0.0000001', '1e-3', '0b1', '+5', ' 5', '0', ''])(
    'a limit of %j, which the engine may read as no limit, is rejected',
    async (value) => {
      expect((await sendQuery('SELECT 1', { max_execution_time: value })).code).toBe('452');
    },
  );

  test('a result whose text is larger than allowed ends with code 396 and leaves the server ready', async () => {
    const name = 'n'.repeat(20_000);
    const { status, code, text } = await sendQuery(`SELECT 1 AS ${name} FROM numbers(1000000) FORMAT JSONEachRow`);
    expect([status, code]).toEqual([413, '396']);
    expect(text).toContain('max_result_bytes = 20000000 (ANALYST_RESULT_MB)');
    expect((await sendQuery('SELECT 1')).text).toBe('1\n');
  });

  test.each([
    "SELECT CAST(unhex('ff'), 'AggregateFunction(uniq, UInt64)')",
    "SELECT CAST(unhex('ff') AS AggregateFunction(quantiles(0.5), UInt64))",
    "SELECT CAST(unhex('ff'), toTypeName(uniqState(1)))",
    "SELECT CAST(unhex('ff'), concat('Aggregate', 'Function(uniq, UInt64)'))",
    "SELECT CAST(unhex('ff'), 'Aggregate\\x46unction/**/(uniq, UInt64)')",
    "SELECT * FROM values('s AggregateFunction(uniq, UInt64)', 'x')",
    // Names that the engine unescapes once more than the statement around them.
    `SELECT CAST(unhex('ff'), '"Aggregate\\\\x46unction"(uniq, UInt64)')`,
    "SELECT CAST(unhex('ff'), '`Aggregate\\\\x46unction`(uniq, UInt64)')",
    `SELECT CAST(unhex('ff'), '"\\\\x41ggregateFunctio\\\\x6e" (uniq, UInt64)')`,
  ])('%s is rejected: states are not read from bytes', async (query) => {
    expect((await sendQuery(query)).code).toBe('497');
  });

  test.each([
    'AggregateFunction(uniq, UInt64)',
    'Aggregate\\x46unction(uniq, UInt64)',
    '"Aggregate\\\\x46unction"(uniq, UInt64)',
    'Array(Aggregate\\x46unction(uniq, UInt64))',
  ])('a parameter %s is rejected as the name of a type', async (name) => {
    expect((await sendQuery("SELECT CAST(unhex('ff'), {t:String})", { param_t: name })).code).toBe('497');
    expect((await sendQuery("SELECT * FROM values({t:String}, 'x')", { param_t: `s ${name}` })).code).toBe('497');
  });

  test.each([
    'output_format_parquet_row_group_size',
    'output_format_parquet_row_group_size_bytes',
    'output_format_parquet_data_page_size',
    'output_format_parquet_batch_size',
    'output_format_parquet_bloom_filter_bits_per_value',
    'output_format_orc_row_index_stride',
    'output_format_orc_compression_block_size',
    'output_format_avro_sync_interval',
    'output_format_avro_rows_in_file',
    'output_format_compression_level',
    'output_format_float_precision',
  ])('%s is rejected: a file of tiny pieces takes minutes', async (name) => {
    expect((await sendQuery('SELECT 1', { [name]: '1' })).code).toBe('164');
    expect((await sendQuery(`SELECT 1 FORMAT Parquet SETTINGS ${name} = 1`)).code).toBe('164');
  });

  test('blocks may be smaller, but not tiny', async () => {
    expect((await sendQuery('SELECT 1', { max_block_size: '1000' })).text).toBe('1\n');
    const { code, text } = await sendQuery('SELECT 1', { max_block_size: '999' });
    expect([code, text.includes('at least 1000 and at most 65409')]).toEqual(['452', true]);
  });

  test('a table or an alias may be named settings', async () => {
    expect(Number((await sendQuery('SELECT count() FROM system.settings')).text)).toBeGreaterThan(1000);
    expect((await sendQuery('SELECT 1 AS settings')).text).toBe('1\n');
    expect((await sendQuery('SELECT 1 AS settings FORMAT CSV SETTINGS extremes = 0')).text).toBe('1\n');
    // Names of formats that the engine's own printing puts in backquotes.
    expect(await sendQuery('SELECT 1 FORMAT Null')).toMatchObject({ status: 200, text: '' });
    expect(await sendQuery('SELECT 1 SETTINGS max_threads = 1 FORMAT Null')).toMatchObject({ status: 200, text: '' });
    expect(await sendQuery('SELECT 1, 2 FORMAT Values')).toMatchObject({ status: 200, text: '(1,2)' });
    expect((await sendQuery('SELECT settings FROM (SELECT 5 AS settings) AS settings')).text).toBe('5\n');
    expect((await sendQuery('SELECT 1 AS settings SETTINGS max_memory_usage = 0')).code).toBe('452');
  });

  test.each([
    'SELECT data_path FROM system.databases',
    'SELECT * FROM system.databases',
    'SELECT t.* FROM system.tables AS t',
    "SELECT COLUMNS('path') FROM system.tables",
    'SELECT t.metadata_path FROM system.tables AS t',
    'SELECT toString(tuple(*)) FROM system.databases',
    'SELECT count(DISTINCT *) FROM system.databases',
    'SELECT arrayJoin(data_paths) FROM system.tables',
    "SELECT 1 FROM system.databases WHERE startsWith(data_path, '/')",
    'SELECT 1 FROM system.databases AS d JOIN system.databases AS e USING data_path',
  ])('%s is rejected: it would show where the server keeps its files', async (query) => {
    expect((await sendQuery(query)).code).toBe('497');
  });

  test('a column of paths is rejected by parameter, too', async () => {
    for (const name of ['data_path', 'metadata_path'])
      expect((await sendQuery('SELECT {c:Identifier} FROM system.databases', { param_c: name })).code).toBe('497');
  });

  test('names of databases and tables can be read and counted', async () => {
    expect((await sendQuery('SELECT name, engine FROM system.databases')).text).toMatch(/^market\t/);
    expect((await sendQuery('SELECT count(*) FROM system.databases')).text).toBe('1\n');
  });

  test('a result of as many rows as allowed is complete', async () => {
    const { status, text } = await sendQuery('SELECT number FROM numbers(1000000)');
    expect(status).toBe(200);
    expect(text.length).toBe(6_888_890);
    expect(text.endsWith('\n999999\n')).toBe(true);
  });

  test('a limit may be lowered, and result_overflow_mode = break cuts the result', async () => {
    expect((await sendQuery('SELECT number FROM numbers(100000)', { max_result_rows: '1000' })).code).toBe('396');
    const cut = await sendQuery('SELECT number FROM numbers(1000000) SETTINGS max_block_size = 1000', {
      max_result_rows: '1000',
      result_overflow_mode: 'break',
    });
    expect(cut.text.split('\n').length - 1).toBe(1000);
  });

  test('a limit that is lowered in one statement is not lowered in the next', async () => {
    expect((await sendQuery('SELECT number FROM numbers(2000) SETTINGS max_result_rows = 1000')).code).toBe('396');
    expect((await sendQuery('SELECT count() FROM (SELECT number FROM numbers(2000))')).text).toBe('2000\n');
    expect((await sendQuery('SELECT number FROM numbers(2000)')).status).toBe(200);
  });
});

describe('query permits', () => {
  test('two statements of analysts run at once without delaying the owner', async () => {
    const sent = Array.from({ length: 6 }, () => startRequest(HEAVY));
    await expect.poll(heavyCount).toBe(2);
    expect((await sendQuery('SELECT 1', {}, asOwner)).text).toBe('1\n');
    for (const one of sent) one.destroy();
    await expect.poll(heavyCount, { timeout: 5000 }).toBe(0);
  });

  test('a statement ends in the engine when its client closes the connection', async () => {
    const sent = startRequest(HEAVY);
    await expect.poll(heavyCount).toBe(1);
    sent.destroy();
    await expect.poll(heavyCount, { timeout: 1500, interval: 20 }).toBe(0);
  });

  test('statements over the number that may wait are rejected', async () => {
    const sent = Array.from({ length: 60 }, () => startRequest(HEAVY));
    let rejected = 0;
    for (const one of sent)
      one.on('response', (response) => {
        if (response.headers['x-clickhouse-exception-code'] === '202') rejected += 1;
        response.resume();
      });
    await expect.poll(() => rejected, { timeout: 9_000 }).toBe(8);
    for (const one of sent) one.destroy();
    await expect.poll(heavyCount, { timeout: 5000 }).toBe(0);
    expect((await sendQuery('SELECT 1')).text).toBe('1\n');
  });

  test('clients that do not read their results occupy no permit', async () => {
    const sockets = await Promise.all(
      Array.from({ length: 4 }, async () => {
        const one = startRequest('SELECT number, repeat(toString(number), 10) FROM numbers(500000)');
        const [response] = await once(one, 'response');
        response.pause();
        return one;
      }),
    );
    expect((await sendQuery('SELECT 1')).text).toBe('1\n');
    for (const one of sockets) one.destroy();
  });
});

describe('requests', () => {
  test.each(['gzip', 'deflate', 'br'])('a body that is not %s is a client error', async (encoding) => {
    const { status, code } = await sendQuery('no compressed bytes', {}, { 'content-encoding': encoding });
    expect([status, code]).toEqual([400, '354']);
  });

  test('a parser error does not show the statement that the server adds around the text', async () => {
    const { code, text } = await sendQuery(`SELECT 1${' + 1'.repeat(2000)}`);
    expect(code).toBe('167');
    expect(text).not.toContain('formatQuery');
    expect(text.length).toBeLessThan(200);
  });

  test('a foreign Host or Origin is rejected on every path', async () => {
    const status = (path: string, headers: Record<string, string>) =>
      new Promise<number | undefined>((resolve, reject) => {
        request(ch.url + path, { headers }, (response) => {
          response.resume();
          resolve(response.statusCode);
        })
          .on('error', reject)
          .end();
      });
    for (const path of ['/', '/ping', '/?query=SELECT+1', '/nope', '/replicas_status']) {
      expect(await status(path, { host: 'rebound.example' })).toBe(403);
      expect(await status(path, { origin: 'https://evil.example' })).toBe(403);
      expect(await status(path, { 'sec-fetch-site': 'cross-site' })).toBe(403);
    }
    expect(await status('/ping', { host: 'localhost:8123' })).toBe(200);
  });

  test('a body in many small pieces is read once per doubling, not once per piece', async () => {
    const sent = request(ch.url, { method: 'POST', headers: asOwner });
    const responded = once(sent, 'response');
    sent.write("SELECT length('");
    for (let i = 0; i < 20_000; i++) sent.write('x');
    sent.end("')");
    const [response] = await responded;
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk as Buffer);
    expect(Buffer.concat(chunks).toString()).toBe('20000\n');
  });

  test('64-bit integers are strings in JSON unless the client requests numbers', async () => {
    expect((await sendQuery("SELECT toUInt256('87090000000000000001') AS id FORMAT JSONEachRow")).text).toBe(
      '{"id":"87090000000000000001"}\n',
    );
    expect(
      (
        await sendQuery('SELECT 7 AS id, toUInt64(7) AS n FORMAT JSONEachRow', {
          output_format_json_quote_64bit_integers: '0',
        })
      ).text,
    ).toBe('{"id":7,"n":7}\n');
  });

  test('the same query id of two users is no conflict', async () => {
    const sent = startRequest(HEAVY);
    await expect.poll(heavyCount).toBe(1);
    const [mine, theirs] = await Promise.all([
      sendQuery('SELECT 1', { query_id: 'same' }, asOwner),
      sendQuery('SELECT 1', { query_id: 'same' }),
    ]);
    expect([mine.text, theirs.text]).toEqual(['1\n', '1\n']);
    sent.destroy();
  });
});

test('a misspelled statement is named in its error', async () => {
  const { code, text } = await sendQuery('SELCT day FROM trades');
  expect([code, text]).toEqual(['164', expect.stringContaining('the statement begins with SELCT.')]);
});
