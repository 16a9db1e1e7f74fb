import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RetryableError } from '../../infra/errors.js';
import { walletsOf } from '../../schemas/primitives/wallet-addresses.js';
import { type ApiHarness, startApi } from '../support/api.js';
import { walkPages } from '../support/page-walk.js';
import { fillRow, insertFills } from '../support/rows.js';
import { alice, bob, carol, fills, insertVenue, rain, snow, snowNo, snowYes, T, tx } from '../support/venue.js';

let api: ApiHarness;
let key: string;
/** Keys, and the responses of the test node and catalogue for them. */
const ofDigit = (digit: number | string) => `0x${String(digit).repeat(40)}`;
const [modern, older, safeOnly, newcomer, bare] = [1, 2, 3, 4, 5].map(ofDigit) as [
  string,
  string,
  string,
  string,
  string,
];
const [impostor, sharedSafe, takenSafe] = [6, 7, 8].map(ofDigit) as [string, string, string];
const DEPOSIT_FACTORY = '00000000000fb5c9adea0298d729a0cb3823cc07';
/** Code of a deposit wallet: its proxy, then its arguments (factory, key) as two words. */
const depositCode = (key: string) => `0x363d3d37${'0'.repeat(24)}${DEPOSIT_FACTORY}${'0'.repeat(24)}${key.slice(2)}`;
const contracts = new Map<string, string>([
  [walletsOf(modern).deposit_beacon, depositCode(modern)],
  [walletsOf(modern).safe, '0x6080'],
  [walletsOf(older).deposit_uups, depositCode(older)],
  [walletsOf(safeOnly).safe, '0x6080'],
  [walletsOf(safeOnly).proxy, '0x6080'],
  [alice, '0x6080'],
  // Its code claims another's key.
  [impostor, depositCode(modern)],
  [sharedSafe, '0x6080'],
  [takenSafe, '0x6080'],
]);
const safeOwners = new Map<string, readonly string[]>([
  [walletsOf(safeOnly).safe, [safeOnly]],
  [sharedSafe, [modern, safeOnly]],
  [takenSafe, [modern]],
]);
const names = new Map<string, string>([
  [walletsOf(modern).deposit_beacon, 'QuietFox'],
  [walletsOf(newcomer).deposit_beacon, 'newbie'],
]);
const node = { isUnreachable: false, requests: 0 };

beforeAll(async () => {
  api = await startApi({
    nowMs: (T + 100) * 1000,
    chainState: {
      async codesOf(addresses) {
        node.requests += 1;
        if (node.isUnreachable) throw new RetryableError('unreachable');
        return addresses.map((address) => contracts.get(address) ?? '0x');
      },
      ownersOf: async (address) => safeOwners.get(address) ?? null,
    },
    profiles: {
      nameOf: async (wallet) => names.get(wallet) ?? null,
      walletOf: async (name) => [...names].find(([, known]) => known.toLowerCase() === name.toLowerCase())?.[0] ?? null,
    },
  });
  key = await api.key('free');
  await insertVenue(api.clickhouse);
});
afterAll(() => api.stop());

type Row = Record<string, unknown>;
const get = (path: string) => api.ok<Row & { trades: Row[] }>(`/v1/${path}`, key);

describe('/v1 trades', () => {
  it("are the fills of the wallet's own orders, on the free plan too", async () => {
    const page = await get(`wallets/${alice.toUpperCase().replace('0X', '0x')}/trades`);
    expect(page).toMatchObject({ wallet: alice, count: 4 });
    // Without the fills in which she was a maker's counterparty: her own rows contain those.
    expect(page.trades.map((row) => [row.transactionHash, row.side, row.outcome, row.price, row.size])).toEqual([
      [tx(4), 'BUY', 'Yes', 0.9, 10],
      [tx(3), 'BUY', 'Yes', 0.4, 10],
      [tx(2), 'BUY', 'Yes', 0.4, 50],
      [tx(1), 'BUY', 'Yes', 0.4, 100],
    ]);
    expect(page.trades[3]).toEqual({
      proxyWallet: alice,
      asset: snowYes,
      conditionId: snow.conditionId,
      title: snow.question,
      slug: snow.slug,
      icon: '',
      eventSlug: 'snow-lisbon',
      outcome: 'Yes',
      outcomeIndex: 0,
      oppositeAsset: snowNo,
      negativeRisk: false,
      side: 'BUY',
      price: 0.4,
      size: 100,
      timestamp: T,
      transactionHash: tx(1),
      name: '',
      pseudonym: '',
      bio: '',
      profileImage: '',
      profileImageOptimized: '',
    });
    expect(await get(`wallets/${alice}/trades?limit=9999&offset=3`)).toMatchObject({ count: 1 });
    expect(await get(`wallets/0x${'0'.repeat(40)}/trades`)).toMatchObject({ count: 0, trades: [] });
  });

  it('of several wallets are in the requested order', async () => {
    const both = (await get(
      `wallets/trades?wallets=${bob},${alice.toUpperCase().replace('0X', '0x')},${bob}&limit=1`,
    )) as Row;
    expect(both).toMatchObject({
      wallet_count: 2,
      wallets: [
        { wallet: bob, count: 1, trades: [{ transactionHash: tx(4), side: 'SELL' }] },
        { wallet: alice, count: 1, trades: [{ transactionHash: tx(4), side: 'BUY' }] },
      ],
    });
  });

  it('have a size net of a fee in shares', async () => {
    const wallet = `0x${'77'.repeat(20)}`;
    await insertFills(api.clickhouse, [
      fillRow({ ...fills[7]!, block: 200, maker: wallet, usdc: 9_000_000n, shares: 10_000_000n, feeShares: 100_000n }),
    ]);
    expect((await get(`wallets/${wallet}/trades`)).trades[0]).toMatchObject({ size: 9.9, price: 0.9 });
  });

  it('of a market have both sides of each match, filtered by user and side', async () => {
    const of = async (query: string, id: string = snow.slug) =>
      (await get(`markets/${id}/trades?${query}`)).trades.map((row) => [
        row.transactionHash,
        row.proxyWallet,
        row.side,
      ]);
    const all = [
      [tx(3), carol, 'SELL'],
      [tx(3), alice, 'BUY'],
      [tx(2), alice, 'BUY'],
      [tx(2), carol, 'BUY'],
      [tx(1), bob, 'SELL'],
      [tx(1), alice, 'BUY'],
    ];
    expect(await of('')).toEqual(all);
    expect(await of('', snow.conditionId.toUpperCase().replace('0X', '0x'))).toEqual(all);
    expect(await of('side=sell')).toEqual(all.filter(([, , side]) => side === 'SELL'));
    expect(await of(`user=${bob},${carol}&limit=2`)).toEqual([all[0], all[3]]);
    expect(await of(`user=${alice}&side=BUY&offset=2`)).toEqual([all[5]]);
    expect(await get(`markets/${snow.slug}/trades?limit=1`)).toMatchObject({
      condition_id: snow.conditionId,
      count: 1,
    });
  });

  it('by cursor neither overlap nor skip while trades arrive', async () => {
    let block = 500;
    const pages = await walkPages(get, `markets/${rain.slug}/trades?limit=1`, async () => {
      await insertFills(api.clickhouse, [fillRow({ ...fills[6]!, block, txHash: tx(block) })]);
      block += 1;
    });
    const seen = pages.flatMap((page) => page.trades.map((row) => [row.transactionHash, row.side]));
    // The newest row belongs to the wallet above.
    expect(seen).toEqual([
      [tx(4), 'BUY'],
      [tx(4), 'BUY'],
      [tx(4), 'SELL'],
    ]);
  });

  it.each([
    ['wallets/0x12/trades', 400, 'Invalid wallet: 0x12'],
    [`wallets/${alice}/trades?limit=x`, 400, 'Invalid limit. Use a whole number, 1 or more'],
    ['wallets/trades', 400, "Missing required query parameter 'wallets'"],
    ['wallets/trades?wallets=,', 400, "Missing required query parameter 'wallets'"],
    ['wallets/trades?wallets=0x1', 400, 'Invalid wallet: 0x1'],
    [
      `wallets/trades?wallets=${Array.from({ length: 21 }, (_, n) => `0x${String(n + 10).repeat(20)}`).join()}`,
      400,
      "Too many wallets in 'wallets'. Max 20",
    ],
    ['markets/none/trades', 404, 'Market none not found'],
    ['markets/0x-protocol/trades', 404, 'Market 0x-protocol not found'],
    ['markets/0xAB12/trades', 400, 'Invalid market: a condition id is 0x and 64 hex digits'],
    ['markets/0xab12/positions', 400, 'Invalid market: a condition id is 0x and 64 hex digits'],
    [`wallets/${alice}/trades?limit=-1`, 400, 'Invalid limit. Use a whole number, 1 or more'],
    [`wallets/${alice}/trades?offset=-1`, 400, 'Invalid offset. Use a whole number, 0 or more'],
    [`markets/${snowNo}/trades`, 404, `Market ${snowNo} not found`],
    [`markets/${snow.slug}/trades?user=`, 400, 'Invalid user. Use one or more addresses, comma-separated'],
    [`markets/${snow.slug}/positions?user=,`, 400, 'Invalid user. Use one or more addresses, comma-separated'],
    [`markets/${snow.slug}/trades?user=bob`, 400, 'Invalid wallet: bob'],
    [`markets/${snow.slug}/trades?side=both`, 400, 'Invalid side. Use: BUY, SELL'],
  ])('%s is %i', async (path, status, error) => {
    expect(await api.get(`/v1/${path}`, key)).toMatchObject({ status, body: { error } });
  });
});

describe('/v1/events/search', () => {
  it('matches every word, with the markets in the order of the event', async () => {
    expect(await get('events/search?q=FALLS%20sky')).toEqual({
      query: 'FALLS sky',
      events: [
        {
          id: '77',
          slug: 'sky',
          title: 'What falls from the sky?',
          image: 'https://img.example/x.jpg',
          active: true,
          markets: [
            {
              question: 'Rain?',
              groupItemTitle: 'Rain',
              conditionId: rain.conditionId,
              tokenId: '601',
              // Its last fill.
              price: 0.9,
              priceSource: 'last_fill',
              priceUpdatedAt: T + 6,
              active: false,
            },
            {
              question: 'Hail?',
              groupItemTitle: 'Hail',
              conditionId: expect.any(String),
              tokenId: '701',
              price: 0.5,
              priceSource: null,
              priceUpdatedAt: null,
              active: true,
            },
          ],
        },
      ],
      count: 1,
    });
    expect(await get('events/search?q=snow%20falls')).toMatchObject({ count: 0 });
    expect(await get('events/search?q=s&limit=1')).toMatchObject({ count: 1 });
    for (const [query, error] of [
      ['', "Missing required query parameter 'q'"],
      ['?q=x&limit=21', 'Invalid limit. Max 20'],
    ])
      expect(await api.get(`/v1/events/search${query}`, key)).toMatchObject({ status: 400, body: { error } });
    const { headers } = await api.get('/v1/events/search?q=sky', key);
    expect(headers.get('cache-control')).toBe('private, max-age=180');
  });
});

describe('/v1/resolve', () => {
  it('a key, its wallets and its name resolve to the same owner', async () => {
    const wallets = walletsOf(modern);
    const person = {
      safe: wallets.deposit_beacon,
      eoa: modern,
      username: 'QuietFox',
      type: 'deposit_wallet',
      wallets: { deposit_wallet: wallets.deposit_beacon, safe: wallets.safe, proxy_wallet: null },
      wallet_details: [
        { address: wallets.deposit_beacon, wallet_type: 'deposit_wallet', deployed: true, current: true },
        { address: wallets.safe, wallet_type: 'safe', deployed: true, current: false },
      ],
    };
    for (const query of [modern, 'quietfox', wallets.deposit_beacon])
      expect(await get(`resolve/${query}`)).toEqual(person);
    for (const query of [older, walletsOf(older).deposit_uups])
      expect(await get(`resolve/${query}`)).toMatchObject({
        safe: walletsOf(older).deposit_uups,
        eoa: older,
        type: 'deposit_wallet',
        wallets: { deposit_wallet: walletsOf(older).deposit_uups },
        username: null,
      });
  });

  it("a contract whose code ends with another's key is itself, without an owner", async () => {
    expect(await get(`resolve/${impostor}`)).toMatchObject({ safe: impostor, eoa: null, username: null, type: null });
  });

  it.each([
    ['with several owners is itself, without an owner key', sharedSafe, null],
    ['that was not created for its only owner is itself, with that owner key', takenSafe, modern],
  ])('a Safe %s', async (_name, safe, eoa) => {
    expect(await get(`resolve/${safe}`)).toEqual({
      safe,
      eoa,
      username: null,
      type: 'safe',
      wallets: { deposit_wallet: null, safe, proxy_wallet: null },
      wallet_details: [{ address: safe, wallet_type: 'safe', deployed: true, current: true }],
    });
  });

  it('a Safe resolves to its owner', async () => {
    const wallets = walletsOf(safeOnly);
    for (const query of [wallets.safe, safeOnly])
      expect(await get(`resolve/${query}`)).toMatchObject({
        safe: wallets.safe,
        eoa: safeOnly,
        type: 'safe',
        wallets: { deposit_wallet: null, safe: wallets.safe, proxy_wallet: wallets.proxy },
      });
  });

  it('a wallet of unknown type is itself; a key that trades without a wallet contract is its own wallet', async () => {
    expect(await get(`resolve/${alice}`)).toEqual({
      safe: alice,
      eoa: null,
      username: null,
      type: null,
      wallets: { deposit_wallet: null, safe: null, proxy_wallet: null },
      wallet_details: [{ address: alice, wallet_type: null, deployed: true, current: true }],
    });
    expect(await get(`resolve/${bob}`)).toMatchObject({ safe: bob, eoa: bob, type: null });
  });

  it('a named wallet may be undeployed', async () => {
    const own = walletsOf(newcomer);
    expect(await get('resolve/newbie')).toMatchObject({
      safe: own.deposit_beacon,
      username: 'newbie',
      wallets: { deposit_wallet: null, safe: null, proxy_wallet: null },
      wallet_details: [{ address: own.deposit_beacon, deployed: false, current: true }],
    });
  });

  it('caches 404 for a minute, a result for an hour, and no failure', async () => {
    const { status, body } = await api.get(`/v1/resolve/${bare}`, key);
    expect({ status, body }).toEqual({ status: 404, body: { error: 'Address not found.' } });
    expect(await api.get('/v1/resolve/nobody', key)).toMatchObject({
      status: 404,
      body: { error: 'Username not found.' },
    });
    const known = await api.get(`/v1/resolve/${modern}`, key);
    expect(known.headers.get('cache-control')).toBe('private, max-age=3600');
    const before = node.requests;
    api.clock.nowMs += 59_000;
    expect((await api.get(`/v1/resolve/${bare}`, key)).status).toBe(404);
    expect(node.requests).toBe(before);
    node.isUnreachable = true;
    api.clock.nowMs += 2_000;
    expect((await api.get(`/v1/resolve/${bare}`, key)).status).toBe(503);
    node.isUnreachable = false;
    expect((await api.get(`/v1/resolve/${bare}`, key)).status).toBe(404);
  });
});
