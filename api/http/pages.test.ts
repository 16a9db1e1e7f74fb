import express from 'express';
import { expect, it } from 'vitest';
import type { SocketAddress } from '../../pages/content-security-policy.js';
import { mountPages } from './pages.js';
import { listen } from './server.js';

const openApi = { info: { title: 'Test', version: '1' }, paths: {} };

const marketCard = async (id: string) =>
  id === 'snow' || id === 'bare'
    ? { title: 'Snow & $& "ice"?', image: id === 'snow' ? 'https://pictures.example/snow.png?a=1&b=2' : null }
    : null;

const appWithPages = (options: { socket?: SocketAddress; hasBilling?: boolean }) => {
  const { socket = { url: null, port: 8081 }, hasBilling = false } = options;
  const app = express();
  const dashboard = { hasProvider: false, hasBilling };
  const baseUrl = 'http://api.test';
  mountPages(app, { openApi, asyncApi: {}, baseUrl, socket, dashboard, testPayments: false, marketCard });
  return app;
};

const connectSourceOf = async (
  socket: SocketAddress,
  path: string,
  host = '127.0.0.1',
): Promise<string | undefined> => {
  const app = appWithPages({ socket });
  const server = await listen(app, { host, port: 0 });
  const response = await fetch(`http://${host.includes(':') ? `[${host}]` : host}:${server.port}${path}`);
  await server.close(500);
  expect(response.status).toBe(200);
  return /connect-src ([^;]+)/.exec(response.headers.get('content-security-policy') ?? '')?.[1];
};

it.each(['/app', '/console'])('policy of %s allows requests to this server and the event socket only', async (page) => {
  const outside = { url: 'wss://events.example/ws', port: 8081 };
  expect(await connectSourceOf(outside, page)).toBe("'self' wss://events.example");
  expect(await connectSourceOf({ url: null, port: 9001 }, page)).toBe("'self' ws://127.0.0.1:9001");
  expect(await connectSourceOf(outside, '/docs')).toBe("'self'");
});

it.each(['/app', '/console'])('policy of %s names only the scheme for a socket at an IPv6 address', async (page) => {
  expect(await connectSourceOf({ url: 'wss://[2001:db8::1]:9001/ws', port: 8081 }, page)).toBe("'self' wss:");
  expect(await connectSourceOf({ url: null, port: 9001 }, page, '::1')).toBe("'self' ws:");
});

it.each([
  [true, ['/', '/docs'], true],
  [false, ['/', '/docs'], false],
])('with billing (%s) the pages %j show prices (%s)', async (hasBilling, paths, hasPrices) => {
  const app = appWithPages({ hasBilling });
  const server = await listen(app, { host: '127.0.0.1', port: 0 });
  try {
    for (const path of paths) {
      const page = await (
        await fetch(`http://127.0.0.1:${server.port}${path}`, { headers: { accept: 'text/html' } })
      ).text();
      expect(page).toContain('Growth');
      expect([path, page.includes('200 USD')]).toEqual([path, hasPrices]);
    }
    const account = await (await fetch(`http://127.0.0.1:${server.port}/dashboard`)).text();
    expect(account.includes('packages-panel')).toBe(hasPrices);
  } finally {
    await server.close(500);
  }
});

it('the page of a market has its title and picture where links are previewed, escaped', async () => {
  const app = appWithPages({});
  const server = await listen(app, { host: '127.0.0.1', port: 0 });
  const pageOf = async (id: string) => {
    const response = await fetch(`http://127.0.0.1:${server.port}/app/market/${id}`);
    expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    return response.text();
  };
  try {
    const known = await pageOf('snow');
    expect(known).toContain('<title>Snow &#38; $&#38; &#34;ice&#34;? · Oddstream</title>');
    expect(known).toContain('<meta property="og:title" content="Snow &#38; $&#38; &#34;ice&#34;? · Oddstream">');
    const pictures = (page: string) =>
      [...page.matchAll(/<meta property="og:image" content="([^"]+)">/g)].map((m) => m[1]);
    expect(pictures(known)).toEqual(['https://pictures.example/snow.png?a=1&#38;b=2']);
    expect(pictures(await pageOf('bare'))).toEqual(['http://api.test/card.png']);
    const unknown = await pageOf('other');
    expect(pictures(unknown)).toEqual(['http://api.test/card.png']);
    const picture = await fetch(`http://127.0.0.1:${server.port}/card.png`);
    expect([picture.status, picture.headers.get('content-type')]).toEqual([200, 'image/png']);
    expect(unknown).toContain('<meta property="og:title" content="Market · Oddstream">');
    expect(unknown).toMatch(/<meta name="description" content="[^"]{40,}">/);
  } finally {
    await server.close(500);
  }
});
