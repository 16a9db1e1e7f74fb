import express from 'express';
import { expect, it } from 'vitest';
import { listen } from '../http/server.js';
import { mountPages, type SocketAddress } from './pages.js';

const connectSourceOf = async (
  socket: SocketAddress,
  path: string,
  host = '127.0.0.1',
): Promise<string | undefined> => {
  const app = express();
  mountPages(app, { openApi: {}, asyncApi: {}, baseUrl: 'http://api.test', socket });
  const server = await listen(app, { host, port: 0 });
  const answer = await fetch(`http://${host.includes(':') ? `[${host}]` : host}:${server.port}${path}`);
  await server.close(500);
  expect(answer.status).toBe(200);
  return /connect-src ([^;]+)/.exec(answer.headers.get('content-security-policy') ?? '')?.[1];
};

it.each(['/app', '/console'])('lets %s reach this address and the event socket, nothing else', async (page) => {
  const outside = { url: 'wss://events.example/ws', port: 8081 };
  expect(await connectSourceOf(outside, page)).toBe("'self' wss://events.example");
  expect(await connectSourceOf({ url: null, port: 9001 }, page)).toBe("'self' ws://127.0.0.1:9001");
  expect(await connectSourceOf(outside, '/docs')).toBe("'self'");
});

it.each(['/app', '/console'])('names only the scheme to %s where the socket has an IPv6 address', async (page) => {
  expect(await connectSourceOf({ url: 'wss://[2001:db8::1]:9001/ws', port: 8081 }, page)).toBe("'self' wss:");
  expect(await connectSourceOf({ url: null, port: 9001 }, page, '::1')).toBe("'self' ws:");
});
