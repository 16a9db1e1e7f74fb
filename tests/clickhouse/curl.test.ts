import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestClickHouse, type TestClickHouse } from '../../infra/clickhouse/testing.js';
import { whyNoCurl } from '../support/curl.js';

const run = promisify(execFile);
let ch: TestClickHouse;
beforeAll(async () => {
  ch = await startTestClickHouse({
    owners: [
      { user: 'default', password: '' },
      { user: 'owner', password: 's3cret:with colon' },
    ],
  });
});
afterAll(() => ch.stop());

test.skipIf(whyNoCurl() !== null)('curl can send the query in the URL, in the body, or split over both', async () => {
  const curl = async (...args: string[]) => (await run('curl', ['-sS', ...args])).stdout;
  expect(await curl(`${ch.url}/?query=SELECT%20number%20FROM%20numbers(3)`)).toBe('0\n1\n2\n');
  expect(await curl(ch.url, '-d', 'SELECT 1 AS a FORMAT JSONEachRow')).toBe('{"a":1}\n');
  expect(await curl(`${ch.url}/?query=SELECT%201%2B`, '-d', '41')).toBe('42\n');
  expect(await curl(`${ch.url}/?database=test`, '-d', 'SELECT currentDatabase()')).toBe('test\n');
  expect(await curl(`${ch.url}/?param_a=7`, '-d', 'SELECT {a:UInt8} * 6')).toBe('42\n');
  expect(await curl('-u', 'owner:s3cret:with colon', ch.url, '-d', "SELECT 'in'")).toBe('in\n');
  await curl(ch.url, '-d', 'CREATE TABLE test.curl (a UInt64, b String) ENGINE = MergeTree ORDER BY a');
  await curl(ch.url, '-d', "INSERT INTO test.curl VALUES (1, 'x'), (2, concat('y', ';'))");
  await curl(`${ch.url}/?query=INSERT%20INTO%20test.curl%20FORMAT%20CSV`, '--data-binary', '3,"a\n\nb"\n');
  expect(await curl(ch.url, '-d', 'SELECT * FROM test.curl ORDER BY a FORMAT JSONCompactEachRow')).toBe(
    '[1, "x"]\n[2, "y;"]\n[3, "a\\n\\nb"]\n',
  );
  expect(
    await curl('--compressed', `${ch.url}/?enable_http_compression=1`, '-d', 'SELECT sum(number) FROM numbers(10)'),
  ).toBe('45\n');
});
