import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { plans } from '../schemas/plans.js';
import type { GatewayLimits } from './gateway-limits.js';
import { bookRecord, startTestOrderBook } from './order-book/testing.js';
import { connectTestClient, startTestGateway, streamEvent } from './testing.js';

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
    /** Subscribes with a snapshot and waits until most of it is buffered. */
    async leaveUnread(started: Awaited<ReturnType<typeof startTestGateway>>): Promise<void> {
      await expect.poll(() => started.metric('gateway_buffered_bytes')).toBe(0);
      socket.write(frame(1, Buffer.from(JSON.stringify(SUBSCRIBE))));
      await expect.poll(() => started.metric('gateway_buffered_bytes')).toBeGreaterThan(SNAPSHOT_BYTES / 2);
    },
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

async function gatewayWithSnapshot(over: Parameters<typeof startTestGateway>[0]) {
  const started = await startTestGateway(over);
  cleanups.push(() => started.server.close());
  const data = 'x'.repeat(1_000_000);
  for (let seq = 1; seq <= SNAPSHOT_BYTES / data.length; seq++)
    started.load(streamEvent(seq, { frame: JSON.stringify({ type: 'trade', seq, data }) }));
  return started;
}
const SUBSCRIBE = { action: 'subscribe', type: 'trades', filters: { snapshot_count: 500 } };

/** A gateway whose only key can be revoked. */
async function revocableGateway(limits: Partial<GatewayLimits> = {}) {
  let revoked = false;
  let releases = 0;
  const permit = {
    onSessionTimeExhausted: () => undefined,
    onExcess: () => undefined,
    setTerms: () => undefined,
    release: () => void releases++,
  };
  const started = await gatewayWithSnapshot({
    admission: { admit: async () => ({ status: 'ok', permit }) },
    termsOfKey: () => (revoked ? null : plans.enterprise),
    limits: { tickMs: 20, ...limits },
  });
  return {
    started,
    revoke() {
      revoked = true;
    },
    released: () => releases,
  };
}

describe('bytes that a client leaves unread', () => {
  it('when it closes its connection are dropped some seconds later, also if it has read some of them since', async () => {
    const started = await gatewayWithSnapshot({ limits: { idleTimeoutS: 8 } });
    const client = await rawClient(started.server);
    await client.leaveUnread(started);
    client.socket.write(CLOSE_FRAME);
    await expect.poll(started.server.connections).toBe(0);
    await client.read(READ_BYTES);
    await sleep(17_000);
    expect(await client.readAll()).toBeLessThan(SNAPSHOT_BYTES);
  });

  it('when it closes its connection are dropped at once beyond the bound of such bytes', async () => {
    const started = await gatewayWithSnapshot({ limits: { maxUnreadBytes: 0.9 * SNAPSHOT_BYTES } });
    const [first, second] = [await rawClient(started.server), await rawClient(started.server)];
    for (const client of [first, second]) {
      await client.leaveUnread(started);
      // A code that is not allowed: the library reports such a close like that of a lost connection.
      client.socket.write(client === first ? CLOSE_FRAME : frame(8, Buffer.from([1006 >> 8, 1006 & 255])));
      await expect.poll(started.server.connections).toBe(client === first ? 1 : 0);
    }
    expect(await second.readAll()).toBeLessThan(SNAPSHOT_BYTES / 2);
    expect(await first.readAll()).toBeGreaterThan(SNAPSHOT_BYTES);
    expect(await started.metric('gateway_dropped_frames_total')).toBe(0);
  });

  it('beyond that bound keep its connection in the count of its plan for a while', async () => {
    const { started, released } = await revocableGateway({ maxUnreadBytes: 0, cutPermitMs: 1_500 });
    const [cut, read] = [await rawClient(started.server), await rawClient(started.server)];
    read.socket.write(CLOSE_FRAME);
    await expect.poll(released).toBe(1);
    await cut.leaveUnread(started);
    cut.socket.write(CLOSE_FRAME);
    await expect.poll(started.server.connections).toBe(0);
    await cut.readAll();
    expect(released()).toBe(1);
    await expect.poll(released).toBe(2);
  });

  it('when it loses its connection are not counted', async () => {
    const started = await gatewayWithSnapshot({ limits: { maxUnreadBytes: 0.9 * SNAPSHOT_BYTES } });
    const [lost, closed] = [await rawClient(started.server), await rawClient(started.server)];
    await lost.leaveUnread(started);
    lost.socket.resetAndDestroy();
    await expect.poll(started.server.connections).toBe(1);
    await closed.leaveUnread(started);
    closed.socket.write(CLOSE_FRAME);
    await expect.poll(started.server.connections).toBe(0);
    expect(await closed.readAll()).toBeGreaterThan(SNAPSHOT_BYTES);
  });

  it('when the server closes its connection count until it has read them, and precede the close frame', async () => {
    const { started, revoke, released } = await revocableGateway();
    const client = await connectTestClient(started.server);
    client.send(SUBSCRIBE);
    client.socket.pause();
    await expect.poll(() => started.metric('gateway_buffered_bytes')).toBeGreaterThan(SNAPSHOT_BYTES / 2);
    revoke();
    await expect.poll(started.server.connections).toBe(0);
    await started.publish(streamEvent(100));
    await sleep(200);
    expect(await started.metric('gateway_buffered_bytes')).toBeGreaterThan(SNAPSHOT_BYTES / 2);
    expect(released()).toBe(0);
    client.socket.resume();
    expect((await client.closed).code).toBe(4403);
    expect(client.frames.map(({ type }) => type)).toEqual(['subscribed', 'snapshot']);
    await expect.poll(released).toBe(1);
    await expect.poll(() => started.metric('gateway_buffered_bytes')).toBe(0);
  });

  it('when the server closes its connection are dropped if it does not read them in time', async () => {
    const { started, revoke, released } = await revocableGateway({ closingMs: 500 });
    const client = await rawClient(started.server);
    await client.leaveUnread(started);
    revoke();
    await expect.poll(released).toBe(1);
    expect(await client.readAll()).toBeLessThan(SNAPSHOT_BYTES);
    await expect.poll(() => started.metric('gateway_buffered_bytes')).toBe(0);
  });

  it('of an order-book connection are bounded, too', async () => {
    const { server, store, metrics } = await startTestOrderBook({ limits: { maxUnreadBytes: 0, tickMs: 20 } });
    cleanups.push(() => server.close());
    const bids = Array.from({ length: 5_000 }, (_, n) => ({ price: `0.${100_000 + n}`, size: `${n + 1}.123456` }));
    for (let n = 0; n < 60; n++) store.apply(bookRecord(`${10_000_000_000 + n}`, 1, { bids }), 1);
    const subscribe = textFrame({ action: 'subscribe', markets: ['*'] });
    const [reading, closing] = [await rawClient(server), await rawClient(server)];
    reading.socket.write(subscribe);
    reading.socket.on('data', () => undefined).resume();
    await expect.poll(() => reading.socket.bytesRead).toBeGreaterThan(10_000_000);
    closing.socket.write(subscribe);
    const buffered = async () =>
      Number((await metrics.registry.metrics()).match(/socket_buffered_bytes\{[^}]*\} (\d+)/)?.[1]);
    await expect.poll(buffered).toBeGreaterThan(1_000_000);
    closing.socket.write(CLOSE_FRAME);
    await expect.poll(server.connections).toBe(1);
    expect(await closing.readAll()).toBeLessThan(10_000_000);
  });
});
