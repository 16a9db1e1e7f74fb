import { once } from 'node:events';
import { get } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import { type PlanTerms, plans } from '../../schemas/plans.js';
import type { Admission } from '../admission/admission.js';
import { bookRecord, connectBookClient, startTestOrderBook } from './testing.js';

let running: Awaited<ReturnType<typeof startTestOrderBook>>;
const start = async (over: Parameters<typeof startTestOrderBook>[0] = {}) => {
  running = await startTestOrderBook(over);
  return running;
};
afterEach(() => running.server.close());

const TOKEN = '111111111111';
/** Status and body of an upgrade that is rejected. */
const rejected = (path: string, headers: Record<string, string> = {}) =>
  new Promise<[number | undefined, unknown]>((resolve, reject) => {
    const socket = new WebSocket(`ws://127.0.0.1:${running.server.port}${path}`, { headers });
    socket.on('error', () => undefined);
    socket.on('open', () => reject(new Error('accepted')));
    socket.on('unexpected-response', (_request, response) => {
      let text = '';
      response.on('data', (chunk) => (text += chunk));
      response.on('end', () => resolve([response.statusCode, JSON.parse(text)]));
    });
  });

describe('order-book socket', () => {
  it('rejects clients before the upgrade as the event socket does', async () => {
    const admissions: Record<string, Awaited<ReturnType<Admission['admit']>>> = {
      full: { status: 'too_many' },
      used: { status: 'session_used_up', resetsAtMs: Date.UTC(2100, 0, 1) },
    };
    await start({ admission: { admit: async ({ accountId }) => admissions[accountId] ?? { status: 'too_many' } } });
    expect(await rejected('/ws')).toMatchObject([401, { error: expect.stringContaining('Missing or invalid') }]);
    expect(await rejected('/ws?key=revoked')).toMatchObject([403, {}]);
    expect(await rejected('/ws?key=full')).toMatchObject([429, {}]);
    expect(await rejected('/ws?key=full&compress=gzip')).toEqual([
      400,
      { error: 'compress must be zlib, or absent for uncompressed frames.' },
    ]);
    expect(await rejected('/ws?key=used')).toMatchObject([429, { resets_at: '2100-01-01T00:00:00.000Z' }]);
    expect(await rejected('/ws?key=full', { host: 'evil.example' })).toMatchObject([403, {}]);
    expect(await rejected('/ws', { 'x-api-key': 'full' })).toMatchObject([429, {}]);
    expect(await rejected('/ws?key=full', { authorization: 'Bearer revoked' })).toMatchObject([403, {}]);
    const plain = (path: string) =>
      new Promise((resolve) =>
        get(`http://127.0.0.1:${running.server.port}${path}`, (response) => resolve(response.statusCode)),
      );
    expect([await plain('/ws'), await plain('/')]).toEqual([426, 404]);
  });

  it('closes connections whose key is revoked, whose hour or allowance is used up, or that show no sign of life', async () => {
    const terms = new Map<string, PlanTerms | null>();
    let usedUp = false;
    let endHour: ((resetsAtMs: number) => void) | undefined;
    const clock = { ms: 1_000 };
    let nowMs = 1_000;
    const { server, store } = await start({
      nowMs: () => nowMs,
      monotonicMs: () => clock.ms,
      limits: { tickMs: 20, pingMs: 20, livenessMs: 1_000 },
      termsOfKey: (keyHash) => terms.get(keyHash) ?? (terms.has(keyHash) ? null : plans.enterprise),
      usedUpUntil: () => (usedUp ? Date.UTC(2100, 0, 1) : null),
      admission: {
        admit: async ({ accountId }) => ({
          status: 'ok',
          permit: {
            onSessionTimeExhausted(listener) {
              if (accountId === 'hour') endHour = listener;
            },
            onExcess: () => undefined,
            setTerms: () => undefined,
            release: () => undefined,
          },
        }),
      },
    });
    store.apply(bookRecord(TOKEN, 1, { bids: [{ price: '0.5', size: '1' }] }), 1);
    const revoked = await connectBookClient(server, { key: 'gone' });
    terms.set('gone', null);
    expect((await revoked.closed).code).toBe(4403);

    const hour = await connectBookClient(server, { key: 'hour' });
    endHour?.(Date.UTC(2100, 0, 1));
    expect(await hour.next()).toMatchObject({
      error: 'session_limit',
      message: 'Free tier 1-hour daily limit reached.',
      resets_at: '2100-01-01T00:00:00.000Z',
    });
    expect((await hour.closed).code).toBe(4429);

    const [idle, metered] = [await connectBookClient(server), await connectBookClient(server)];
    metered.send({ action: 'subscribe', markets: [TOKEN] });
    await metered.nextOf('snapshots_done');
    usedUp = true;
    expect(await metered.next()).toMatchObject({ error: 'monthly_allowance_used_up' });
    expect((await metered.closed).code).toBe(4402);
    idle.send({ action: 'subscribe', markets: [TOKEN] });
    expect(await idle.next()).toMatchObject({ error: 'monthly_allowance_used_up' });
    expect((await idle.closed).code).toBe(4402);

    const silent = await connectBookClient(server, { autoPong: false });
    // A step of the system's clock closes no connection.
    nowMs += 600_000;
    for (let pings = 0; pings < 3; pings++) await once(silent.socket, 'ping');
    clock.ms += 1_001;
    expect((await silent.closed).code).toBe(4408);
  });

  it('closes connections with 1012 when it stops', async () => {
    const { server } = await start();
    const client = await connectBookClient(server);
    const closing = server.close();
    // The library's listening socket must not be closed again.
    expect(server.close()).toBe(closing);
    await closing;
    expect(server.close()).toBe(closing);
    expect((await client.closed).code).toBe(1012);
  });
});
