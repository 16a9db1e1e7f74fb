import { describe, expect, it } from 'vitest';
import { isAddress, parseAddress, tryParseAddress, ZERO_ADDRESS } from './address.js';
import { isHash, keccakOfHex, parseHash } from './hash.js';

describe('address', () => {
  it('parseAddress returns lower case', () => {
    expect(parseAddress('0x4D97DCd97eC945f40cF65F87097ACe5EA0476045')).toBe(
      '0x4d97dcd97ec945f40cf65f87097ace5ea0476045',
    );
    expect(isAddress(ZERO_ADDRESS)).toBe(true);
    expect(isAddress('0x4D97DCd97eC945f40cF65F87097ACe5EA0476045')).toBe(false);
  });

  it.each([
    '',
    '0x',
    '4d97dcd97ec945f40cf65f87097ace5ea0476045',
    '0x4d97',
    `0x${'g'.repeat(40)}`,
    `0x${'0'.repeat(41)}`,
  ])('parseAddress rejects %j', (text) => {
    expect(tryParseAddress(text)).toBeNull();
    expect(() => parseAddress(text)).toThrow(RangeError);
  });
});

describe('hash', () => {
  it('keccakOfHex hashes bytes', () => {
    // keccak256 of the empty string.
    expect(keccakOfHex('')).toBe('0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470');
    expect(isHash(keccakOfHex(''))).toBe(true);
    expect(() => parseHash('0x00')).toThrow(RangeError);
  });
});
