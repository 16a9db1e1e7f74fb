import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { createClickHouse } from '../../infra/clickhouse/client.js';
import { RetryableError } from '../../infra/errors.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { createClickHouseTables } from './clickhouse-tables.js';

const sql = { text: 'SELECT 1', params: {} };

/** Starts a database that sends this response to every request; `null` never responds. */
async function against<T>(
  reply: { status: number; code: string; text: string } | null,
  work: (url: string) => Promise<T>,
) {
  const server = createServer((request, response) => {
    request.resume();
    if (reply === null) return;
    response.writeHead(reply.status, { 'x-clickhouse-exception-code': reply.code });
    response.end(reply.text);
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

it('createClickHouseTables treats missing tables as retryable and a bad statement as a bug', async () => {
  const missing = { status: 404, code: '60', text: 'Code: 60. DB::Exception: Unknown table. (UNKNOWN_TABLE)' };
  const wrong = { status: 400, code: '62', text: 'Code: 62. DB::Exception: Syntax error. (SYNTAX_ERROR)' };
  await against(missing, (url) => expect(tablesAt(url).rows(sql)).rejects.toThrow(RetryableError));
  await against(wrong, (url) => expect(tablesAt(url).rows(sql)).rejects.not.toThrow(RetryableError));
});

it('createClickHouseTables retries a statement after a memory limit and fails after the third attempt', async () => {
  const full = {
    status: 500,
    code: '241',
    text: 'Code: 241. DB::Exception: (total) memory limit exceeded. (MEMORY_LIMIT_EXCEEDED)',
  };
  const rowsAfterErrors = async (times: number) => {
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
  expect(await rowsAfterErrors(2)).toEqual([{ one: 1 }]);
  await expect(rowsAfterErrors(3)).rejects.toThrow(RetryableError);
});

it('createClickHouseTables rejects with RetryableError when the database hangs or is unreachable', async () => {
  await against(null, (url) => expect(tablesAt(url, 50).rows(sql)).rejects.toThrow('No response within 50 ms'));
  const closedUrl = await against(null, async (url) => url);
  await expect(tablesAt(closedUrl).rows(sql)).rejects.toThrow(RetryableError);
  expect(await tablesAt(closedUrl).reachable()).toBe(false);
});
