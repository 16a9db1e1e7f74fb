import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { createClickHouse } from '../../infra/clickhouse/client.js';
import { RetryableError } from '../../infra/errors.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { createClickHouseTables } from './clickhouse-tables.js';

const sql = { text: 'SELECT 1', params: {} };

/** A database that answers everything like this; `null` never answers. */
async function against<T>(
  answer: { status: number; code: string; text: string } | null,
  work: (url: string) => Promise<T>,
) {
  const server = createServer((request, response) => {
    request.resume();
    if (answer === null) return;
    response.writeHead(answer.status, { 'x-clickhouse-exception-code': answer.code });
    response.end(answer.text);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    return await work(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}
const tablesAt = (url: string, queryTimeoutMs?: number) =>
  createClickHouseTables(
    createClickHouse({ url, user: 'default', password: '', database: 'd' }, { logger: silentLogger() }),
    queryTimeoutMs === undefined ? {} : { queryTimeoutMs },
  );

it('takes missing tables for trouble that passes, a bad statement for a bug', async () => {
  const missing = { status: 404, code: '60', text: 'Code: 60. DB::Exception: Unknown table. (UNKNOWN_TABLE)' };
  const wrong = { status: 400, code: '62', text: 'Code: 62. DB::Exception: Syntax error. (SYNTAX_ERROR)' };
  await against(missing, (url) => expect(tablesAt(url).rows(sql)).rejects.toThrow(RetryableError));
  await against(wrong, (url) => expect(tablesAt(url).rows(sql)).rejects.not.toThrow(RetryableError));
});

it('asks again a moment later where the engine had no room, and says so after the third time', async () => {
  const full = {
    status: 500,
    code: '241',
    text: 'Code: 241. DB::Exception: (total) memory limit exceeded. (MEMORY_LIMIT_EXCEEDED)',
  };
  const asked = async (times: number) => {
    let left = times;
    const server = createServer((request, response) => {
      request.resume();
      if (left-- <= 0) return response.end('{"one":1}\n');
      response.writeHead(full.status, { 'x-clickhouse-exception-code': full.code });
      return response.end(full.text);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      return await tablesAt(`http://127.0.0.1:${(server.address() as AddressInfo).port}`).rows(sql);
    } finally {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  };
  expect(await asked(2)).toEqual([{ one: 1 }]);
  await expect(asked(3)).rejects.toThrow(RetryableError);
});

it('gives up on a database that hangs or is not there', async () => {
  await against(null, (url) => expect(tablesAt(url, 50).rows(sql)).rejects.toThrow('No answer within 50 ms'));
  const gone = await against(null, async (url) => url);
  await expect(tablesAt(gone).rows(sql)).rejects.toThrow(RetryableError);
  expect(await tablesAt(gone).reachable()).toBe(false);
});
