import { afterAll, beforeAll, expect, it } from 'vitest';
import type { z } from 'zod';
import type { Route } from '../../api/http/route.js';
import { type ApiHarness, startApi } from '../support/api.js';

let api: ApiHarness;
let key: string;
beforeAll(async () => {
  api = await startApi({ nowMs: 1_790_000_000_000 });
  key = await api.key('enterprise');
});
afterAll(() => api?.stop());

const UNKNOWN = 'zzz';
/** Routes for monitors and load balancers, which add parameters. */
const OPEN = ['/healthz', '/readyz'];
const namesOf = (route: Route): string[] => [...Object.keys(route.query?.shape ?? {}), ...Object.keys(route.aliases)];
/** Routes of sessions are left out: without a session they are rejected before their parameters are read. */
const strictRoutes = (): readonly Route[] =>
  api.service.routes.filter((route) => !OPEN.includes(route.path) && route.auth !== 'session');

/** Error of a request that must return 400; each request is a minute later, so that no limit applies. */
async function rejectionMessage(route: Route, query: string): Promise<string> {
  api.clock.nowMs += 60_000;
  const path = `${route.path.replace(/\{\w+\}/g, 'x')}?${query}`;
  const init = route.method === 'get' ? {} : { method: route.method.toUpperCase(), body: '{}' };
  const headers = { 'x-api-key': key, 'content-type': 'application/json' };
  const { status, body } = await api.request(path, { ...init, headers });
  expect([path, status, Object.keys(body as object)]).toEqual([path, 400, ['error']]);
  return (body as { error: string }).error;
}

it('every route rejects an unknown parameter in the format of its API group', async () => {
  expect(strictRoutes().length).toBeGreaterThan(75);
  for (const route of strictRoutes()) {
    const sentences = ['root', 'v1', 'v2', 'v2x'].includes(route.apiGroup);
    const names = Object.keys(route.query?.shape ?? {}).join(', ');
    const advice = names === '' ? 'this endpoint takes none' : `use ${names}`;
    expect(await rejectionMessage(route, `${UNKNOWN}=1`)).toBe(
      sentences
        ? `Unknown query parameter '${UNKNOWN}'. ${advice[0]?.toUpperCase()}${advice.slice(1)}`
        : `unknown query parameter '${UNKNOWN}': ${advice}`,
    );
  }
});

it('every route suggests the parameter that differs in one letter', async () => {
  for (const route of strictRoutes()) {
    const names = namesOf(route);
    for (const name of [...names, 'key']) {
      const middle = Math.ceil(name.length / 2);
      const typo = `${name.slice(0, middle)}x${name.slice(middle)}`;
      expect(names).not.toContain(typo);
      const error = await rejectionMessage(route, `${typo}=1`);
      // `minSize` and `min_size` are equally near.
      const plain = (text: string) => text.toLowerCase().replaceAll('_', '');
      expect([route.path, plain(error)]).toEqual([
        route.path,
        expect.stringContaining(`did you mean '${plain(name)}'?`),
      ]);
    }
  }
});

it.each(OPEN)('%s ignores unknown parameters', async (path) => {
  expect((await api.get(`${path}?cachebust=1&zzz=2`)).status).not.toBe(400);
});

it('OpenAPI lists every parameter of a route, aliases included', () => {
  const paths = api.service.openApi.paths as Record<
    string,
    Record<string, { parameters: { name: string; in: string }[] }>
  >;
  for (const route of api.service.routes) {
    const listed = paths[route.path]?.[route.method]?.parameters.filter((one) => one.in === 'query') ?? [];
    expect([route.path, listed.map((one) => one.name)]).toEqual([route.path, namesOf(route)]);
  }
});

interface DocumentedParameter {
  readonly name: string;
  readonly in: string;
  readonly required: boolean;
  readonly example?: unknown;
}
/** Parameters of the routes in OpenAPI, without the headers. */
const documented = (): readonly { readonly route: Route; readonly parameters: readonly DocumentedParameter[] }[] => {
  const paths = api.service.openApi.paths as Record<string, Record<string, { parameters: DocumentedParameter[] }>>;
  return api.service.routes.map((route) => ({
    route,
    parameters: (paths[route.path]?.[route.method]?.parameters ?? []).filter((one) => one.in !== 'header'),
  }));
};

it('every example of a parameter in OpenAPI is a value that the parameter accepts', () => {
  const checked = documented().flatMap(({ route, parameters }) =>
    parameters
      .filter(({ example }) => example !== undefined)
      .map(({ name, in: where, example }) => {
        const shape = (where === 'path' ? route.params : route.query)?.shape ?? {};
        const schema = shape[route.aliases[name] ?? name] as z.ZodType | undefined;
        return { parameter: `${route.path} ${name}=${example}`, error: schema?.safeParse(String(example)).error };
      }),
  );
  expect(checked.length).toBeGreaterThan(100);
  expect(checked.filter(({ error }) => error !== undefined)).toEqual([]);
});

const times = ['after', 'before', 'start', 'end', 'start_time', 'end_time'];
const paging = ['limit', 'offset'];
const fillFilters = [
  'token_id',
  'condition_id',
  'market_slug',
  'event_slug',
  'event_id',
  'min_amount_usd',
  'min_amount',
];
const byOrder = ['order_hash', 'sort_by', 'group_by', 'order'];
const chosen = ['category', 'tags', 'tag_slug', 'market', 'market_slug', 'event_slug', 'condition_id'];
const combo = ['condition_id', 'market_id', 'position_id', ...paging];
const candles = ['resolution', 'limit', 'direction', 'anchor_ts', 'order', 'gap_fill', ...times];

// Parameters that clients of such endpoints send.
it.each<[string, readonly string[]]>([
  ['/v1/coverage', ['source', 'from', 'to']],
  ['/v1/crypto/candles', ['symbol']],
  ['/v1/crypto/ticks', ['symbol', 'from', 'to', 'limit']],
  ['/v1/crypto/price', ['symbol', 'window', 'interval']],
  ['/v1/events/search', ['q', 'limit']],
  ['/v1/trader/{wallet}/pnl', ['period']],
  [
    '/v1/wallets/{addr}/positions',
    ['sortBy', 'sortDirection', 'sizeThreshold', 'redeemable', 'condition_id', ...paging],
  ],
  ['/v1/wallets/{addr}/trades', paging],
  ['/v1/wallets/positions', ['wallets', ...paging]],
  [
    '/v1/markets/{id}/positions',
    ['sortBy', 'sortDirection', 'status', 'min_size', 'minSize', 'includeTrades', 'user', ...paging],
  ],
  ['/v1/markets/{id}/trades', ['user', 'side', ...paging]],
  ['/v2/wallets/{address}/positions/onchain', ['since', 'until', 'tag_slug']],
  ['/v2/wallets/{address}/closed-positions', ['sortBy', 'sortDirection', 'market', 'title', ...paging]],
  ['/v2/trader/{wallet}/equity', ['period', 'normalize', 'from', 'to', 'max_markets', 'include_unrealized']],
  ['/v2/onchain/wallets/{address}/trades', ['cursor', ...paging]],
  ['/v2/onchain/wallets/{address}/redemptions', paging],
  ['/v2/onchain/wallets/{address}/activity', paging],
  ['/v2/onchain/markets/{token_id}/trades', ['cursor', ...paging]],
  [
    '/v2/onchain/positions',
    [
      'wallet',
      'market_slug',
      'condition_id',
      'token_id',
      'status',
      'min_size',
      'tag_slug',
      'limit',
      'order',
      'pagination_key',
    ],
  ],
  [
    '/v2/onchain/trades',
    [
      'wallet',
      'market_slug',
      'condition_id',
      'token_id',
      'start_time',
      'end_time',
      'min_total',
      'limit',
      'order',
      'sort_by',
      'group_by',
      'pagination_key',
    ],
  ],
  [
    '/v2/onchain/candles',
    [
      'token_id',
      'condition_id',
      'market_slug',
      'resolution',
      'limit',
      'direction',
      'anchor_ts',
      'anchor_block',
      'anchor_tx',
      'gap_fill',
    ],
  ],
  [
    '/v2/onchain/candles/{token_id}',
    [
      'condition_id',
      'market_slug',
      'resolution',
      'limit',
      'direction',
      'anchor_ts',
      'anchor_block',
      'anchor_tx',
      'gap_fill',
    ],
  ],
  ['/v2/onchain/tags', ['details', 'prefix', 'min_markets', 'sort', 'limit']],
  ['/v2/onchain/wallets/{address}/trades/all', ['from', 'to']],
  ['/v2/onchain/markets/{token_id}/trades/all', ['from', 'to']],
  ['/v3/trades', [...times, ...paging, ...fillFilters, ...byOrder, 'builder', 'side', 'matches_only']],
  ['/v3/wallets/{address}/trades', [...times, ...paging, ...fillFilters, ...byOrder, 'side', 'include_combos']],
  ['/v3/wallets/{address}/combos/trades', [...combo, 'side']],
  ['/v3/markets/{token_id}/trades', [...times, ...paging, ...byOrder, 'min_amount_usd']],
  ['/v3/markets/slug/{slug}/trades', [...times, ...paging, ...byOrder, 'min_amount_usd']],
  ['/v3/builders/{code}/trades', [...times, ...paging, ...fillFilters, 'order', 'category', 'tag_slug', 'side']],
  ['/v3/markets/search', ['q', 'sort', ...paging]],
  ['/v3/markets/condition/{condition_id}/positions', ['sort', ...paging]],
  ['/v3/markets/{token_id}/positions', ['sort', ...paging]],
  ['/v3/markets/slug/{slug}/positions', ['sort', 'status', ...paging]],
  ['/v3/wallets/{address}/pnl/events', ['group', 'period', 'after', 'before', 'limit']],
  ['/v3/wallets/{address}', ['include_combos', 'include_accounting_summary']],
  ['/v3/wallets/{address}/pnl', ['period', 'after', 'before', ...chosen, 'include_unrealized', 'include_combos']],
  [
    '/v3/wallets/{address}/positions',
    ['status', 'sort', 'order', 'condition_id', 'market_slug', 'min_size', 'include_combos', ...paging],
  ],
  ['/v3/wallets/{address}/redemptions', ['after', 'before', 'order', ...paging]],
  ['/v3/wallets/{address}/splits', ['after', 'before', ...paging]],
  ['/v3/wallets/{address}/merges', ['after', 'before', ...paging]],
  ['/v3/wallets/{address}/nrc', ['after', 'before', ...paging]],
  ['/v3/wallets/{address}/activity', ['after', 'before', ...paging]],
  ['/v3/wallets/{address}/fees-paid', ['after', 'before', 'order', ...paging]],
  ['/v3/wallets/{address}/polyusd-flows', ['kind', 'after', 'before', 'order', ...paging]],
  ['/v3/wallets/{address}/combos/positions', [...combo, 'status']],
  ['/v3/wallets/{address}/combos/activity', [...combo, 'event_kind', 'after', 'before']],
  ['/v3/wallets/{address}/combos/summary', ['condition_id', 'market_id', 'position_id']],
  [
    '/v3/wallets/{address}/combos/redemptions',
    [...combo, 'redemption_scope', 'redemption_type', 'tx_hash', 'after', 'before'],
  ],
  ['/v3/markets/{token_id}/candles', candles],
  ['/v3/markets/condition/{condition_id}/candles', [...candles, 'token_id']],
  ['/v3/markets/slug/{slug}/candles', [...candles, 'token_id']],
  ['/v3/tags', paging],
  ['/v3/tags/{slug}', ['sort', ...paging]],
  ['/v3/tags/{slug}/leaderboard', ['sort', ...paging]],
  ['/v3/leaderboard', ['sort', ...chosen, ...paging]],
  [
    '/v3/positions',
    ['status', 'sort', 'order', 'token_id', 'condition_id', 'market_slug', 'min_size', 'minSize', ...paging],
  ],
  ['/v3/resolutions', paging],
  ['/v3/builders', ['sort', ...paging]],
  ['/v3/builders/{code}', ['sort']],
  ['/v3/combos/markets', [...combo, 'status', 'sort']],
  ['/v3/combos/activity', [...combo, 'wallet', 'event_kind']],
  ['/v3/combos/redemptions', [...combo, 'wallet', 'redemption_scope', 'redemption_type', 'tx_hash']],
  [
    '/clobv2/trades',
    [
      'wallet',
      'builder',
      'token_id',
      'condition_id',
      'start',
      'start_time',
      'end',
      'end_time',
      'min_usd',
      'min_total',
      'order',
      ...paging,
    ],
  ],
  ['/clobv2/positions', ['wallet', 'token_id', 'condition_id', 'status', 'min_size', 'minSize', 'order', ...paging]],
  ['/clobv2/wallets/{address}/trades', paging],
  ['/clobv2/markets/{token_id}/trades', paging],
  ['/clobv2/neg-risk/events', paging],
  ['/clobv2/neg-risk/events/{parent_id}/children', ['limit']],
  ['/clobv2/candles/{token_id}', ['resolution', 'limit', 'start', 'end']],
  ['/clobv2/volume/hourly', ['limit']],
  ['/clobv2/builders', ['limit']],
])('%s accepts the parameters that clients send', (path, sent) => {
  const route = api.service.routes.find((one) => one.path === path);
  if (route === undefined) throw new Error(`No route ${path}`);
  expect(sent.filter((name) => !namesOf(route).includes(name))).toEqual([]);
});
