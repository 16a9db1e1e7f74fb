import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { startTestGateway, streamEvent } from './testing.js';

const cleanups: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** A short text frame or a close frame, masked with zeros. */
function frame(opcode: number, payload: Buffer): Buffer {
  const length =
    payload.length < 126 ? [0x80 | payload.length] : [0x80 | 126, payload.length >> 8, payload.length & 255];
  return Buffer.concat([Buffer.from([0x80 | opcode, ...length, 0, 0, 0, 0]), payload]);
}
const textFrame = (message: object) => frame(1, Buffer.from(JSON.stringify(message)));
const CLOSE_FRAME = frame(8, Buffer.from([1000 >> 8, 1000 & 255]));

/** A client on a plain TCP connection that reads only what `read` requests. */
async function rawClient(server: { port: number }) {
  const socket: Socket = connect(server.port, '127.0.0.1');
  cleanups.push(() => {
    socket.destroy();
  });
  socket.on('error', () => undefined);
  socket.write(
    'GET /ws?key=big HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
  );
  await once(socket, 'data');
  socket.pause();
  return {
    socket,
    /** Reads about `bytes`, then nothing. */
    async read(bytes: number): Promise<void> {
      const enough = socket.bytesRead + bytes;
      const pauseAtEnough = () => {
        if (socket.bytesRead >= enough) socket.pause();
      };
      socket.on('data', pauseAtEnough).resume();
      await once(socket, 'pause');
      socket.off('data', pauseAtEnough);
    },
    /** Reads everything until the connection ends. Returns the bytes of the connection. */
    async readAll(): Promise<number> {
      const closed = once(socket, 'close');
      socket.on('data', () => undefined).resume();
      await closed;
      return socket.bytesRead;
    },
  };
}
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** The kernel's buffers of one loopback connection are smaller. */
const SNAPSHOT_BYTES = 30_000_000;
const READ_BYTES = 3_000_000;

async function gatewayWithSnapshot(limits: Parameters<typeof startTestGateway>[0] = {}) {
  const started = await startTestGateway(limits);
  cleanups.push(() => started.server.close());
  const data = 'x'.repeat(1_000_000);
  for (let seq = 1; seq <= SNAPSHOT_BYTES / data.length; seq++)
    started.load(streamEvent(seq, { frame: JSON.stringify({ type: 'trade', seq, data }) }));
  return started;
}
const SUBSCRIBE = textFrame({ action: 'subscribe', type: 'trades', filters: { snapshot_count: 500 } });

describe('bytes that a client leaves unread', () => {
  it('are dropped some seconds after its close frame, also if it has read some of them since', async () => {
    const started = await gatewayWithSnapshot({ limits: { idleTimeoutS: 8 } });
    const client = await rawClient(started.server);
    client.socket.write(SUBSCRIBE);
    await expect.poll(() => started.metric('gateway_buffered_bytes')).toBeGreaterThan(SNAPSHOT_BYTES / 2);
    client.socket.write(CLOSE_FRAME);
    await expect.poll(() => started.server.connections()).toBe(0);
    await client.read(READ_BYTES);
    await sleep(17_000);
    expect(await client.readAll()).toBeLessThan(SNAPSHOT_BYTES);
  }, 40_000);
});
