import fc from 'fast-check';
import { getCreate2Address, keccak256, pad } from 'viem/utils';
import { expect, it } from 'vitest';
import { walletsOf } from './wallet-addresses.js';

/** Public clients of the venue use the owner of all ones as a test vector of their derivations. */
it('walletsOf returns the addresses of other implementations', () => {
  expect(walletsOf('0x1111111111111111111111111111111111111111')).toEqual({
    proxy: '0xf537a2b3159593a425e2fa8f5ba3bd3080d4a18a',
    safe: '0x6b503ad95d139be2a07cd0e8888d71c6403d9c9c',
    deposit_uups: '0xfaea0f08159fcf2f573fe24e9e989b0d48f7651b',
    deposit_beacon: '0x574548bc296a44a39a7828343fc262244f37a7e5',
  });
});

it('walletsOf equals CREATE2 of an independent library', () => {
  const key = fc.bigInt({ min: 0n, max: 2n ** 160n - 1n }).map((n) => `0x${n.toString(16).padStart(40, '0')}` as const);
  fc.assert(
    fc.property(key, (owner) => {
      const { safe, proxy } = walletsOf(owner);
      expect(safe).toBe(
        getCreate2Address({
          from: '0xaacFeEa03eb1561C4e67d661e40682Bd20E3541b',
          salt: keccak256(pad(owner, { size: 32 })),
          bytecodeHash: '0x2bce2127ff07fb632d16c8347c4ebf501f4841168bed00d9e6ef715ddb6fcecf',
        }).toLowerCase(),
      );
      expect(proxy).toBe(
        getCreate2Address({
          from: '0xaB45c5A4B0c941a2F231C04C3f49182e1A254052',
          salt: keccak256(owner),
          bytecodeHash: '0xd21df8dc65880a8606f09fe0ce3df9b8869287ab0b058be05aa9e8af6330a00b',
        }).toLowerCase(),
      );
    }),
  );
});

it('walletsOf ignores the letter case of an owner, and rejects text that is no address', () => {
  const owner = '0xabcdefabcdefabcdefabcdefabcdefabcdefabcd';
  expect(walletsOf(`0x${owner.slice(2).toUpperCase()}`)).toEqual(walletsOf(owner));
  expect(() => walletsOf('0x12')).toThrow(RangeError);
});
