import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestClickHouse, type TestClickHouse } from '../support/clickhouse.js';

const INSERT_BYTES = 1_000_000;
let clickhouse: TestClickHouse;
beforeAll(async () => {
  clickhouse = await startTestClickHouse({ bounds: { headersMs: 300, requestMs: 600, insertBytes: INSERT_BYTES } });
  await clickhouse.client.command('CREATE TABLE lines (line String) ENGINE = MergeTree ORDER BY tuple()');
});
afterAll(() => clickhouse.stop());

const INSERT = `/?query=${encodeURIComponent('INSERT INTO test.lines FORMAT LineAsString')}`;
const count = async () => (await clickhouse.client.query<{ n: string }>('SELECT count() AS n FROM lines'))[0]?.n;
const spoolFiles = () =>
  readdirSync(join(clickhouse.dataDir, 'clickhouse-spool')).filter((name) => !/^out-/.test(name));

/** Writes each piece after a pause, and gives all that came back until the connection ended. */
async function drip(pieces: readonly string[], pauseMs: number): Promise<string> {
  const socket = connect(clickhouse.server.port, '127.0.0.1');
  let received = '';
  socket.on('error', () => undefined);
  socket.on('data', (data) => {
    received += data.toString();
  });
  const closed = once(socket, 'close');
  for (const piece of pieces) {
    if (socket.writable) socket.write(piece);
    await Promise.race([closed, new Promise((resolve) => setTimeout(resolve, pauseMs))]);
  }
  await closed;
  return received;
}

describe('the SQL port', () => {
  it.each([
    ['says nothing', ['']],
    ['does not end its headers', ['POST / HTTP/1.1\r\nHost: localhost\r\n', ...Array(20).fill('X-A: b\r\n')]],
  ])('ends a connection that %s', async (_what, pieces) => {
    expect(await drip(pieces, 100)).toMatch(/^HTTP\/1\.1 408 /);
  });

  it('ends an INSERT whose rows come too slowly, and keeps none of them', async () => {
    const head = `POST ${INSERT} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n`;
    const answer = await drip([head, ...Array(30).fill('a line\n')], 100);
    expect(answer).not.toMatch(/ 200 /);
    expect(await count()).toBe('0');
    await expect.poll(spoolFiles).toEqual([]);
  });

  it.each([
    ['as they are', (rows: Buffer) => ({ body: rows, headers: {} })],
    ['packed', (rows: Buffer) => ({ body: gzipSync(rows), headers: { 'content-encoding': 'gzip' } })],
  ])('rejects an INSERT above the byte limit, sent %s, and stores none of it', async (_how, pack) => {
    const line = `${'x'.repeat(99)}\n`;
    const send = (lines: number) =>
      fetch(clickhouse.url + INSERT, { method: 'POST', ...pack(Buffer.from(line.repeat(lines))) });
    const before = Number(await count());
    const rejected = await send(INSERT_BYTES / 100 + 5_000);
    expect([rejected.status, rejected.headers.get('x-clickhouse-exception-code')]).toEqual([413, '307']);
    expect(Number(await count())).toBe(before);
    expect((await send(INSERT_BYTES / 100 - 5_000)).status).toBe(200);
    expect(Number(await count())).toBe(before + INSERT_BYTES / 100 - 5_000);
    await expect.poll(spoolFiles).toEqual([]);
  });
});
