import { expect, it } from 'vitest';
import { createResponseCache } from '../../cache/response-cache.js';
import { ApiError } from '../../errors/failure.js';
import type { RequestContext } from '../../http/route.js';
import type { Sql, Tables } from '../../tables/port.js';
import { createResolveRoute } from './resolve.js';

const wallet = `0x${'ab'.repeat(20)}`;
const CAPITAL = `0X${'AB'.repeat(20)}`;
const named = `0x${'cd'.repeat(20)}`;

/** Statuses and texts of the route over one cache. The catalogue finds names in lower case only, the tables have activity of `wallet` and `named`. */
function createRoute() {
  const tables: Tables = {
    reachable: async () => true,
    rows: async <T>(sql: Sql) =>
      (sql.params.addresses as string[])
        .filter((one) => one === wallet || one === named)
        .map((one) => ({ wallet: one }) as T),
  };
  const route = createResolveRoute({
    tables,
    chain: null,
    profiles: { nameOf: async () => null, walletOf: async (name) => (name === 'kate' ? named : null) },
    cache: createResponseCache({ nowMs: () => 0 }),
  });
  return async (query: string): Promise<string> => {
    try {
      const input = { params: { query }, query: new URLSearchParams(), body: undefined };
      const { body } = await route.handle(input, {} as RequestContext);
      return (body as { safe: string }).safe;
    } catch (error) {
      if (error instanceof ApiError && error.failure.kind === 'not_found') return String(error.failure.message);
      throw error;
    }
  };
}

it('/v1/resolve reads an address in any letter case, 0X included, and caches one result for all of them', async () => {
  const resolve = createRoute();
  for (const spelling of [CAPITAL, wallet, `0x${'Ab'.repeat(20)}`]) expect(await resolve(spelling)).toBe(wallet);
});

it('/v1/resolve says of an unknown address that it is one, with 0X too', async () => {
  const resolve = createRoute();
  for (const spelling of [`0X${'EF'.repeat(20)}`, `0x${'ef'.repeat(20)}`])
    expect(await resolve(spelling)).toBe('Address not found.');
  expect(await resolve('unknown')).toBe('Username not found.');
});

it.each(['KATE', '\u212Aate'])(
  '/v1/resolve of %s does not change what the name in lower case resolves to',
  async (other) => {
    const resolve = createRoute();
    expect([await resolve(other), await resolve('kate')]).toEqual([named, named]);
  },
);
