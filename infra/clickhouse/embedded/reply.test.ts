import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { expect, it } from 'vitest';
import { createReply } from './reply.js';

it('a client that does not read the last bytes is disconnected after the bound, and the request ends', async () => {
  let ended: (gone: boolean) => void = () => undefined;
  const end = new Promise<boolean>((resolve) => {
    ended = resolve;
  });
  const server = createServer(async (_request, response) => {
    const reply = createReply(response, { version: '1', displayName: 'test', sendTimeoutMs: 200 });
    reply.start({ contentType: 'text/plain', queryId: 'q', format: 'TabSeparated' } as never);
    // More than the buffers of both sockets hold.
    await reply.end(Buffer.alloc(64 * 1024 * 1024));
    ended(reply.clientGone);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.pause();
  socket.on('error', () => undefined);
  socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  expect(await end).toBe(true);
  socket.destroy();
  server.close();
});
