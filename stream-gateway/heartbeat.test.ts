import { afterEach, describe, expect, it } from 'vitest';
import { yieldToEventLoop } from '../infra/event-loop.js';
import { controlFrames } from '../schemas/socket/control.js';
import { defaultPeerLimits } from './hub/peer.js';
import { parseConnectionOptions } from './protocol/connection-options.js';
import { connectTestClient, type Frame, startTestGateway, streamEvent } from './testing.js';

const EPOCH = '00ff00ff00ff00ff';
const cleanups: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function gateway(over: Parameters<typeof startTestGateway>[0] = {}) {
  const started = await startTestGateway({ epoch: () => EPOCH, ...over, limits: { heartbeatMs: 20, ...over.limits } });
  cleanups.push(() => started.server.close());
  return started;
}
async function client(server: { port: number }, query = '') {
  const connected = await connectTestClient(server, { query });
  cleanups.push(() => connected.socket.terminate());
  /** The next heartbeat that the test accepts. */
  const heartbeat = async (fits: (frame: Frame) => boolean): Promise<Frame> => {
    for (;;) {
      const frame = await connected.next();
      if (frame.type === 'heartbeat' && fits(frame)) return frame;
    }
  };
  return { ...connected, heartbeat };
}

describe('heartbeat', () => {
  it('names the newest event examined, also if no event matches, and every source', async () => {
    const sources = [{ source: 'chain', last_event_ms: 7, stale: 'disconnected' as const, stale_since_ms: 9 }];
    const { server, publish } = await gateway({ sources: { freshness: () => sources, all: () => [] } });
    const one = await client(server);
    const before = await one.heartbeat(() => true);
    expect(before).toEqual({ type: 'heartbeat', ts: before.ts, sources });
    one.send({ action: 'subscribe', type: 'redemptions', filters: { snapshot_count: 0 } });
    await publish(streamEvent(1), streamEvent(2));
    await one.heartbeat(({ seq }) => seq === 2);
    await publish(streamEvent(3));
    const last = await one.heartbeat(({ seq }) => seq === 3);
    expect(last).toEqual({ type: 'heartbeat', ts: last.ts, seq: 3, cursor: `${EPOCH}:3`, sources });
    expect(controlFrames.heartbeat.safeParse(last).error?.issues ?? []).toEqual([]);
  });

  it('does not name an event that a replay has yet to examine', async () => {
    const peer = { ...defaultPeerLimits, replayHighWaterBytes: 1_000_000, replayLowWaterBytes: 500_000 };
    const { server, load } = await gateway({ limits: { peer } });
    const pad = 'x'.repeat(100_000);
    for (let seq = 1; seq <= 400; seq++) load(streamEvent(seq, { frame: JSON.stringify({ type: 'trade', seq, pad }) }));
    const one = await client(server);
    one.send({ action: 'subscribe', type: 'trades', filters: { since_seq: 10 } });
    await one.count(2);
    one.socket.pause();
    for (let wait = 0; wait < 50; wait++) await yieldToEventLoop();
    one.socket.resume();
    await one.heartbeat(({ seq }) => seq === 400);
    let delivered = 10;
    for (const { type, seq } of one.frames) {
      if (type === 'trade') delivered = seq as number;
      if (type === 'heartbeat' && seq !== undefined) expect(seq).toBe(delivered);
    }
    expect(delivered).toBe(400);
  });

  it('comes at the interval that the address requests', async () => {
    const { server } = await gateway({ limits: { heartbeatMs: 60_000, livenessMs: 300_000 } });
    const one = await client(server, '&heartbeat_interval=5');
    const none = await client(server);
    const waited = performance.now();
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    expect(one.frames).toEqual([]);
    await one.count(1);
    expect(one.frames[0]?.type).toBe('heartbeat');
    expect(performance.now() - waited).toBeGreaterThan(4_000);
    expect(none.frames).toEqual([]);
  });
});

describe('connection options', () => {
  const parse = (query: string) => {
    const params = new URLSearchParams(query);
    return parseConnectionOptions((name) => params.get(name) ?? undefined);
  };
  it('have defaults, and bounds that an error names', () => {
    expect(parse('')).toEqual({ encoding: 'text', heartbeatMs: null, notices: false });
    expect(parse('compress=zlib&heartbeat_interval=60&notices=1')).toEqual({
      encoding: 'deflated',
      heartbeatMs: 60_000,
      notices: true,
    });
    for (const bad of ['4', '61', '1e1', '', '5.5', '-5', 'ten'])
      expect(parse(`heartbeat_interval=${bad}`)).toMatch(/from 5 to 60/);
    expect(parse('notices=yes')).toMatch(/0 or 1/);
    expect(parse('compress=')).toMatchObject({ encoding: 'text' });
    expect(parse('compress=ZLIB')).toMatchObject({ encoding: 'deflated' });
    for (const bad of ['gzip', '1', 'true', 'deflate', 'zlib,gzip'])
      expect(parse(`compress=${bad}`)).toBe('compress must be zlib, or absent for uncompressed frames.');
  });

  it('reject the connection with 400 if invalid', async () => {
    const { server } = await gateway();
    const headers = {
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    };
    const { default: http } = await import('node:http');
    const response = await new Promise<import('node:http').IncomingMessage>((resolve, reject) => {
      const path = '/ws?key=big&heartbeat_interval=1';
      http.get({ port: server.port, host: '127.0.0.1', path, headers }, resolve).on('error', reject);
    });
    let body = '';
    for await (const chunk of response) body += chunk;
    expect([response.statusCode, JSON.parse(body)]).toEqual([
      400,
      { error: 'heartbeat_interval must be a whole number of seconds from 5 to 60.' },
    ]);
  });
});

describe('cursor', () => {
  it('resumes like its seq, and is refused if it is of another log', async () => {
    const { server, load } = await gateway();
    for (let seq = 1; seq <= 5; seq++) load(streamEvent(seq));
    const one = await client(server);
    one.send({ action: 'subscribe', type: 'trades', filters: { since_seq: `${EPOCH}:3` } });
    const ack = await one.next();
    expect(ack).toMatchObject({ type: 'subscribed', epoch: EPOCH, warnings: [] });
    one.send({ action: 'subscribe', type: 'trades', filters: { since_seq: `1111111111111111:3` } });
    one.send({ action: 'subscribe', type: 'trades', filters: { since_seq: `${EPOCH}:-3` } });
    const others = () => one.frames.filter(({ type }) => type !== 'heartbeat').slice(1);
    await expect.poll(() => others().length).toBe(4);
    expect(others().flatMap(({ seq }) => (seq === undefined ? [] : [seq]))).toEqual([4, 5]);
    expect(others().flatMap(({ code }) => (code === undefined ? [] : [code]))).toEqual([
      'cursor_of_another_log',
      'invalid_message',
    ]);
  });
});
