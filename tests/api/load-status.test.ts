import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LoadStatus, TableGroupState } from '../../api/readiness/load-status.js';
import type { TableGroup } from '../../api/readiness/table-groups.js';
import { type ApiHarness, allTablesLoaded, startApi } from '../support/api.js';

const NOW = Date.UTC(2027, 3, 13);
let loading: LoadStatus | null = allTablesLoaded;
let api: ApiHarness;
let key: string;

beforeAll(async () => {
  api = await startApi({ nowMs: NOW, progress: () => loading });
  key = await api.key('enterprise');
});
afterAll(() => api.stop());

function tablesWith(changes: Partial<Record<TableGroup, Partial<TableGroupState>>>): LoadStatus {
  const groups = { ...allTablesLoaded.groups };
  for (const [table, change] of Object.entries(changes) as [TableGroup, Partial<TableGroupState>][])
    groups[table] = { ...groups[table], ...change };
  return { groups, ready: Object.values(groups).every(({ state }) => state === 'loaded') };
}

describe('routes while tables load', () => {
  it('declare the tables that they read', () => {
    // Statements of /v1/sql may read any table. Routes of accounts read the accounts' state and usage, and those of order books the newest book: they have no history to load.
    const without = api.service.routes
      .filter((route) => route.reads === undefined && !/^\/v1\/(?:account|auth|billing)(?:\/|$)/.test(route.path))
      .map(({ path }) => path);
    expect(without.sort()).toEqual([
      '/clobv2/markets/{token_id}/orderbook',
      '/healthz',
      '/readyz',
      '/v1/keys',
      '/v1/midpoint/{token}',
      '/v1/orderbook/{token}',
      '/v1/resolve/{query}',
      '/v1/spread/{token}',
      '/v1/sql',
      '/v1/status',
      '/v1/status/public',
      ...Array.from({ length: 3 }, () => '/v2/copy-pnl/wallets'),
      '/v2/x/search',
      '/v2/x/user/{handle}/tweets',
    ]);
  });

  it.each([
    ['/v3/trades', 'v3'],
    ['/v1/wallets/trades', 'v1'],
    ['/clobv2/trades', 'clobv2'],
    ['/v2/onchain/trades', 'v2'],
  ])('%s returns 503 with a message and Retry-After while its table is empty', async (path, group) => {
    loading = tablesWith({ fills: { state: 'empty', percent: 0 } });
    const response = await api.get(path, key);
    expect(response.status).toBe(503);
    expect(response.headers.get('retry-after')).toBe('5');
    const message = 'Trades are still loading: 0 % of the history is loaded. Try again in 5 seconds.';
    expect(response.body).toEqual(
      group === 'clobv2' ? { error: 'temporary_data_provider_error', detail: message } : { error: message },
    );
  });

  it.each([
    ['/v3/markets/search?q=rain', 'catalog', 'fills', 'Markets'],
    [`/v3/markets/condition/0x${'c1'.repeat(32)}`, 'catalog', 'fills', 'Markets'],
    ['/v3/markets/slug/rain', 'catalog', 'fills', 'Markets'],
    ['/v3/markets/601', 'catalog', 'fills', 'Markets'],
    ['/v3/markets/601/price', 'fills', 'catalog', 'Trades'],
    [`/v3/conditions/0x${'c1'.repeat(32)}`, 'chain', 'fills', 'Blocks and resolutions'],
  ] as const)('%s is rejected while %s is empty, not while %s is', async (path, main, other, label) => {
    const empty = { state: 'empty', percent: 0 } as const;
    loading = tablesWith({ [main]: empty });
    const rejected = await api.get(path, key);
    expect([rejected.status, rejected.body]).toEqual([
      503,
      { error: `${label} are still loading: 0 % of the history is loaded. Try again in 5 seconds.` },
    ]);
    loading = tablesWith({ [other]: empty });
    const { status, headers } = await api.get(path, key);
    expect([status, headers.get('x-loading')]).toEqual([path.startsWith('/v3/conditions') ? 404 : 200, `${other} 0%`]);
  });

  it('of a pool return all wallets as pending while the history loads, with the progress header', async () => {
    loading = tablesWith({ wallet_activity: { state: 'empty', percent: 0 } });
    for (const path of ['/v2/copy-pnl/snapshot', '/v2/copy-pnl/leaderboard']) {
      const answer = await api.get(path, await api.key('enterprise'));
      expect([answer.status, answer.headers.get('x-loading')]).toEqual([200, 'wallet_activity 0%']);
    }
    loading = null;
    expect((await api.get('/v2/copy-pnl/snapshot', await api.key('enterprise'))).status).toBe(200);
  });

  it('return 503 before the first measurement, except those without tables', async () => {
    loading = null;
    expect((await api.get('/v3/trades', key)).status).toBe(503);
    expect((await api.get('/v1/status', key)).status).toBe(200);
    expect((await api.get('/readyz')).body).toMatchObject({ history_loaded: false, tables: [] });
  });

  it('return headers with the progress of the least complete table', async () => {
    await api.reportSource({ connected: true });
    loading = tablesWith({
      fills: { state: 'loading', percent: 34, throughBlock: 120, throughMs: Date.UTC(2027, 0, 2) },
      catalog: { state: 'empty', percent: null, throughBlock: null, throughMs: null },
      oracle: { state: 'loading', percent: 1, throughBlock: 7, throughMs: 0 },
    });
    const response = await api.get('/v3/trades', key);
    expect(response.status).toBe(200);
    expect(Object.fromEntries([...response.headers].filter(([name]) => /^x-(load|lag|compl)/.test(name)))).toEqual({
      'x-loading': 'fills 34%, catalog',
      'x-complete-through-block': '120',
      'x-complete-through': '2027-01-02T00:00:00Z',
    });
    expect((await api.get('/readyz')).body).toMatchObject({
      history_loaded: false,
      error: 'history is loading: fills 34 %, oracle 1 %, catalog',
    });
    expect((await api.get('/readyz')).status).toBe(503);
  });

  it('return no such headers once loaded, and x-lagging if a table is more than a minute behind', async () => {
    await api.reportSource({ connected: true });
    loading = tablesWith({ fills: { lagS: 60, throughBlock: 5 } });
    expect(
      [...(await api.get('/v3/trades', key)).headers.keys()].filter((name) => /^x-(load|lag|compl)/.test(name)),
    ).toEqual([]);
    expect((await api.get('/readyz')).status).toBe(200);
    loading = tablesWith({ fills: { lagS: 61, throughBlock: 5 } });
    const response = await api.get('/v3/trades', key);
    expect([response.headers.get('x-lagging'), response.headers.get('x-complete-through-block')]).toEqual([
      'fills 61s',
      '5',
    ]);
    expect((await api.get('/v1/status', key)).body).toMatchObject({
      tables: expect.arrayContaining([expect.objectContaining({ table: 'fills', state: 'lagging', lag_seconds: 61 })]),
    });
  });
});
