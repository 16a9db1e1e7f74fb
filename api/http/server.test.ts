import { once } from 'node:events';
import { connect } from 'node:net';
import express from 'express';
import { expect, it } from 'vitest';
import { listen } from './server.js';

it('listen: close() waits for running requests, accepts no new ones and disconnects hanging ones', async () => {
  const app = express();
  const respond: (() => void)[] = [];
  const entered: string[] = [];
  app.get('/slow', (_request, response) => {
    respond.push(() => response.send('done'));
    entered.push('slow');
  });
  app.get('/hangs', () => {
    entered.push('hangs');
  });
  const server = await listen(app, { host: '127.0.0.1', port: 0 });
  const url = `http://127.0.0.1:${server.port}`;
  const slow = fetch(`${url}/slow`).then((response) => response.text());
  const hanging = fetch(`${url}/hangs`).then(
    () => 'answered',
    () => 'cut',
  );
  await expect.poll(() => entered.length).toBe(2);
  const closed = server.close(300);
  await expect(fetch(`${url}/slow`)).rejects.toThrow();
  for (const send of respond) send();
  expect(await slow).toBe('done');
  await closed;
  expect(await hanging).toBe('cut');
});

/** Everything the server sends on a raw connection until it closes it. */
function raw(port: number, text: string, keepSending?: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    let responseText = '';
    const timer = keepSending === undefined ? undefined : setInterval(() => socket.write(keepSending), 20);
    socket.on('data', (data) => {
      responseText += data.toString();
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ECONNRESET' && error.code !== 'EPIPE') reject(error);
    });
    socket.on('close', () => {
      clearInterval(timer);
      resolve(responseText);
    });
    socket.write(text);
  });
}

const bodyOf = (responseText: string): unknown => JSON.parse(responseText.slice(responseText.indexOf('\r\n\r\n') + 4));

it('listen returns an error object for malformed HTTP and closes the connection', async () => {
  const timeouts = { headersMs: 100, requestMs: 200, stalledMs: 60_000 };
  const server = await listen(express(), { host: '127.0.0.1', port: 0, timeouts });
  try {
    const malformed = await raw(server.port, 'GET / HTTP/1.1\r\nBad Header\r\n\r\n');
    expect(malformed).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
    expect(bodyOf(malformed)).toEqual({ error: 'Malformed HTTP request.' });
    const big = await raw(server.port, `GET / HTTP/1.1\r\nHost: x\r\nX-Big: ${'a'.repeat(20_000)}\r\n\r\n`);
    expect(big).toMatch(/^HTTP\/1\.1 431 /);
    expect(bodyOf(big)).toEqual({ error: 'Request headers too large.' });
    const slow = await raw(server.port, 'GET / HTTP/1.1\r\nHost: x\r\n', 'X-More: 1\r\n');
    expect(slow).toMatch(/^HTTP\/1\.1 408 /);
    expect(bodyOf(slow)).toEqual({ error: 'Request took too long.' });
  } finally {
    await server.close(100);
  }
});

it('listen disconnects a client that does not read its response', async () => {
  const app = express();
  const responseText = Buffer.alloc(64 * 1024 * 1024);
  let closed = false;
  app.get('/', (_request, response) => {
    response.on('close', () => {
      closed = true;
    });
    response.send(responseText);
  });
  const timeouts = { headersMs: 5_000, requestMs: 5_000, stalledMs: 300 };
  const server = await listen(app, { host: '127.0.0.1', port: 0, timeouts });
  const socket = connect(server.port, '127.0.0.1');
  socket.on('error', () => undefined);
  try {
    socket.pause();
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await expect.poll(() => closed, { timeout: 5_000 }).toBe(true);
    const ended = once(socket, 'close');
    socket.resume();
    await ended;
    expect(socket.bytesRead).toBeLessThan(responseText.length);
  } finally {
    socket.destroy();
    await server.close(100);
  }
});
