import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { connectTestClient, startTestGateway, streamEvent } from './testing.js';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const HANDSHAKE =
  'GET /ws?key=big HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n';
const TEXT = 0x81;
const PONG = 0x8a;

/** A frame without a mask. */
function unmasked(first: number, payload: Buffer): Buffer {
  const { length } = payload;
  return Buffer.concat([
    Buffer.from(length < 126 ? [first, length] : [first, 126, length >> 8, length & 255]),
    payload,
  ]);
}
const messages = [
  ['short', { action: 'subscribe', type: 'trades', filters: { snapshot_count: 5 } }],
  [
    'long',
    { action: 'subscribe', type: 'trades', filters: { wallets: Array(10).fill('0xaa'), padding: 'x'.repeat(300) } },
  ],
  ['ping', { action: 'ping' }],
] as const;

async function open(over: Parameters<typeof startTestGateway>[0] = {}) {
  const gateway = await startTestGateway(over);
  cleanups.push(() => gateway.server.close());
  const socket: Socket = connect(gateway.server.port, '127.0.0.1');
  cleanups.push(() => socket.destroy());
  let received = Buffer.alloc(0);
  let closed = false;
  socket.on('error', () => undefined);
  socket.on('close', () => {
    closed = true;
  });
  socket.on('data', (data: Buffer) => {
    received = Buffer.concat([received, data]);
  });
  socket.write(HANDSHAKE);
  await expect.poll(() => received.includes('\r\n\r\n')).toBe(true);
  received = Buffer.alloc(0);
  return { gateway, socket, received: () => received.toString('latin1'), isClosed: () => closed };
}

/** Another client has been served an event after `n`: what was sent before is handled. */
async function otherIsServed(gateway: Awaited<ReturnType<typeof startTestGateway>>, seq: number): Promise<void> {
  const other = await connectTestClient(gateway.server, { key: 'big' });
  other.send({ action: 'subscribe', type: 'trades', filters: { snapshot_count: 0 } });
  await other.count(1);
  await gateway.publish(streamEvent(seq));
  await other.count(2);
  other.socket.terminate();
}

describe.each(messages)('an unmasked text frame that is valid otherwise (%s)', (_name, message) => {
  const frame = unmasked(TEXT, Buffer.from(JSON.stringify(message)));

  it('alone is not carried out: no response, no subscription, no event', async () => {
    const { gateway, socket, received } = await open();
    socket.write(frame);
    await otherIsServed(gateway, 1);
    expect(received()).toBe('');
  });

  it('ends the connection with the next frame, which is not carried out either', async () => {
    const { gateway, socket, received } = await open();
    const closed = once(socket, 'close');
    socket.write(Buffer.concat([frame, frame]));
    await closed;
    expect(received()).toBe('');
    await expect.poll(() => gateway.server.connections()).toBe(0);
  });

  it('ends the connection when the client answers a heartbeat, as every client does', async () => {
    const { gateway, socket, received, isClosed } = await open({ limits: { heartbeatMs: 20 } });
    socket.write(frame);
    // Ping (RFC 6455, 5.5.2): final, opcode 9, payload as the server chose it.
    await expect.poll(received).toMatch(/\x89/);
    const at = received().indexOf('\x89');
    const payload = received().slice(at + 2, at + 2 + received().charCodeAt(at + 1));
    socket.write(unmasked(PONG, Buffer.from(payload, 'latin1')));
    await expect.poll(isClosed).toBe(true);
    expect(received()).not.toContain('subscribed');
    expect(received()).not.toContain('"pong"');
    await expect.poll(() => gateway.server.connections()).toBe(0);
  });

  it('does not count as a sign of life: the connection is closed with 4408', async () => {
    let nowMs = 1_000_000;
    const { socket, received, isClosed } = await open({
      monotonicMs: () => nowMs,
      limits: { heartbeatMs: 20, livenessMs: 1_000 },
    });
    nowMs += 900;
    socket.write(frame);
    await expect.poll(received).toMatch(/heartbeat/);
    nowMs += 200;
    await expect.poll(isClosed).toBe(true);
    // A close frame: code 4408.
    expect(received()).toContain('\x88');
    expect(
      received()
        .slice(received().lastIndexOf('\x88') + 2)
        .startsWith('\x11\x38'),
    ).toBe(true);
  });
});
