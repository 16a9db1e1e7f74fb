import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createBoundedServer, type ServerBounds } from './bounded-server.js';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function serve(over: Partial<ServerBounds> = {}) {
  const timeouts = { headersMs: 5_000, requestMs: 5_000, stalledMs: 5_000 };
  const server = createBoundedServer((_request, response) => response.end('done'), {
    timeouts,
    maxConnections: 10,
    onConnectionRejected: () => undefined,
    maxUnreadBytes: 64 * 1024,
    ...over,
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const open = (): { socket: Socket; received: () => string } => {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    let text = '';
    socket.on('data', (data) => {
      text += data.toString();
    });
    socket.on('error', () => undefined);
    cleanups.push(() => socket.destroy());
    return { socket, received: () => text };
  };
  cleanups.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return open;
}

/** Resolves also after a reset, for which `once` would reject. */
const closeOf = (socket: Socket) => new Promise<void>((resolve) => socket.once('close', () => resolve()));

/** A response with one part of headers. */
function parsed(text: string) {
  const [head = '', body = ''] = text.split('\r\n\r\n');
  const [statusLine = '', ...lines] = head.split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  );
  return { statusLine, headers, body };
}

const POST = 'POST / HTTP/1.1\r\nHost: localhost\r\n';

describe('a bounded server', () => {
  it('keeps a connection with an unread request body up to the bound', async () => {
    const open = await serve();
    const { socket, received } = open();
    for (let n = 1; n <= 3; n += 1) {
      socket.write(`${POST}Content-Length: 50000\r\n\r\n${'x'.repeat(50_000)}`);
      await expect.poll(() => received().match(/done/g)?.length).toBe(n);
    }
    expect(socket.readyState).toBe('open');
  });

  it('ends a connection whose unread body is longer than the bound', async () => {
    const { socket, received } = (await serve())();
    const closed = closeOf(socket);
    socket.write(`${POST}Content-Length: 1000000\r\n\r\n`);
    await expect.poll(received).toContain('done');
    socket.write('x'.repeat(200_000));
    await closed;
  });

  it('closes connections above the bound at once, and accepts new ones when others end', async () => {
    let rejected = 0;
    const open = await serve({
      maxConnections: 2,
      onConnectionRejected: () => {
        rejected += 1;
      },
    });
    const connections = [open(), open()];
    for (const { socket } of connections) await once(socket, 'connect');
    for (const { socket, received } of connections) {
      socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
      await expect.poll(received).toContain('done');
    }
    const third = open();
    await closeOf(third.socket);
    expect([third.received(), rejected]).toEqual(['', 1]);
    const ended = once((connections[0] as (typeof connections)[0]).socket, 'close');
    connections[0]?.socket.end();
    await ended;
    await expect
      .poll(async () => {
        const next = open();
        next.socket.write('GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
        await closeOf(next.socket);
        return next.received();
      })
      .toContain('done');
  });

  const start = 'GET / HTTP/1.1\r\n';
  it.each([
    [
      'a URL beyond 16 KiB',
      `GET /${'a'.repeat(17_000)} HTTP/1.1\r\nHost: x\r\n\r\n`,
      431,
      'Request headers too large.',
    ],
    ['a malformed request line', 'GET\r\n\r\n', 400, 'Malformed HTTP request.'],
    ['an unknown method', 'BREW / HTTP/1.1\r\nHost: x\r\n\r\n', 400, 'Malformed HTTP request.'],
    ['a bad Content-Length', `${POST}Content-Length: 1x\r\n\r\n`, 400, 'Malformed HTTP request.'],
    ['HTTP/1.1 without Host', `${start}\r\n`, 400, 'The Host header is missing.'],
    [
      'HTTP/1.1 without Host, with a body',
      `POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}`,
      400,
      'The Host header is missing.',
    ],
    [
      'another expectation than 100-continue',
      `${POST}Expect: 200-foo\r\nContent-Length: 2\r\n\r\n`,
      417,
      'Unsupported Expect header. Use 100-continue.',
    ],
  ])('responds to %s with an error object and the fixed headers, and closes', async (_name, sent, status, error) => {
    const { socket, received } = (await serve())();
    const closed = closeOf(socket);
    socket.write(sent);
    await closed;
    const { statusLine, headers, body } = parsed(received());
    expect(statusLine).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(headers).toMatchObject({
      'x-request-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'same-origin',
      'content-type': 'application/json; charset=utf-8',
      'content-length': String(body.length),
      connection: 'close',
    });
    expect(JSON.parse(body)).toEqual({ error });
  });

  it.each([
    ['without Host', ''],
    ['with an unknown expectation', 'Host: x\r\nExpect: 200-foo\r\n'],
  ])('responds to a request %s with its own id', async (_name, lines) => {
    const { socket, received } = (await serve())();
    const closed = closeOf(socket);
    socket.write(`${start}X-Request-Id: trace-1.a_B\r\n${lines}\r\n`);
    await closed;
    expect(parsed(received()).headers['x-request-id']).toBe('trace-1.a_B');
  });

  it('lets a client with Expect: 100-continue send its body, and HTTP/1.0 leave out Host', async () => {
    const open = await serve();
    const { socket, received } = open();
    socket.write(`${POST}Expect: 100-continue\r\nContent-Length: 2\r\n\r\n`);
    await expect.poll(received).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\n/);
    socket.write('{}');
    await expect.poll(received).toMatch(/HTTP\/1\.1 200 OK[\s\S]*done$/);
    const old = open();
    const closed = closeOf(old.socket);
    old.socket.write('GET / HTTP/1.0\r\n\r\n');
    await closed;
    expect(old.received()).toMatch(/^HTTP\/1\.1 200 OK[\s\S]*done$/);
  });

  it('responds 408 to a client that connects and sends nothing', async () => {
    const { socket, received } = (await serve({ timeouts: { headersMs: 100, requestMs: 200, stalledMs: 60_000 } }))();
    await closeOf(socket);
    expect(received()).toMatch(/^HTTP\/1\.1 408 /);
  });
});
