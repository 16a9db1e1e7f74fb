import uws, { type WebSocket as ServerSocket, type us_listen_socket } from 'uWebSockets.js';
import { once } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import { createLateUpgrades } from './late-upgrades.js';

const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0).reverse()) cleanup();
});

/** A server that upgrades 5 ms after the request and records its sockets and close codes. */
async function lateServer() {
  const app = uws.App();
  const late = await createLateUpgrades(app);
  const closed: number[] = [];
  const open: ServerSocket<object>[] = [];
  app.ws<object>('/ws', {
    idleTimeout: 0,
    upgrade(response, request, context) {
      const key = request.getHeader('sec-websocket-key');
      let disconnected = false;
      response.onAborted(() => {
        disconnected = true;
      });
      setTimeout(() => {
        if (!disconnected) late.run(response, () => response.upgrade({}, key, '', '', context));
      }, 5);
    },
    open: (socket) => {
      open.push(socket);
    },
    close: (_socket, code) => {
      closed.push(code);
    },
  });
  const token = await new Promise<us_listen_socket>((resolve, reject) => {
    app.listen('127.0.0.1', 0, (listening) => (listening ? resolve(listening) : reject(new Error('cannot listen'))));
  });
  cleanups.push(() => {
    late.close();
    app.close();
  });
  return { port: uws.us_socket_local_port(token), open, closed };
}

describe('late upgrades', () => {
  it('leave the socket open and usable', async () => {
    const server = await lateServer();
    const clients = await Promise.all(
      Array.from({ length: 200 }, async () => {
        const client = new WebSocket(`ws://127.0.0.1:${server.port}/ws`, { perMessageDeflate: false });
        cleanups.push(() => client.terminate());
        await once(client, 'open');
        return client;
      }),
    );
    const received = clients.map((client) => once(client, 'message'));
    for (const socket of server.open) socket.send('hello');
    for (const [message] of await Promise.all(received)) expect(String(message)).toBe('hello');
    expect(server.closed).toEqual([]);
  });
});
