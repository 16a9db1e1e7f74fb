import { once } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import type { MarketLookup, MarketRow } from './filters/market-lookup.js';
import { defaultPeerLimits } from './hub/peer.js';
import type { GatewayServer } from './server.js';
import { connectTestClient, type Frame, startTestGateway, streamEvent } from './testing.js';

const markets: MarketRow[] = [
  { requested: 'some-market', condition_id: '0xc0', token_id: '1' },
  { requested: '0xc0', condition_id: '0xc0', token_id: '1' },
];
const lookup: MarketLookup = {
  bySlugs: async (slugs) => markets.filter((row) => slugs.includes(row.requested)),
  byConditions: async (ids) => markets.filter((row) => ids.includes(row.requested)),
};

const cleanups: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function gateway(over: Parameters<typeof startTestGateway>[0] = {}) {
  const started = await startTestGateway({ lookup, ...over });
  cleanups.push(() => started.server.close());
  return started;
}

async function client(server: GatewayServer, key = 'big', autoPong = true) {
  const connected = await connectTestClient(server, { key, autoPong });
  cleanups.push(() => connected.socket.terminate());
  return connected;
}

async function rejectionOf(server: GatewayServer, path: string): Promise<{ status: number; body: unknown }> {
  const socket = new WebSocket(`ws://127.0.0.1:${server.port}${path}`);
  return new Promise((resolve, reject) => {
    socket.on('open', () => reject(new Error('the upgrade was accepted')));
    socket.on('error', () => undefined);
    socket.on('unexpected-response', (_request, response) => {
      let text = '';
      response.on('data', (chunk) => {
        text += chunk;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: JSON.parse(text) }));
    });
  });
}

describe('gateway upgrade', () => {
  it('rejects a missing key with 401, a revoked one with 403, over the cap with 429 and while starting with 503', async () => {
    const { server } = await gateway();
    expect(await rejectionOf(server, '/ws')).toEqual({
      status: 401,
      body: { error: 'Missing or invalid API key. Use x-api-key header or ?key= param.' },
    });
    expect(await rejectionOf(server, '/ws?key=revoked')).toEqual({
      status: 403,
      body: { error: 'Invalid or inactive API key.' },
    });
    const first = await client(server, 'free-1');
    expect((await rejectionOf(server, '/ws?key=free-1')).status).toBe(429);
    first.socket.close();
    await once(first.socket, 'close');
    await client(server, 'free-1');
    const starting = await gateway({ ready: () => false });
    expect((await rejectionOf(starting.server, '/ws?key=big')).status).toBe(503);
    expect((await rejectionOf(server, '/elsewhere')).status).toBe(404);
  });

  it('takes the key from x-api-key, else from Authorization: Bearer, else from the query', async () => {
    const { server } = await gateway();
    const statusOf = async (path: string, headers: Record<string, string | string[]>) => {
      const socket = new WebSocket(`ws://127.0.0.1:${server.port}${path}`, { headers });
      cleanups.push(() => socket.terminate());
      socket.on('error', () => undefined);
      return new Promise((resolve) => {
        socket.on('open', () => resolve(101));
        socket.on('unexpected-response', (_request, response) => resolve(response.resume().statusCode));
      });
    };
    const [bearer, revoked] = [{ authorization: 'Bearer big' }, { authorization: 'bearer revoked' }];
    expect(await statusOf('/ws', { 'x-api-key': ' big ' })).toBe(101);
    expect(await statusOf('/ws', bearer)).toBe(101);
    expect(await statusOf('/ws?key=revoked', { ...revoked, 'x-api-key': 'big' })).toBe(101);
    expect(await statusOf('/ws?key=revoked', bearer)).toBe(101);
    expect(await statusOf('/ws?key=big', revoked)).toBe(403);
    expect(await statusOf('/ws?key=big', { ...bearer, 'x-api-key': 'revoked' })).toBe(403);
    // A header that is present but broken is an error; another scheme is not for this server.
    expect(await statusOf('/ws?key=big', { 'x-api-key': '' })).toBe(401);
    expect(await statusOf('/ws?key=big', { 'x-api-key': ['big', 'big'] })).toBe(401);
    expect(await statusOf('/ws?key=big', { authorization: 'Bearer' })).toBe(401);
    expect(await statusOf('/ws?key=big', { authorization: 'Basic YTpi' })).toBe(101);
  });

  it('sends x-request-id with every rejection, and Retry-After with the temporary ones', async () => {
    const nowMs = Date.parse('2026-11-24T23:50:00.500Z');
    const { server } = await gateway({
      nowMs: () => nowMs,
      admission: {
        admit: async ({ accountId }) =>
          accountId === 'capped'
            ? { status: 'too_many' }
            : { status: 'session_used_up', resetsAtMs: Date.parse('2026-11-25T00:00:00Z') },
      },
    });
    const starting = await gateway({ ready: () => false });
    const headersOf = async (port: number, path: string, id?: string) => {
      const headers = id === undefined ? {} : { 'x-request-id': id };
      const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, { headers });
      socket.on('error', () => undefined);
      const [, response] = (await once(socket, 'unexpected-response')) as [
        unknown,
        { headers: Record<string, string | undefined>; resume(): void },
      ];
      response.resume();
      return [response.headers['x-request-id'], response.headers['retry-after']];
    };
    const generatedId = expect.stringMatching(/^[0-9a-f-]{36}$/);
    expect(await headersOf(server.port, '/ws?key=capped', 'mine-1')).toEqual(['mine-1', '30']);
    // 599.5 s to midnight.
    expect(await headersOf(server.port, '/ws?key=free-1', 'not a sane id')).toEqual([generatedId, '600']);
    expect(await headersOf(starting.server.port, '/ws?key=big', 'mine-2')).toEqual(['mine-2', '5']);
    expect(await headersOf(server.port, '/ws')).toEqual([generatedId, undefined]);
    expect(await headersOf(server.port, '/ws?key=revoked', 'mine-3')).toEqual(['mine-3', undefined]);
    expect(await headersOf(server.port, '/elsewhere', 'mine-4')).toEqual(['mine-4', undefined]);
  });
});

describe('gateway subscriptions', () => {
  it('send ack, then snapshot, then live events', async () => {
    const { server, publish } = await gateway();
    for (let seq = 1; seq <= 3; seq++) await publish(streamEvent(seq));
    const one = await client(server);
    one.send({ action: 'subscribe', type: 'trades', filters: { snapshot_count: 2 } });
    const ack = await one.next();
    expect(ack).toMatchObject({ type: 'subscribed', subscription_type: 'trades', warnings: [] });
    expect(ack.subscription_id).toBe(`${ack.subscriber_id}:1`);
    const snapshot = await one.next();
    expect(snapshot).toMatchObject({ type: 'snapshot', count: 2 });
    expect((snapshot.events as Frame[]).map((event) => event.seq)).toEqual([2, 3]);
    await publish(streamEvent(4));
    expect(await one.next()).toMatchObject({ type: 'trade', seq: 4 });
  });

  it('send an empty snapshot, but none with snapshot_count 0 and none for chainlink', async () => {
    const { server, publish } = await gateway();
    const one = await client(server);
    one.send({ action: 'subscribe', type: 'blocks' });
    one.send({ action: 'subscribe', type: 'trades', filters: { snapshot_count: 0 } });
    one.send({ action: 'subscribe', type: 'chainlink' });
    one.send({ action: 'ping' });
    const types: string[] = [];
    for (let n = 0; n < 5; n++) types.push((await one.next()).type);
    expect(types).toEqual(['subscribed', 'snapshot', 'subscribed', 'subscribed', 'pong']);
    await publish(streamEvent(1, { kind: 'price_feed', feed: 'BTC/USD', usd: null, side: null }));
    expect(await one.next()).toMatchObject({ type: 'price_feed', seq: 1 });
  });

  it('send an event once that several of them match, and none after all are unsubscribed', async () => {
    const { server, publish } = await gateway();
    const one = await client(server);
    one.send({ action: 'subscribe', type: 'trades', filters: { snapshot_count: 0 } });
    const first = await one.next();
    one.send({ action: 'subscribe', type: 'prices', filters: { snapshot_count: 0 } });
    await one.next();
    await publish(streamEvent(1));
    one.send({ action: 'unsubscribe', subscription_id: first.subscription_id });
    expect(await one.next()).toMatchObject({ type: 'trade', seq: 1 });
    expect(await one.next()).toEqual({
      type: 'unsubscribed',
      subscriber_id: first.subscriber_id,
      subscription_id: first.subscription_id,
    });
    await publish(streamEvent(2));
    expect(await one.next()).toMatchObject({ type: 'trade', seq: 2 });
    one.send({ action: 'unsubscribe' });
    expect(await one.next()).toEqual({ type: 'unsubscribed', subscriber_id: first.subscriber_id });
    await publish(streamEvent(3));
    one.send({ action: 'ping' });
    expect((await one.next()).type).toBe('pong');
  });

  it('clamp since and snapshot_count to the plan with a warning', async () => {
    const nowMs = 1_790_000_100_000;
    const { server, publish } = await gateway({ nowMs: () => nowMs });
    await publish(streamEvent(1, { timestamp_ms: nowMs - 40_000 }));
    await publish(streamEvent(2, { timestamp_ms: nowMs - 10_000 }));
    const one = await client(server, 'free-2');
    one.send({ action: 'subscribe', type: 'trades', filters: { since: nowMs - 60_000 } });
    expect((await one.next()).warnings).toEqual(['since clamped to the last 30 s of your plan']);
    expect(((await one.next()).events as Frame[]).map((event) => event.seq)).toEqual([2]);
    one.send({ action: 'subscribe', type: 'trades', filters: { snapshot_count: 21 } });
    expect((await one.next()).warnings).toEqual(['snapshot_count clamped to 20, the cap of your plan']);
  });

  it('resolve slugs and condition ids, warn of unknown ones, fail when none is known', async () => {
    const { server, publish } = await gateway();
    const one = await client(server);
    one.send({ action: 'subscribe', type: 'trades', filters: { slugs: ['nope', 'some-market'], snapshot_count: 0 } });
    expect((await one.next()).warnings).toEqual(['slug not found: nope']);
    await publish(streamEvent(1, { tokens: ['2'], condition_ids: ['0xc1'] }));
    await publish(streamEvent(2));
    expect(await one.next()).toMatchObject({ seq: 2 });
    one.send({ action: 'subscribe', type: 'trades', filters: { slugs: ['nope'] } });
    expect(await one.next()).toMatchObject({ type: 'error', code: 'unresolved_slugs' });
    one.send({ action: 'subscribe', type: 'trades', filters: { condition_ids: ['0xff'] } });
    expect(await one.next()).toMatchObject({ type: 'error', code: 'unresolved_condition_ids' });
  });

  it('warn of what is missing from the snapshot first, and count the warnings beyond the hundred of a frame', async () => {
    const nowMs = 1_790_000_100_000;
    const { server, publish } = await gateway({ nowMs: () => nowMs, limits: { maxSnapshotBytes: 10 } });
    for (const seq of [1, 2]) await publish(streamEvent(seq, { timestamp_ms: nowMs - 1_000, condition_ids: ['0xc1'] }));
    const one = await client(server, 'free-2');
    const slugs = ['some-market', ...Array.from({ length: 105 }, (_, n) => `nope-${n}`)];
    one.send({ action: 'subscribe', type: 'trades', colour: 'red', filters: { slugs, since: nowMs - 60_000 } });
    const warnings = (await one.next()).warnings as string[];
    expect(warnings.slice(0, 3)).toEqual([
      'snapshot cut to its newest events; use since_seq to get all',
      'since clamped to the last 30 s of your plan',
      'unknown field ignored: colour',
    ]);
    expect(warnings.slice(3, 99)).toEqual(Array.from({ length: 96 }, (_, n) => `slug not found: nope-${n}`));
    expect(warnings.slice(99)).toEqual(['9 more warnings']);
  });
});

describe('gateway with invalid messages', () => {
  it('responds to each with its error code and keeps the connection open', async () => {
    const { server } = await gateway();
    const one = await client(server, 'free-3');
    const cases: [unknown, string][] = [
      ['ping', 'invalid_json'],
      ['', 'invalid_json'],
      ['[]', 'invalid_message'],
      ['null', 'invalid_message'],
      [{ action: 'dance' }, 'invalid_message'],
      [{ action: 'subscribe', type: 'nope' }, 'invalid_message'],
      [{ action: 'subscribe', type: '__proto__' }, 'invalid_message'],
      [{ action: 'subscribe', filters: [] }, 'invalid_message'],
      [{ action: 'subscribe', filters: { wallets: 'x' } }, 'invalid_message'],
      [{ action: 'subscribe', filters: { event_types: ['nope'] } }, 'invalid_message'],
      [{ action: 'subscribe', type: 'chainlink', price_source: 'spot', twap_windows: [30] }, 'invalid_message'],
      [{ action: 'unsubscribe', subscription_id: 'x:1' }, 'invalid_message'],
      [
        { action: 'subscribe', filters: { tokens: Array.from({ length: 10_001 }, (_, n) => String(n)) } },
        'filter_limit',
      ],
      [`${'['.repeat(100_000)}`, 'invalid_json'],
    ];
    for (const [message, code] of cases) {
      one.send(message);
      expect(await one.next()).toMatchObject({ type: 'error', code });
    }
    one.socket.send(Buffer.from([0xff, 0x00, 0x12]));
    expect(await one.next()).toMatchObject({ type: 'error', code: 'invalid_json' });
    one.send({ action: 'subscribe', filters: { since_when: 1, snapshot_count: 0 } });
    expect((await one.next()).warnings).toEqual(['unknown filter ignored: since_when']);
  });
});

describe('gateway connections', () => {
  it('get heartbeats; one that sends nothing is closed with 4408', async () => {
    let now = 1_000_000;
    let elapsed = 0;
    const limits = { heartbeatMs: 20, livenessMs: 1000 };
    const { server } = await gateway({ limits, nowMs: () => now, monotonicMs: () => elapsed });
    const one = await client(server, 'big', false);
    const closed = once(one.socket, 'close');
    await once(one.socket, 'ping');
    expect(await one.next()).toEqual({ type: 'heartbeat', ts: now });
    // A step of the system's clock closes no connection.
    now += 600_000;
    while ((await one.next()).ts !== now);
    elapsed += 5000;
    expect((await closed)[0]).toBe(4408);
  });

  it('that read too slowly are closed with 1013, the others are not affected', async () => {
    const { server, publish } = await gateway({
      limits: { peer: { ...defaultPeerLimits, maxBufferedBytes: 256 * 1024 } },
    });
    const other = await client(server);
    const subscribe = async (one: typeof other) => {
      one.send({ action: 'subscribe', type: 'trades', filters: { snapshot_count: 0 } });
      await one.next();
    };
    await subscribe(other);
    const frame = JSON.stringify({ type: 'trade', pad: 'x'.repeat(64 * 1024) });
    let seq = 0;
    const endOfStalled = async (most: number) => {
      const stalled = await client(server);
      await subscribe(stalled);
      stalled.socket.pause();
      while (server.connections() === 2 && seq < most) {
        await publish(streamEvent(++seq, { frame }));
        expect((await other.next()).type).toBe('trade');
      }
      expect(server.connections()).toBe(1);
      stalled.socket.resume();
      return stalled.closed;
    };
    // The library looks every four seconds for closed connections that still have data to read and cuts them: the close frame is lost then.
    let ended = await endOfStalled(2000);
    for (let attempt = 2; ended.code === 1006 && attempt <= 4; attempt++) ended = await endOfStalled(2000 * attempt);
    expect(ended).toEqual({ code: 1013, reason: 'slow consumer' });
    other.send({ action: 'ping' });
    expect((await other.next()).type).toBe('pong');
  });

  it('are closed with 1012 when the server stops', async () => {
    const { server } = await gateway();
    const one = await client(server);
    const closed = once(one.socket, 'close');
    await server.close();
    expect((await closed)[0]).toBe(1012);
  });

  it('are closed once when close() is called again', async () => {
    const { server } = await gateway();
    const closing = server.close();
    expect(server.close()).toBe(closing);
    await closing;
    expect(server.close()).toBe(closing);
  });
});
