import fc from 'fast-check';
import { keccak256 } from 'viem';
import { expect, it } from 'vitest';
import { keccakOfHex } from './hash.js';

it('keccakOfHex is keccak256, for any bytes', () => {
  // The example of the Ethereum documents: the code hash of an account without code.
  expect(keccakOfHex('')).toBe('0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470');
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 700 }), (bytes) => {
      expect(keccakOfHex(Buffer.from(bytes).toString('hex'))).toBe(keccak256(bytes));
    }),
    { numRuns: 500 },
  );
});
