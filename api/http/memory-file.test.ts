import { request } from 'node:http';
import type { AddressInfo, Server } from 'node:net';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import express from 'express';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createMemoryFile } from './memory-file.js';

const content = 'body { color: red }\n'.repeat(500);
let server: Server;
let port: number;
beforeAll(async () => {
  const app = express();
  app.get('/large.css', createMemoryFile({ content, type: 'text/css', maxAgeS: 60 }));
  app.get('/small.css', createMemoryFile({ content: 'a{}', type: 'text/css', maxAgeS: 0 }));
  await new Promise<void>((resolve) => {
    server = app.listen(0, '127.0.0.1', () => resolve());
  });
  port = (server.address() as AddressInfo).port;
});
afterAll(() => server.close());

const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  new Promise<{ status: number | undefined; headers: Record<string, unknown>; body: Buffer }>((resolve, reject) => {
    request({ host: '127.0.0.1', port, path, headers, method }, (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('end', () =>
        resolve({ status: response.statusCode, headers: response.headers, body: Buffer.concat(parts) }),
      );
    })
      .on('error', reject)
      .end();
  });

describe('createMemoryFile', () => {
  it('sends the file in the best encoding that the client accepts', async () => {
    const br = await get('/large.css', { 'accept-encoding': 'gzip, deflate, br' });
    expect([br.headers['content-encoding'], brotliDecompressSync(br.body).toString()]).toEqual(['br', content]);
    const gzip = await get('/large.css', { 'accept-encoding': 'gzip' });
    expect([gzip.headers['content-encoding'], gunzipSync(gzip.body).toString()]).toEqual(['gzip', content]);
    for (const headers of [{}, { 'accept-encoding': 'identity' }, { 'accept-encoding': 'br;q=0, gzip;q=0' }]) {
      const plain = await get('/large.css', headers as Record<string, string>);
      expect([plain.headers['content-encoding'], plain.body.toString()]).toEqual([undefined, content]);
    }
    expect(br.headers).toMatchObject({
      vary: 'accept-encoding',
      'content-type': 'text/css',
      'cache-control': 'public, max-age=60',
    });
  });

  it('does not compress a file that fits into a network packet', async () => {
    expect((await get('/small.css', { 'accept-encoding': 'br' })).body.toString()).toBe('a{}');
  });

  it('returns 304 for its ETag, 412 for another If-Match, and no body for HEAD', async () => {
    const { headers } = await get('/large.css', { 'accept-encoding': 'gzip' });
    const etag = String(headers.etag);
    const again = await get('/large.css', { 'accept-encoding': 'gzip', 'if-none-match': `"x", W/${etag}` });
    expect([again.status, again.body.length]).toEqual([304, 0]);
    expect((await get('/large.css', { 'if-none-match': etag })).status).toBe(200);
    const head = await get('/large.css', {}, 'HEAD');
    expect([head.status, head.headers['content-length'], head.body.length]).toEqual([200, String(content.length), 0]);
  });
});
