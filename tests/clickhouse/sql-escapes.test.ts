import { afterAll, beforeAll, expect, test } from 'vitest';
import { type EscapeServer, FILE_SECRET, ROW_SECRET, startEscapeServer } from './escape-server.js';
import { type EscapeAttempt, escapeAttempts } from './sql-escapes.js';

let world: EscapeServer;
beforeAll(async () => {
  world = await startEscapeServer();
});
afterAll(() => world.stop());

test('no attempt of an analyst reads, writes or reaches anything outside the public views', async () => {
  const before = await world.state();
  const attempts = escapeAttempts(world.targets);
  expect(attempts.length).toBeGreaterThan(900);
  const escaped: string[] = [];
  for (const { name, ...attempt } of attempts) {
    const { status, text } = await world.send(attempt);
    const leaks = text.includes(FILE_SECRET) || text.includes(ROW_SECRET);
    if (status < 400 || status >= 500 || leaks) escaped.push(`${name}: ${status} ${text.slice(0, 200)}`);
  }
  expect(escaped).toEqual([]);
  expect(world.connections()).toBe(0);
  expect(await world.state()).toEqual(before);
  expect(await world.send({ body: 'SELECT count(), sum(size) FROM trades' })).toEqual({ status: 200, text: '3\t15\n' });
});

test('the owner reads what the attempts must not reach', async () => {
  const as = { 'x-clickhouse-user': world.owner.user, 'x-clickhouse-key': world.owner.password };
  const file = await world.send({
    body: `SELECT * FROM file('${world.targets.secretFile}', 'LineAsString')`,
    headers: as,
  });
  expect(file).toEqual({ status: 200, text: `${FILE_SECRET}\n` });
  expect((await world.send({ body: 'SELECT name FROM internal.usage_days LIMIT 1', headers: as })).text).toBe(
    `${ROW_SECRET}\n`,
  );
  await world.send({
    body: `SELECT * FROM url('${world.targets.listener}/', 'LineAsString') SETTINGS http_max_tries = 1`,
    headers: as,
  });
  expect(world.connections()).toBeGreaterThan(0);
});

const allowed: readonly (readonly [name: string, attempt: Omit<EscapeAttempt, 'name'>, expected: RegExp])[] = [
  ['no user', { body: 'SELECT currentDatabase()' }, /^market\n$/],
  ['user default', { body: 'SELECT 1', params: { user: 'default' } }, /^1\n$/],
  [
    'user analyst by Basic',
    { body: 'SELECT 1', headers: { authorization: `Basic ${Buffer.from('analyst:').toString('base64')}` } },
    /^1\n$/,
  ],
  ['an empty user', { body: 'SELECT 1', params: { user: '', password: '' } }, /^1\n$/],
  ['database default', { body: 'SELECT count() FROM trades', params: { database: 'default' } }, /^3\n$/],
  ['GET', { method: 'GET', params: { query: 'SELECT count() FROM market.trades' } }, /^3\n$/],
  ['a session id', { body: 'SELECT 1', params: { session_id: 'x', session_check: '1' } }, /^1\n$/],
  ['a CTE', { body: 'WITH t AS (SELECT * FROM trades) SELECT sum(size) FROM t' }, /^15\n$/],
  [
    'a recursive CTE',
    { body: 'WITH RECURSIVE t AS (SELECT 1 AS a UNION ALL SELECT a + 1 FROM t WHERE a < 5) SELECT max(a) FROM t' },
    /^5\n$/,
  ],
  ['a join', { body: 'SELECT count() FROM trades AS a JOIN market.trades AS b ON a.id = b.id' }, /^3\n$/],
  ['IN a subquery', { body: 'SELECT count() FROM trades WHERE id IN (SELECT id FROM trades)' }, /^3\n$/],
  ['IN a view', { body: 'SELECT count() FROM trades WHERE (id, wallet, size) IN trades' }, /^3\n$/],
  ['a window function', { body: 'SELECT sum(size) OVER (ORDER BY id) FROM trades ORDER BY id' }, /^5\n10\n15\n$/],
  [
    'combinators',
    { body: 'SELECT sumIf(size, id > 0), uniqExact(wallet), quantilesExactIf(0.5)(size, id > 0) FROM trades' },
    /^10\t1\t\[5\]\n$/,
  ],
  ['higher-order functions', { body: 'SELECT arrayMap((a, i) -> a * i, [1, 2], [3, 4])' }, /^\[3,8\]\n$/],
  ['columns by pattern', { body: "SELECT COLUMNS('^s') FROM trades LIMIT 1" }, /^5\n$/],
  [
    'EXCEPT and REPLACE',
    { body: 'SELECT * EXCEPT (wallet) REPLACE (size * 2 AS size) FROM trades ORDER BY id LIMIT 1' },
    /^0\t10\n$/,
  ],
  ['a named window, QUALIFY', { body: 'SELECT id FROM trades QUALIFY row_number() OVER (ORDER BY id) = 2' }, /^1\n$/],
  ['WITH TOTALS', { body: 'SELECT wallet, count() FROM trades GROUP BY wallet WITH TOTALS' }, /^0xabc\t3\n\n\t3\n$/],
  ['WITH FILL', { body: 'SELECT id FROM trades ORDER BY id WITH FILL TO 5' }, /^0\n1\n2\n3\n4\n$/],
  [
    'UNION, INTERSECT, EXCEPT',
    { body: 'SELECT 1 UNION ALL SELECT 2 INTERSECT SELECT 2 EXCEPT SELECT 3' },
    /^1\n2\n$|^2\n1\n$/,
  ],
  [
    'table functions',
    {
      body: "SELECT (SELECT sum(number) FROM numbers(4)), (SELECT count() FROM numbers_mt(3)), (SELECT sum(a) FROM values('a Int8', 1, 2)), (SELECT max(generate_series) FROM generate_series(1, 9))",
    },
    /^6\t3\t3\t9\n$/,
  ],
  ['view()', { body: 'SELECT * FROM view(SELECT 7)' }, /^7\n$/],
  [
    'parameters',
    { body: 'SELECT count() FROM {t:Identifier} WHERE id = {id:UInt64}', params: { param_t: 'trades', param_id: '1' } },
    /^1\n$/,
  ],
  [
    'dates',
    { body: "SELECT toStartOfHour(toDateTime64('2026-01-02 03:04:05.678', 3, 'UTC')) + INTERVAL 1 DAY" },
    /^2026-01-03 03:00:00\n$/,
  ],
  [
    'a time zone',
    { body: 'SELECT toString(toDateTime(0))', params: { session_timezone: 'Asia/Tokyo' } },
    /^1970-01-01 09:00:00\n$/,
  ],
  [
    'settings of the output',
    { body: 'SELECT 1 AS a FORMAT JSONEachRow SETTINGS output_format_json_quote_64bit_integers = 0' },
    /^\{"a":1\}\n$/,
  ],
  [
    'limits downwards',
    {
      body: 'SELECT 1 SETTINGS max_result_rows = 10',
      params: { max_memory_usage: '100000000', max_execution_time: '5' },
    },
    /^1\n$/,
  ],
  ['SHOW TABLES', { body: 'SHOW TABLES' }, /^trades\n$/],
  ['SHOW TABLES FROM', { body: "SHOW TABLES FROM market LIKE 't%'" }, /^trades\n$/],
  ['SHOW DATABASES', { body: 'SHOW DATABASES' }, /^market\n$/],
  ['SHOW COLUMNS', { body: 'SHOW COLUMNS FROM trades' }, /^id\tUInt64/],
  ['SHOW CREATE', { body: 'SHOW CREATE VIEW trades' }, /CREATE VIEW market\.trades/],
  ['DESCRIBE', { body: 'DESCRIBE trades' }, /^id\tUInt64/],
  ['EXISTS', { body: 'EXISTS TABLE market.trades' }, /^1\n$/],
  ['EXPLAIN', { body: 'EXPLAIN indexes = 1 SELECT * FROM trades WHERE id = 1' }, /ReadFromMergeTree/],
  ['EXPLAIN ESTIMATE', { body: 'EXPLAIN ESTIMATE SELECT * FROM trades' }, /internal/],
  [
    'system.tables shows only the public views',
    { body: 'SELECT groupArray(name) FROM system.tables' },
    /^\['trades'\]\n$/,
  ],
  [
    'system.columns shows only the public views',
    { body: 'SELECT DISTINCT database FROM system.columns' },
    /^market\n$/,
  ],
  ['system.databases shows only the public database', { body: 'SELECT name FROM system.databases' }, /^market\n$/],
  [
    'information_schema shows only the public views',
    { body: 'SELECT DISTINCT table_schema FROM information_schema.tables' },
    /^market\n$/,
  ],
  [
    '64-bit integers as strings in JSON',
    { body: 'SELECT id FROM trades ORDER BY id LIMIT 1 FORMAT JSONEachRow' },
    /^\{"id":"0"\}\n$/,
  ],
];

test.each(allowed)('an analyst may use %s', async (_name, attempt, expected) => {
  const { status, text } = await world.send(attempt);
  expect(text).toMatch(expected);
  expect(status).toBe(200);
});
