import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { createClient } from '@clickhouse/client';
import { beforeAll, describe, expect, it } from 'vitest';
import { type ExampleQueryResult, sqlDocument } from '../../processors/public-views/document.js';
import { publicViews } from '../../processors/public-views/views.js';
import { exampleQueries } from '../../schemas/public-views/example-queries.js';
import { whyNoCurl } from '../support/curl.js';
import type { Product } from '../support/product.js';
import { pythonWith, whyNoPython } from '../support/python.js';

interface Result {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly (string | null)[])[];
}

const noCurl = whyNoCurl();
const noPython = await whyNoPython('clickhouse-connect');
const samples = publicViews.map(({ name, key }) => `SELECT * FROM ${name} ORDER BY ${key.join(', ')} LIMIT 1`);
/** Views without rows after the recorded history: books come with the live tail. */
const emptyViews: ReadonlySet<string> = new Set(['order_books']);

/** A query as a client without a user, which is the analyst. */
async function runQuery(clickhouse: string, sql: string): Promise<Result> {
  const response = await fetch(`${clickhouse}/?default_format=JSONCompactStringsEachRowWithNames`, {
    method: 'POST',
    body: sql,
  });
  const text = await response.text();
  expect(response.status, text).toBe(200);
  const [columns = [], ...rows] = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as string[]);
  // This format writes NULL as its sign.
  return { columns, rows: rows.map((row) => row.map((value) => (value === 'ᴺᵁᴸᴸ' ? null : value))) };
}

/** docs/SQL.md and the clients that it names, on the recorded history. */
export function describeDocument(opened: () => Product): void {
  let product: Product;
  let queryResults: readonly ExampleQueryResult[];
  beforeAll(async () => {
    product = opened();
    queryResults = await Promise.all(
      exampleQueries.map(async (question) => ({ ...question, ...(await runQuery(product.clickhouse, question.sql)) })),
    );
  });

  describe('docs/SQL.md', () => {
    it('is what the views and the worked questions make of the recorded history', async () => {
      expect(exampleQueries).toHaveLength(20);
      for (const { title, rows } of queryResults) expect(rows.length, title).toBeGreaterThan(0);
      // `npm run docs:sql` writes it.
      await expect(sqlDocument(publicViews, queryResults)).toMatchFileSnapshot('../../docs/SQL.md');
    });

    it('is linked from the README', () => {
      expect(readFileSync(resolve('README.md'), 'utf8')).toContain('(docs/SQL.md)');
    });
  });

  describe('clients of ClickHouse, as the analyst', () => {
    it('the official JavaScript client runs every worked question, and SELECT * of every view', async () => {
      const client = createClient({ url: product.clickhouse, database: 'market' });
      try {
        for (const { sql, columns, rows } of queryResults) {
          const result = await client.query({ query: sql, format: 'JSONCompactStringsEachRowWithNames' });
          const [names, ...values] = await result.json<string[]>();
          expect(names, sql).toEqual(columns);
          expect(values, sql).toEqual(rows);
        }
        for (const [i, query] of samples.entries()) {
          const [row] = await (await client.query({ query, format: 'JSONEachRow' })).json<Record<string, unknown>>();
          if (row === undefined && emptyViews.has(publicViews[i]?.name ?? '')) continue;
          expect(Object.keys(row ?? {}).length, query).toBeGreaterThan(2);
          // A number would have lost digits.
          if (row?.token_id !== undefined) expect(row.token_id, query).toMatch(/^\d{70,78}$/);
        }
      } finally {
        await client.close();
      }
    });

    it.skipIf(noPython !== null)(
      `clickhouse-connect runs every worked question, and SELECT * of every view${noPython === null ? '' : ` (not run: ${noPython})`}`,
      async () => {
        const programs = await pythonWith('clickhouse-connect', resolve('tests/public-views/requirements.txt'));
        const { hostname, port } = new URL(product.clickhouse);
        const statements = [...queryResults.map(({ sql }) => sql), ...samples];
        const running = promisify(execFile)(join(programs, 'python'), [resolve('tests/public-views/connect.py')], {
          maxBuffer: 10_000_000,
        });
        running.child.stdin?.end(JSON.stringify({ host: hostname, port: Number(port), statements }));
        const results = JSON.parse((await running).stdout) as Result[];
        const [, code = ''] = /^```python\n(.*?)^```$/ms.exec(readFileSync(resolve('docs/SQL.md'), 'utf8')) ?? [];
        const printing = `${code.replace("host='127.0.0.1', port=8123", `host='${hostname}', port=${port}`)}print(len(rows))`;
        const shown = await promisify(execFile)(join(programs, 'python'), ['-c', printing]);
        expect(Number(shown.stdout)).toBe(queryResults[0]?.rows.length);
        expect(results).toHaveLength(statements.length);
        queryResults.forEach(({ sql, columns, rows }, i) => {
          expect(results[i]?.columns, sql).toEqual(columns);
          expect(results[i]?.rows, sql).toEqual(rows.map((row) => row.map(asPython)));
        });
        for (const [i, { name }] of publicViews.entries()) {
          // The recording has no trades of some kinds, but every other view has rows.
          expect(results[queryResults.length + i]?.rows.length, name).toBe(emptyViews.has(name) ? 0 : 1);
        }
      },
      180_000,
    );

    it.skipIf(noCurl !== null)(
      `curl runs every worked question${noCurl === null ? '' : ` (not run: ${noCurl})`}`,
      async () => {
        for (const { sql, rows } of queryResults) {
          const { stdout } = await promisify(execFile)('curl', [
            '-sS',
            '--fail-with-body',
            product.clickhouse,
            '-d',
            sql,
          ]);
          const values = stdout
            .trimEnd()
            .split('\n')
            .map((line) => line.split('\t'));
          expect(values, sql).toEqual(rows.map((row) => row.map((value) => value ?? '\\N')));
        }
      },
    );
  });
}

/** A DateTime has no fraction in ClickHouse's text, a datetime in Python's always has. */
const asPython = (value: string | null): string | null =>
  value !== null && /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/.test(value) ? `${value}.000` : value;
