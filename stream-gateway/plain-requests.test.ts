import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { gateway } from './test-gateway.fixture.js';

describe('plain HTTP requests to the gateway', () => {
  it('tell load balancers at /healthz whether it has loaded, without a key', async () => {
    let accepts = false;
    const { server } = await gateway({ accepts: () => accepts });
    const health = async ({ port }: typeof server) => (await fetch(`http://127.0.0.1:${port}/healthz`)).status;
    expect(await health(server)).toBe(503);
    accepts = true;
    expect(await health(server)).toBe(200);
    expect(await health((await gateway({ ready: () => false })).server)).toBe(503);
  });

  it('with HEAD are answered as with GET, without a body', async () => {
    const { server } = await gateway({ accepts: () => true });
    const socket = connect(server.port, '127.0.0.1');
    const paths = ['/healthz', '/ws', '/elsewhere'];
    socket.write(paths.map((path) => `HEAD ${path} HTTP/1.1\r\nHost: gateway\r\n\r\n`).join(''));
    let received = '';
    for await (const chunk of socket) {
      received += chunk;
      if (received.split('\r\n\r\n').length > paths.length) break;
    }
    const responses = received.split('\r\n\r\n');
    expect(responses.map((text) => text.split('\r\n')[0])).toEqual([
      'HTTP/1.1 200 OK',
      'HTTP/1.1 426 Upgrade Required',
      'HTTP/1.1 404 Not Found',
      '',
    ]);
    expect(responses[0]).toMatch(/content-length: 2$/im);
  });

  it('for the socket are answered with 426 and a hint to use a WebSocket client', async () => {
    const { server } = await gateway();
    const response = await fetch(`http://127.0.0.1:${server.port}/ws?key=big`);
    expect(response.status).toBe(426);
    expect(response.headers.get('upgrade')).toBe('websocket');
    expect(await response.json()).toEqual({
      error: 'This is a WebSocket: connect to /ws?key=<API_KEY> with a WebSocket client.',
    });
  });
});
