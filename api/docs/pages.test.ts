import express from 'express';
import { expect, it } from 'vitest';
import { listen } from '../http/server.js';
import { mountPages, type SocketAddress } from './pages.js';

const connectsOf = async (socket: SocketAddress, path: string): Promise<string | undefined> => {
  const app = express();
  mountPages(app, { openApi: {}, asyncApi: {}, baseUrl: 'http://api.test', socket });
  const server = await listen(app, { host: '127.0.0.1', port: 0 });
  const answer = await fetch(`http://127.0.0.1:${server.port}${path}`);
  await server.close(500);
  expect(answer.status).toBe(200);
  return /connect-src ([^;]+)/.exec(answer.headers.get('content-security-policy') ?? '')?.[1];
};

it('lets the pages of /app reach this address and the event socket, nothing else', async () => {
  const outside = { url: 'wss://events.example/ws', port: 8081 };
  expect(await connectsOf(outside, '/app')).toBe("'self' wss://events.example");
  expect(await connectsOf({ url: null, port: 9001 }, '/app/wallet/0x1')).toBe("'self' ws://127.0.0.1:9001");
  expect(await connectsOf(outside, '/docs')).toBe("'self'");
});
