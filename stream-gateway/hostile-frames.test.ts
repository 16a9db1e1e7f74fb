import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { connectTestClient, startTestGateway, streamEvent } from './testing.js';

const FRAMES = 10_000;
const CONNECTIONS = 200;
const PER_CONNECTION = FRAMES / CONNECTIONS;
/** Wait for the close of a connection; incomplete frames leave it open. */
const WAIT_MS = 200;
const MAX_GROWTH_BYTES = 300 * 1024 * 1024;

let gateway: Awaited<ReturnType<typeof startTestGateway>>;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.server.close());

/** Linear congruential generator: the same numbers for the same seed. */
function numbers(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** A WebSocket frame (RFC 6455, 5.2) with any first byte and any declared length, masked or not. */
function frame(first: number, payload: Buffer, options: { masked?: boolean; length?: number } = {}): Buffer {
  const { masked = true, length = payload.length } = options;
  const bit = masked ? 0x80 : 0;
  const head =
    length < 126
      ? Buffer.from([first, bit | length])
      : length < 65_536
        ? Buffer.from([first, bit | 126, length >> 8, length & 255])
        : Buffer.concat([
            Buffer.from([first, bit | 127, 0, 0, 0, 0]),
            Buffer.from(new Uint32Array([length]).buffer).reverse(),
          ]);
  if (!masked) return Buffer.concat([head, payload]);
  const mask = Buffer.from([1, 2, 3, 4]);
  return Buffer.concat([head, mask, payload.map((byte, i) => byte ^ (mask[i % 4] as number))]);
}

const TEXT = 0x81;
const text = (value: string) => frame(TEXT, Buffer.from(value));
const subscribe = (filters: unknown, type: unknown = 'trades') =>
  text(JSON.stringify({ action: 'subscribe', type, filters }));

/** Kinds of hostile frames; most leave the connection open, some end it. */
const kinds: readonly ((random: (below: number) => number) => Buffer)[] = [
  (random) => text(Array.from({ length: random(60) }, () => String.fromCharCode(32 + random(95))).join('')),
  (random) => text('{"action":"subscribe","type":"trades","filters":{"wallets":["0x'.slice(0, random(62))),
  (random) => text('['.repeat(random(3_000))),
  () => text('{"__proto__":{"action":"subscribe"},"constructor":{"prototype":1},"action":"subscribe"}'),
  (random) => subscribe({ snapshot_count: [-1, 1e308, '5', null, {}, [], 2 ** 53][random(7)] }),
  (random) => subscribe({ wallets: [null, {}, 5, 'x', [[]], ['0x1'], [1, 2]][random(7)] }),
  (random) =>
    subscribe({ since: [-1, 'now', 1e20, {}, null][random(5)], since_seq: [-1, 1e20, 'x', {}, null][random(5)] }),
  (random) => subscribe([null, 5, [], 'x'][random(4)]),
  (random) => subscribe({}, [null, 5, [], {}, 'no such type', '__proto__', 'x'.repeat(500)][random(7)]),
  (random) => text(JSON.stringify({ action: [null, 5, 'drop', {}, 'toString'][random(5)] })),
  () => text(JSON.stringify({ action: 'unsubscribe', subscription_id: {} })),
  () => frame(0x82, Buffer.from('binary')),
  () => frame(0x89, Buffer.alloc(125)),
  () => frame(0x8a, Buffer.from('unsolicited pong')),
  (random) => frame(TEXT, Buffer.from(Array.from({ length: 40 }, () => random(256)))),
  () => frame(0x01, Buffer.from('{"action":')),
  () => frame(0x00, Buffer.from('a continuation of nothing')),
  () => frame(0x89, Buffer.alloc(200)),
  (random) => frame(TEXT | ((1 + random(7)) << 4), Buffer.from('reserved bits')),
  (random) => frame(0x80 | (3 + random(5)), Buffer.from('a reserved opcode')),
  () => frame(TEXT, Buffer.from('not masked at all'), { masked: false }),
  () => frame(TEXT, Buffer.from('short'), { length: 4_000_000_000 }),
  () => frame(0x88, Buffer.from([0x00])),
  () => frame(0x88, Buffer.from([0xff, 0xff, 0xff])),
];
/** Kinds from this index on may end the connection, so each connection sends one of them, as its last frame. */
const FIRST_CLOSING_KIND = 14;

async function open(onData: (data: Buffer) => void): Promise<Socket> {
  const socket = connect(gateway.server.port, '127.0.0.1');
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  socket.write(
    'GET /ws?key=big HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
  );
  await once(socket, 'data');
  socket.on('data', onData);
  return socket;
}

it(`gateway serves other clients while it receives ${FRAMES} hostile frames`, async () => {
  const seed = Number(process.env.ODDSTREAM_HOSTILE_SEED ?? randomInt(2 ** 31));
  const random = numbers(seed);
  const memoryBefore = process.memoryUsage().rss;
  let sent = 0;
  let closed = 0;
  let errors = 0;
  const onData = (data: Buffer) => {
    errors += data.toString('latin1').split('{"type":"error"').length - 1;
  };
  for (let n = 0; n < CONNECTIONS; n++) {
    const socket = await open(onData);
    const frames = Array.from(
      { length: PER_CONNECTION - 1 },
      () => kinds[random(FIRST_CLOSING_KIND)]?.(random) as Buffer,
    );
    // TCP segments do not align with frames.
    const bytes = Buffer.concat(frames);
    const cut = random(bytes.length);
    socket.write(bytes.subarray(0, cut));
    socket.write(bytes.subarray(cut));
    // Messages are handled in order: after the response to the marker, all frames before it are handled.
    const marker = new Promise<void>((resolve) => {
      socket.on('data', (data: Buffer) => data.includes(`marker-${n}`) && resolve());
    });
    socket.write(text(JSON.stringify({ action: 'unsubscribe', subscription_id: `marker-${n}` })));
    await Promise.race([marker, once(socket, 'close')]);
    const last = kinds[FIRST_CLOSING_KIND + random(kinds.length - FIRST_CLOSING_KIND)]?.(random) as Buffer;
    if (!socket.closed) socket.write(last);
    frames.push(last);
    sent += frames.length;
    // After some last frames the server waits for more bytes.
    if (!socket.closed) await Promise.race([once(socket, 'close'), sleep(WAIT_MS)]);
    if (socket.closed) closed += 1;
    if (n % 20 === 19) {
      const other = await connectTestClient(gateway.server, { key: 'big' });
      other.send({ action: 'subscribe', type: 'trades', filters: { snapshot_count: 0 } });
      await other.count(1);
      await gateway.publish(streamEvent(n + 1));
      await other.count(2);
      expect([seed, other.frames[1]]).toEqual([seed, expect.objectContaining({ type: 'trade', seq: n + 1 })]);
      other.socket.terminate();
    }
    socket.destroy();
  }
  expect(sent).toBe(FRAMES);
  // A complete frame that is no valid message gets an error.
  expect([seed, errors > FRAMES / 2]).toEqual([seed, true]);
  expect([seed, closed > CONNECTIONS / 3]).toEqual([seed, true]);
  expect(process.memoryUsage().rss - memoryBefore).toBeLessThan(MAX_GROWTH_BYTES);
  await expect.poll(() => gateway.server.connections()).toBe(0);
});
