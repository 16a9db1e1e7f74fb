import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestClickHouse, type TestClickHouse } from '../support/clickhouse.js';
import { openRoutes } from './documented.js';

const OWNER = { user: 'oddstream', password: 'a-password-of-this-test' };
/** HTTP status and first line; an exception's code is in a header. */
async function query(url: string, init: RequestInit = {}) {
  const response = await fetch(url, init);
  const code = response.headers.get('x-clickhouse-exception-code');
  return { status: response.status, code, text: (await response.text()).trim() };
}

describe('the SQL port without analysts', () => {
  let clickhouse: TestClickHouse;
  beforeAll(async () => {
    clickhouse = await startTestClickHouse({ owners: [OWNER] });
  });
  afterAll(() => clickhouse.stop());

  const listed = openRoutes.filter((route) => route.port === 'sql');

  it('has the paths of docs/SECURITY.md, and /query', () => {
    const source = readFileSync(join(import.meta.dirname, '../../infra/clickhouse/embedded/server.ts'), 'utf8');
    const paths = [...source.matchAll(/pathname [!=]== '([^']+)'/g)].map((match) => match[1] as string);
    // No other code distinguishes paths.
    expect(source.match(/pathname/g)?.length).toBe(paths.length + (source.match(/\$\{url\.pathname\}/g)?.length ?? 0));
    expect([...new Set(paths)].sort()).toEqual([...listed.map((route) => route.path), '/query'].sort());
  });

  it('shows a client without a user only that it is running', async () => {
    for (const { path } of listed)
      expect(await query(clickhouse.url + path)).toMatchObject({ status: 200, text: 'Ok.' });
    for (const path of ['/play', '/dashboard', '/js/x.js', '/binary', '/merges', '/metrics', '/query/x', '/?x'])
      expect((await query(clickhouse.url + path)).text, path).toMatch(/^(There is no handle|Ok\.$)/);
  });

  it('runs no statement without a user, on any path, by any method', async () => {
    const statement = 'SELECT 1';
    const encoded = `query=${encodeURIComponent(statement)}`;
    for (const path of ['/', '/query'])
      for (const [url, init] of [
        [`${path}?${encoded}`, {}],
        [path, { method: 'POST', body: statement }],
        [`${path}?user=default`, { method: 'POST', body: statement }],
        [`${path}?user=${OWNER.user}`, { method: 'POST', body: statement }],
        [`${path}?user=analyst`, { method: 'POST', body: statement }],
        [path, { method: 'POST', body: statement, headers: { 'x-clickhouse-user': OWNER.user } }],
      ] as const)
        expect((await query(clickhouse.url + url, init)).code, url).toBe('516');
    const headers = { 'x-clickhouse-user': OWNER.user, 'x-clickhouse-key': OWNER.password };
    expect(await query(clickhouse.url, { method: 'POST', body: statement, headers })).toMatchObject({ text: '1' });
    for (const method of ['PUT', 'PATCH', 'DELETE', 'OPTIONS'])
      expect((await query(`${clickhouse.url}/?${encoded}`, { method, headers })).status, method).toBe(405);
  });
});
