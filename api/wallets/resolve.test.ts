import { expect, it } from 'vitest';
import { walletsOf } from '../../schemas/primitives/wallet-addresses.js';
import type { Sql, Tables } from '../tables/port.js';
import { createResolver } from './resolve.js';

/** Tables that have seen these wallets. */
const tablesWith = (...wallets: string[]): Tables => ({
  reachable: async () => true,
  rows: async <T>(sql: Sql) =>
    (sql.params.addresses as string[]).filter((one) => wallets.includes(one)).map((wallet) => ({ wallet }) as T),
});
const owner = `0x${'1'.repeat(40)}`;

it('without a node, wallets that were seen count as deployed', async () => {
  const own = walletsOf(owner);
  const resolve = createResolver({ tables: tablesWith(own.proxy, own.safe), chain: null, profiles: null });
  expect(await resolve(owner)).toMatchObject({
    safe: own.safe,
    eoa: owner,
    username: null,
    type: 'safe',
    wallets: { deposit_wallet: null, safe: own.safe, proxy_wallet: own.proxy },
  });
  expect(await resolve(own.proxy.toUpperCase().replace('0X', '0x'))).toMatchObject({
    safe: own.proxy,
    eoa: null,
    type: null,
  });
  expect(await resolve(`0x${'2'.repeat(40)}`)).toBeNull();
  expect(await resolve('somebody')).toBeNull();
});
