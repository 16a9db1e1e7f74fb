import { afterAll, beforeAll, expect, test } from 'vitest';
import { SINGLE_CHUNK_MAX_ROWS } from '../rows.js';
import { startTestClickHouse, type TestClickHouse } from '../testing.js';

let ch: TestClickHouse;
beforeAll(async () => {
  ch = await startTestClickHouse();
});
afterAll(() => ch.stop());

const sendQuery = async (query: string, limit: number | null, settings: Record<string, string> = {}) => {
  const limits: Record<string, string> = limit === null ? {} : { max_result_rows: String(limit) };
  const response = await fetch(`${ch.url}/?${new URLSearchParams({ database: 'test', ...limits, ...settings })}`, {
    method: 'POST',
    body: query,
  });
  const { status, headers } = response;
  const bytes = Buffer.from(await response.arrayBuffer()).toString('latin1');
  return {
    status,
    code: headers.get('x-clickhouse-exception-code'),
    format: headers.get('x-clickhouse-format'),
    bytes,
  };
};

test.each(['JSONEachRow', 'TabSeparated', 'RowBinary', 'Native', 'CSVWithNames'])(
  'a result in %s is the same in one chunk and through the pipe',
  async (format) => {
    const query = `SELECT number AS n, concat('\\n"', toString(number), {x:String}) AS t FROM numbers(5000) -- ends here
      FORMAT ${format} SETTINGS max_threads = 1`;
    const piped = await sendQuery(query, null, { param_x: "it's" });
    expect(piped).toMatchObject({ status: 200, code: null, format });
    expect(await sendQuery(query, SINGLE_CHUNK_MAX_ROWS, { param_x: "it's" })).toEqual(piped);
  },
);

test('a single-chunk result has the requested format, and may be empty or one row of many read', async () => {
  const format = { default_format: 'JSONEachRow' };
  expect((await sendQuery('SELECT 1 AS a', 10, format)).bytes).toBe('{"a":1}\n');
  expect((await sendQuery('SELECT 1 AS a WHERE 0', 10, format)).bytes).toBe('');
  const twice = 'SELECT 1 AS a SETTINGS max_threads = 1 FORMAT CSV SETTINGS output_format_csv_crlf_end_of_line = 1';
  expect((await sendQuery(twice, 10)).bytes).toBe('1\r\n');
  expect((await sendQuery('SELECT max(number) AS a FROM numbers(100000)', 10, format)).bytes).toBe('{"a":99999}\n');
});

test('parser errors quote the client’s text, and more rows than allowed are rejected', async () => {
  for (const query of ['SELECT nope', 'SELECT 1 FROM', 'SELECT throwIf(number = 3) FROM numbers(5)']) {
    const [piped, whole] = [await sendQuery(query, null), await sendQuery(query, 100)];
    expect([whole.status, whole.code]).toEqual([piped.status, piped.code]);
    expect(whole.status).not.toBe(200);
    expect(whole.bytes).not.toContain('FORMAT TabSeparated');
  }
  expect(await sendQuery('SELECT number FROM numbers(500)', 100)).toMatchObject({ code: '396' });
});
