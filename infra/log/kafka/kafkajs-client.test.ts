import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { silentLogger } from '../../telemetry/logger.js';
import { openBrokerClient } from './kafkajs-client.js';

const SASL_HANDSHAKE = 17;
const sockets = new Set<Socket>();
let stop: () => void = () => undefined;
afterEach(() => {
  for (const socket of sockets) socket.destroy();
  stop();
});

/** Response of SaslHandshake 1 that allows PLAIN. */
function handshakeResponse(correlationId: number): Buffer {
  const body = Buffer.alloc(4 + 2 + 4);
  body.writeInt32BE(correlationId, 0);
  body.writeInt32BE(1, 6);
  const mechanism = Buffer.from('\0\x05PLAIN', 'latin1');
  const size = Buffer.alloc(4);
  size.writeInt32BE(body.length + mechanism.length);
  return Buffer.concat([size, body, mechanism]);
}

/** A broker that allows PLAIN; `onAuthenticate` gets each request after the handshake. */
async function startBroker(onAuthenticate: (socket: Socket, request: Buffer) => void): Promise<number> {
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('data', (request) => {
      if (request.readInt16BE(4) === SASL_HANDSHAKE) socket.write(handshakeResponse(request.readInt32BE(8)));
      else onAuthenticate(socket, request);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  stop = () => server.close();
  return (server.address() as AddressInfo).port;
}
const security = { tls: false, sasl: { mechanism: 'plain', user: 'oddstream', password: 'secret' } } as const;
const open = (port: number) => openBrokerClient('127.0.0.1', port, { logger: silentLogger(), security });

it('openBrokerClient takes a broker that ends during an authentication as unreachable, to be tried again', async () => {
  const port = await startBroker((socket) => socket.destroy());
  await expect(open(port)).rejects.toMatchObject({ type: 'CONNECTION', retriable: true });
});

it('openBrokerClient does not try a rejected password again', async () => {
  const port = await startBroker((socket, request) => {
    // Correlation id, SASL_AUTHENTICATION_FAILED with a text, no bytes, no session lifetime.
    const text = Buffer.from('wrong password');
    const body = Buffer.alloc(4 + 2 + 2 + text.length + 4 + 8);
    body.writeInt32BE(request.readInt32BE(8), 0);
    body.writeInt16BE(58, 4);
    body.writeInt16BE(text.length, 6);
    text.copy(body, 8);
    const size = Buffer.alloc(4);
    size.writeInt32BE(body.length);
    socket.write(Buffer.concat([size, body]));
  });
  await expect(open(port)).rejects.toMatchObject({
    type: 'SASL_AUTHENTICATION_FAILED',
    retriable: false,
    message: expect.stringContaining('wrong password'),
  });
});
