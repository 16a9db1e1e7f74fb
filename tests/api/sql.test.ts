import { request as rawRequest } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { publishViews } from '../../processors/public-views/publish.js';
import { publicViews } from '../../processors/public-views/views.js';
import { exampleQueries } from '../../schemas/public-views/example-queries.js';
import { type ApiHarness, startApi } from '../support/api.js';

const HEAVY = 'SELECT count() FROM numbers(1000000000000) WHERE sipHash64(number) = 1';

interface SqlResult {
  readonly meta: readonly { readonly name: string; readonly type: string }[];
  readonly data: readonly (readonly unknown[])[];
  readonly rows: number;
  readonly rows_before_limit_at_least?: number;
  readonly statistics: { readonly rows_read: number; readonly bytes_read: number };
}

let api: ApiHarness;
let key: string;
beforeAll(async () => {
  api = await startApi({ nowMs: Date.UTC(2026, 2, 4) });
  const target = { client: api.clickhouse, database: 'market', logger: silentLogger() };
  await publishViews({ ...target, views: publicViews });
  await api.clickhouse.command(
    "INSERT INTO blocks (block_number, timestamp, _offset) SELECT 100 + number, toDateTime('2026-03-01 00:00:00', 'UTC') + number * 60, number FROM numbers(2880)",
  );
  key = await api.key('enterprise');
});
afterAll(() => api.stop());

const post = (body: unknown, rawKey: string | null = key, headers: Record<string, string> = {}) =>
  api.request('/v1/sql', {
    method: 'POST',
    body: typeof body === 'string' ? body : JSON.stringify(body),
    headers: {
      'content-type': 'application/json',
      ...(rawKey === null ? {} : { 'x-api-key': rawKey }),
      ...headers,
    },
  });
const errorOf = async (sql: string) => {
  const { status, body } = await post({ sql });
  return { status, ...(body as { error: string; code?: number }) };
};
/** Statements of analysts that run in the engine. */
const heavyCount = async () =>
  Number(
    (
      await api.clickhouse.query<{ n: string }>(
        "SELECT count() AS n FROM system.processes WHERE query LIKE '%numbers(1000000000000)%' AND query NOT LIKE '%processes%'",
      )
    )[0]?.n,
  );
/** A statement over a connection of its own, which the test can close. */
function startStatement(sql: string, rawKey: string) {
  const body = JSON.stringify({ sql });
  const headers = { 'content-type': 'application/json', 'x-api-key': rawKey, 'content-length': String(body.length) };
  const sent = rawRequest(`${api.url}/v1/sql`, { method: 'POST', headers, agent: false });
  sent.on('error', () => undefined);
  sent.end(body);
  return sent;
}

describe('POST /v1/sql', () => {
  it('returns columns with types and exact values', async () => {
    const { status, headers, body } = await post({
      sql: "SELECT toUInt256('115792089237316195423570985008687907853269984665640564039457584007913129639935') AS token, toDecimal128('0.100000', 6) AS usd, NULL AS nothing, 7 AS n",
    });
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('x-ratelimit-limit')).toBe('4000');
    expect(body).toMatchObject({
      meta: [
        { name: 'token', type: 'UInt256' },
        { name: 'usd', type: 'Decimal(38, 6)' },
        { name: 'nothing', type: 'Nullable(Nothing)' },
        { name: 'n', type: 'UInt8' },
      ],
      data: [['115792089237316195423570985008687907853269984665640564039457584007913129639935', '0.1', null, 7]],
      rows: 1,
    });
  });

  it('reads the public views with their comments', async () => {
    const schema = (
      await post({
        sql: `SELECT c.table, t.comment, c.name, c.type, c.comment FROM system.columns AS c
INNER JOIN system.tables AS t ON t.database = c.database AND t.name = c.table
WHERE c.database = currentDatabase() ORDER BY c.table, c.position`,
        max_rows: 10_000,
      })
    ).body as SqlResult;
    expect(new Set(schema.data.map(([view]) => view))).toEqual(new Set(publicViews.map(({ name }) => name)));
    expect(schema.data.every((row) => row.every((value) => typeof value === 'string' && value !== ''))).toBe(true);
    const days = (await post({ sql: "SELECT day, records FROM coverage WHERE source = 'blocks' ORDER BY day" }))
      .body as SqlResult;
    expect(days.data.slice(0, 2)).toEqual([
      ['2026-03-01', '1440'],
      ['2026-03-02', '1440'],
    ]);
  });

  it('runs every example query', async () => {
    const statuses = [];
    for (const { sql } of exampleQueries) statuses.push([sql, (await post({ sql })).status]);
    expect(statuses.filter(([, status]) => status !== 200)).toEqual([]);
    api.clock.nowMs += 60_000;
  });

  it('returns at most max_rows rows, and limits the result only', async () => {
    const {
      data,
      rows,
      rows_before_limit_at_least: before,
    } = (await post({ sql: 'SELECT number FROM numbers(5000) ORDER BY number DESC', max_rows: 3 })).body as SqlResult;
    expect([data, rows, (before ?? 0) > 3]).toEqual([[['4999'], ['4998'], ['4997']], 3, true]);
    const inner = 'SELECT count() FROM (SELECT number FROM numbers(5000))';
    expect(((await post({ sql: inner, max_rows: 3 })).body as SqlResult).data).toEqual([['5000']]);
    const view = "SELECT sum(records) FROM coverage WHERE source = 'blocks'";
    expect(((await post({ sql: view, max_rows: 1 })).body as SqlResult).data).toEqual([['2880']]);
    for (const sql of [
      'SELECT * EXCEPT (b) FROM (SELECT number AS a, 1 AS b FROM numbers(9))',
      'SELECT 1 FROM numbers(9) LIMIT 8 -- a',
    ])
      expect(((await post({ sql, max_rows: 3 })).body as SqlResult).rows, sql).toBe(3);
    const rowsOfView = 'SELECT day FROM coverage ORDER BY day DESC';
    expect(((await post({ sql: rowsOfView, max_rows: 2 })).body as SqlResult).rows).toBe(2);
    // The engine would limit each operand of a set operation.
    const part = 'SELECT number FROM numbers(5000)';
    const union = await post({ sql: `${part} UNION ALL ${part}`, max_rows: 3 });
    expect(union.body).toMatchObject({ code: 396, error: expect.stringContaining('max_rows') });
  });

  it.each([
    ['SELECT number FROM numbers(10) INTERSECT SELECT number + 5 FROM numbers(10) ORDER BY number', [5, 6, 7, 8, 9]],
    ['SELECT number FROM numbers(10) EXCEPT SELECT number + 0 FROM numbers(10) ORDER BY number DESC', []],
    ['SELECT number FROM numbers(8) except SELECT number + 2 FROM numbers(8)', [0, 1]],
    ['SELECT intDiv(number, 4) AS n FROM numbers(10) UNION DISTINCT SELECT 9 AS n', [0, 1, 2, 9]],
    ['SELECT number FROM numbers(100) LIMIT -2', [98, 99]],
    ['SELECT number FROM numbers(100) LIMIT (1 - 3)', [98, 99]],
    ['SELECT number FROM numbers(100) LIMIT negate(2)', [98, 99]],
    ['SELECT number FROM numbers(100) LIMIT -2 OFFSET -1', [97, 98]],
  ])('returns the rows of the whole operands of %s', async (sql, expected) => {
    const { data } = (await post({ sql, max_rows: 5 })).body as SqlResult;
    expect(data.map(([value]) => Number(value)).sort((a, b) => a - b)).toEqual(expected);
  });

  it('returns CSV and Parquet with all rows', async () => {
    const csv = await post({
      sql: 'SELECT number AS n, \'a, "b"\' AS text FROM numbers(2001)',
      format: 'csv',
      max_rows: 5,
    });
    expect(csv.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(String(csv.body).split('\n').slice(0, 2)).toEqual(['"n","text"', '0,"a, ""b"""']);
    expect(String(csv.body).trimEnd().split('\n')).toHaveLength(2002);
    const parquet = await fetch(`${api.url}/v1/sql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': key },
      body: JSON.stringify({ sql: 'SELECT number AS n FROM numbers(10)', format: 'parquet' }),
    });
    const bytes = Buffer.from(await parquet.arrayBuffer());
    expect(parquet.headers.get('content-type')).toBe('application/vnd.apache.parquet');
    expect([bytes.toString('latin1', 0, 4), bytes.toString('latin1', bytes.length - 4)]).toEqual(['PAR1', 'PAR1']);
  });

  it('accepts SHOW, DESCRIBE, EXPLAIN and EXISTS, and a semicolon at the end', async () => {
    for (const sql of ['SHOW TABLES', 'DESCRIBE TABLE trades', 'EXPLAIN SELECT 1', 'EXISTS TABLE trades', 'SELECT 1;'])
      expect([sql, (await post({ sql })).status]).toEqual([sql, 200]);
    api.clock.nowMs += 60_000;
  });

  it.each([
    ['INSERT INTO blocks (block_number) VALUES (1)', 164],
    ['CREATE TABLE x (a UInt8) ENGINE = Memory', 164],
    ['DROP VIEW trades', 164],
    ['SET max_execution_time = 0', 164],
    ['SYSTEM FLUSH LOGS', 164],
    ['KILL QUERY WHERE 1', 164],
    ['GRANT SELECT ON *.* TO analyst', 164],
    ["SELECT 1 INTO OUTFILE '/tmp/oddstream-sql-test'", 358],
    ["SELECT * FROM url('http://127.0.0.1:1/', 'LineAsString')", 497],
    ["SELECT * FROM file('/etc/passwd', 'LineAsString')", 497],
    ["SELECT file('/etc/passwd')", 497],
    ['SELECT * FROM system.processes', 497],
    ['SELECT * FROM system.query_log', 497],
    ['SELECT * FROM test.blocks', 497],
    ['SELECT 1; SELECT 2', 62],
    ['SELECT 1 SETTINGS max_execution_time = 3600', 452],
  ])('rejects %s', async (sql, code) => {
    expect(await errorOf(sql)).toMatchObject({ status: 400, code, error: expect.stringMatching(/\(\w+\)$/) });
  });

  it("passes on the engine's message with its position, without the server's version", async () => {
    api.clock.nowMs += 60_000;
    const syntax = await errorOf('SELECT day\nFRM trades');
    expect(syntax).toMatchObject({ status: 400, code: 62 });
    expect(syntax.error).toMatch(/line 2, col \d+/);
    const unknown = await errorOf('SELECT dya FROM volume_days');
    expect(unknown).toMatchObject({ status: 400, code: 47, error: expect.stringContaining('dya') });
    for (const { error } of [syntax, unknown]) expect(error).not.toMatch(/version|formatQuery|\/tmp\//);
  });

  it('needs a key of a paid plan', async () => {
    expect((await post({ sql: 'SELECT 1' }, null)).status).toBe(401);
    const free = await post({ sql: 'SELECT 1' }, await api.key('free'));
    expect([free.status, free.body]).toMatchObject([402, { tier: 'free', upgrade_url: expect.any(String) }]);
    expect((await post({ sql: 'SELECT 1' }, await api.key('starter'))).status).toBe(200);
  });

  it.each<[string, unknown, RegExp]>([
    ['without sql', {}, /^Invalid sql/],
    ['with blanks', { sql: '  \n ' }, /^Invalid sql/],
    ['with a number', { sql: 5 }, /^Invalid sql/],
    ['with a long statement', { sql: `SELECT ${'1+'.repeat(20_000)}1` }, /^Invalid sql. Max 32768 characters/],
    ['with an unknown format', { sql: 'SELECT 1', format: 'html' }, /^Invalid format. Use: json, csv, parquet/],
    ['with too few rows', { sql: 'SELECT 1', max_rows: 0 }, /^Invalid max_rows. Use 1 to 10000/],
    ['with an unknown field', { sql: 'SELECT 1', maxrows: 5 }, /maxrows/],
    ['that is a list', [], /^Request body must be a JSON object/],
    ['that is no JSON', '{', /not valid JSON/],
    ['with FORMAT', { sql: 'SELECT 1 FORMAT CSV' }, /^Remove the FORMAT clause/],
  ])('rejects a body %s', async (_what, body, text) => {
    api.clock.nowMs += 5_000;
    const reply = await post(body);
    expect([reply.status, (reply.body as { error: string }).error]).toEqual([400, expect.stringMatching(text)]);
  });

  it('rejects bodies that are too large or not JSON, and requests of other sites', async () => {
    expect((await post({ sql: 'x'.repeat(200_000) })).status).toBe(413);
    expect((await post({ sql: 'SELECT 1' }, key, { 'content-type': 'text/plain' })).status).toBe(415);
    expect((await post({ sql: 'SELECT 1' }, key, { origin: 'https://page.example' })).status).toBe(403);
  });

  it('ends statements that exceed time, rows or memory with an error that names the limit', async () => {
    api.clock.nowMs += 60_000;
    const code = async (sql: string, format = 'csv') => {
      const { status, body } = await post({ sql, format });
      return [status, (body as { code?: number }).code];
    };
    expect(await code(`${HEAVY} SETTINGS max_execution_time = 1`)).toEqual([400, 159]);
    expect(await code('SELECT number FROM numbers(1000001)')).toEqual([400, 396]);
    expect(await code('SELECT length(groupArray(number)) FROM numbers(100000000)')).toEqual([400, 241]);
    expect(await heavyCount()).toBe(0);
  });

  it('kills a statement when its client closes the connection, and frees its permit', async () => {
    const own = await api.key('growth');
    const sent = startStatement(HEAVY.replace('= 1', '= 2'), own);
    await expect.poll(heavyCount, { timeout: 10_000 }).toBe(1);
    sent.destroy();
    // Sooner than its time limit.
    await expect.poll(heavyCount, { timeout: 10_000 }).toBe(0);
    expect((await post({ sql: 'SELECT 1' }, own)).status).toBe(200);
  });

  it('runs one statement at once per account; the next ones wait, other accounts do not', async () => {
    const own = await api.key('growth');
    const sent = startStatement(HEAVY.replace('= 1', '= 3'), own);
    await expect.poll(heavyCount, { timeout: 10_000 }).toBe(1);
    let second: number | undefined;
    const waiting = post({ sql: 'SELECT 1' }, own).then(({ status }) => {
      second = status;
    });
    expect((await post({ sql: 'SELECT 1' })).status).toBe(200);
    await pause(200);
    expect(second).toBeUndefined();
    sent.destroy();
    await waiting;
    expect(second).toBe(200);
  });

  it('allows 60 statements a minute per key', async () => {
    const own = await api.key('growth');
    for (let n = 0; n < 60; n += 1) expect((await post({ sql: 'SELECT 1' }, own)).status).toBe(200);
    const limited = await post({ sql: 'SELECT 1' }, own);
    expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '60']);
    api.clock.nowMs += 60_000;
  });

  it('meters statements like other requests', async () => {
    const from = api.metered.length;
    await post({ sql: 'SELECT 1' });
    await post({ sql: 'SELEC' });
    await expect.poll(() => api.metered.length - from).toBe(2);
    expect(api.metered.slice(from).map(({ route, status, billable }) => [route, status, billable])).toEqual([
      ['/v1/sql', 200, true],
      ['/v1/sql', 400, true],
    ]);
  });

  it('returns 503 without internals when the SQL service does not accept it or is unreachable', async () => {
    const { createAnalystQueries } = await import('../../api/sql/analyst-queries.js');
    const limits = { executionS: 3, resultRows: 10, resultBytes: 1_000_000 };
    const connection = { url: api.engine.url, user: 'analyst', password: 'wrong', database: 'market', limits };
    const run = (other: Partial<typeof connection>) =>
      createAnalystQueries({ ...connection, ...other }, { logger: silentLogger() }).run(
        { accountId: 'a', sql: 'SELECT 1', format: 'json', maxRows: 1 },
        new AbortController().signal,
      );
    await expect(run({})).rejects.toMatchObject({ failure: { kind: 'upstream' } });
    await expect(run({ url: 'http://127.0.0.1:1' })).rejects.toMatchObject({ name: 'RetryableError' });
  });
});
