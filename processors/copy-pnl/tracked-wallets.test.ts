import { expect, it } from 'vitest';
import { createTrackedWallets } from './tracked-wallets.js';

it('createTrackedWallets counts a wallet once over all pools and reports it as added once', () => {
  const tracked = createTrackedWallets();
  const pool = (key: string, wallets: readonly string[]) =>
    tracked.apply(`pool:${key}`, { 'oddstream.Pool': { key_hash: key, account_id: 'a', wallets } });
  expect(pool('k1', ['0xb', '0xc'])).toEqual(['0xb', '0xc']);
  expect(pool('k2', ['0xa', '0xb'])).toEqual(['0xa']);
  // A change that leaves a wallet in its pool does not add it again.
  expect(pool('k1', ['0xb', '0xd'])).toEqual(['0xd']);
  expect([tracked.size, tracked.all(), tracked.has('0xc')]).toEqual([3, ['0xa', '0xb', '0xd'], false]);
  expect(tracked.apply('pool:k1', null)).toEqual([]);
  expect(tracked.all()).toEqual(['0xa', '0xb']);
  expect(tracked.apply('pool:unknown', null)).toEqual([]);
  expect(tracked.apply('key:k2', null)).toEqual([]);
  expect(pool('k2', [])).toEqual([]);
  expect([tracked.size, tracked.all()]).toEqual([0, []]);
  expect(pool('k2', ['0xa'])).toEqual(['0xa']);
});
