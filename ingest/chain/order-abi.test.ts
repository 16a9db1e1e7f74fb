import { keccak256, parseAbiItem, stringToBytes, toFunctionSelector } from 'viem';
import { describe, expect, it } from 'vitest';
import { functionAbi, orderTypeHashes, orderTypeStrings } from './order-abi.js';

describe('order abi', () => {
  it.each(Object.entries(functionAbi))('selector of %s is the keccak of its signature', (_name, fn) => {
    const item = parseAbiItem(fn.signature as string);
    if (item.type !== 'function') throw new Error('not a function');
    expect(toFunctionSelector(item)).toBe(fn.selector);
  });

  it('type hashes are the keccak of the type strings', () => {
    expect(keccak256(stringToBytes(orderTypeStrings.v1))).toBe(orderTypeHashes.v1);
    expect(keccak256(stringToBytes(orderTypeStrings.v2))).toBe(orderTypeHashes.v2);
  });
});
