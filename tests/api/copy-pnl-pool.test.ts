import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiHarness, type ApiResponse, startApi } from '../support/api.js';

const PATH = '/v2/copy-pnl/wallets';
const INVALID_BODY = 'Body must include "addresses" — array of valid 0x… wallet addresses.';
const wallet = (n: number) => `0x${n.toString(16).padStart(40, '0')}`;
const range = (from: number, count: number) => Array.from({ length: count }, (_, n) => wallet(from + n));

let api: ApiHarness;
beforeAll(async () => {
  api = await startApi({ nowMs: Date.UTC(2027, 4, 22) });
});
afterAll(() => api?.stop());

/** Sends a request 5 s after the one before. */
async function send(method: string, key: string | null, body?: unknown): Promise<ApiResponse> {
  api.clock.nowMs += 5_000;
  return api.request(PATH, {
    method,
    headers: { ...(key === null ? {} : { 'x-api-key': key }), 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
}
const add = (key: string, addresses: readonly string[]) => send('POST', key, { addresses });
const remove = (key: string, addresses: readonly string[]) => send('DELETE', key, { addresses });
const poolOf = async (key: string) => ((await send('GET', key)).body as { wallets: string[] }).wallets;

describe('the pool of a key', () => {
  it('adds, lists and removes wallets, each request once or twice with the same pool', async () => {
    const key = await api.key('starter');
    expect((await send('GET', key)).body).toEqual({ wallets: [], count: 0, max: 1_000 });
    const first = await add(key, [wallet(0xbeef).toUpperCase().replace('0X', '0x'), wallet(0xabc), wallet(0xbeef)]);
    expect([first.status, JSON.stringify(first.body)]).toEqual([
      200,
      '{"added":2,"already_tracked":0,"total":2,"max":1000,"capped":false,"refresh_kicked":2}',
    ]);
    expect((await add(key, [wallet(0xabc), wallet(7)])).body).toEqual({
      added: 1,
      already_tracked: 1,
      total: 3,
      max: 1_000,
      capped: false,
      refresh_kicked: 1,
    });
    const list = await send('GET', key);
    expect(list.body).toEqual({ wallets: [wallet(7), wallet(0xabc), wallet(0xbeef)], count: 3, max: 1_000 });
    for (const removed of [1, 0])
      expect((await remove(key, [wallet(0xabc), wallet(0xabc), wallet(12)])).body).toEqual({
        removed,
        total: 2,
        max: 1_000,
      });
    expect(await poolOf(key)).toEqual([wallet(7), wallet(0xbeef)]);
    expect((await add(key, [])).body).toMatchObject({ added: 0, total: 2 });
  });

  it('adds the first wallets up to the limit of 1,000 and reports the number of the others', async () => {
    const key = await api.key('growth');
    expect((await add(key, range(1, 998))).body).toMatchObject({ added: 998, total: 998, capped: false });
    expect((await add(key, [wallet(1), ...range(5_000, 5)])).body).toEqual({
      added: 2,
      already_tracked: 1,
      total: 1_000,
      max: 1_000,
      capped: true,
      refresh_kicked: 2,
      hint: 'Pool limit is 1000 wallets; 3 addresses were not added.',
    });
    expect((await poolOf(key)).slice(-2)).toEqual([wallet(5_000), wallet(5_001)]);
    expect((await remove(key, range(1, 1_000))).body).toEqual({ removed: 998, total: 2, max: 1_000 });
  });

  it('cannot be read or changed with another key, of the same account or of another', async () => {
    const owner = await api.key('enterprise');
    const others = [await api.siblingKey(owner), await api.key('enterprise')];
    await add(owner, range(100, 3));
    for (const other of others) {
      expect(await poolOf(other)).toEqual([]);
      expect((await remove(other, range(100, 3))).body).toMatchObject({ removed: 0, total: 0 });
      expect((await add(other, [wallet(101)])).body).toMatchObject({ added: 1, already_tracked: 0, total: 1 });
    }
    expect(await poolOf(owner)).toEqual(range(100, 3));
    // A parameter that names another key is rejected.
    const response = await api.get(`${PATH}?key_hash=${'0'.repeat(64)}`, owner);
    expect(response.status).toBe(400);
  });

  it('rejects other bodies with the documented texts and changes nothing', async () => {
    const key = await api.key('starter');
    await add(key, [wallet(1)]);
    const bad = [undefined, {}, { addresses: null }, { addresses: wallet(2) }, { addresses: [2] }, [wallet(2)]];
    const badAddresses = ['0x1', wallet(2).slice(2), `${wallet(2)}0`, ` ${wallet(2)}`, `0x${'g'.repeat(40)}`, ''];
    for (const method of ['POST', 'DELETE'])
      for (const body of [...bad, ...badAddresses.map((address) => ({ addresses: [wallet(2), address] }))]) {
        const { status, body: error } = await send(method, key, body);
        expect([method, body, status, error]).toEqual([method, body, 400, { error: INVALID_BODY }]);
      }
    for (const method of ['POST', 'DELETE']) {
      const { status, body } = await send(method, key, { addresses: Array(1_001).fill(wallet(2)) });
      expect([status, body]).toEqual([400, { error: 'At most 1000 wallets per request (and per tenant).' }]);
      const large = await send(method, key, `{"addresses":[${' '.repeat(128 * 1024)}]}`);
      expect([large.status, large.body]).toEqual([413, { error: 'Request body too large. Max 131072 bytes.' }]);
    }
    expect((await send('POST', key, '{')).body).toEqual({ error: 'Request body is not valid JSON.' });
    expect(await poolOf(key)).toEqual([wallet(1)]);
  });

  it('needs a key of a paid plan', async () => {
    const free = await api.key('free');
    for (const method of ['GET', 'POST', 'DELETE']) {
      const body = method === 'GET' ? undefined : { addresses: [wallet(1)] };
      expect(await send(method, free, body)).toMatchObject({
        status: 403,
        body: { error: 'V2 endpoints require a paid plan. See http://api.test/docs#plans for details.' },
      });
      expect((await send(method, null, body)).status).toBe(401);
    }
  });

  it('counts one request per 5 s and key over its routes', async () => {
    const [one, two] = [await api.key('starter'), await api.key('starter')];
    expect((await add(one, [wallet(1)])).status).toBe(200);
    api.clock.nowMs += 1_250;
    const limited = await api.get(PATH, one);
    expect([limited.status, limited.headers.get('retry-after'), limited.body]).toEqual([
      429,
      '4',
      {
        error: 'copy-pnl rate limited (1 req per 5s per key).',
        retryAfterMs: 3_750,
        reset_at: Math.ceil((api.clock.nowMs + 3_750) / 1_000),
      },
    ]);
    expect((await api.get(PATH, two)).status).toBe(200);
    api.clock.nowMs += 3_750;
    expect((await api.get(PATH, one)).status).toBe(200);
  });
});
