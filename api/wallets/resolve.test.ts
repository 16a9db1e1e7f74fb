import { expect, it } from 'vitest';
import { walletsOf } from '../../schemas/primitives/wallet-addresses.js';
import type { Sql, Tables } from '../tables/port.js';
import { createResolver } from './resolve.js';

/** Tables that contain these wallets. */
const tablesWith = (...wallets: string[]): Tables => ({
  reachable: async () => true,
  rows: async <T>(sql: Sql) =>
    (sql.params.addresses as string[]).filter((one) => wallets.includes(one)).map((wallet) => ({ wallet }) as T),
});
const owner = `0x${'1'.repeat(40)}`;

it('createResolver counts wallets with on-chain activity as deployed if there is no node', async () => {
  const wallets = walletsOf(owner);
  const resolve = createResolver({ tables: tablesWith(wallets.proxy, wallets.safe), chain: null, profiles: null });
  expect(await resolve(owner)).toMatchObject({
    safe: wallets.safe,
    eoa: owner,
    username: null,
    type: 'safe',
    wallets: { deposit_wallet: null, safe: wallets.safe, proxy_wallet: wallets.proxy },
  });
  expect(await resolve(wallets.proxy.toUpperCase().replace('0X', '0x'))).toMatchObject({
    safe: wallets.proxy,
    eoa: null,
    type: null,
  });
  expect(await resolve(`0x${'2'.repeat(40)}`)).toBeNull();
  expect(await resolve('unknown-name')).toBeNull();
});
