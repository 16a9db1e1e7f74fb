import { keccak256 } from 'viem/utils';
import type { Hex } from '../source.js';

const BLOOM = /^0x[0-9a-f]{512}$/i;

/**
 * Returns a function that tells whether the logs bloom filter of a block header admits logs of one of the contracts. The filter has 2048 bits,
 * of which each address sets three: the low 11 bits of the first three pairs of bytes of its keccak-256. true also for a header without a filter.
 */
export function createBloomCheck(addresses: readonly Hex[]): (logsBloom: unknown) => boolean {
  const contracts = addresses.map((address) => {
    const hash = Buffer.from(keccak256(address, 'bytes'));
    return [0, 2, 4].map((at) => hash.readUInt16BE(at) & 2047);
  });
  return (logsBloom) => {
    if (typeof logsBloom !== 'string' || !BLOOM.test(logsBloom)) return true;
    const bytes = Buffer.from(logsBloom.slice(2), 'hex');
    return contracts.some((bits) => bits.every((bit) => (bytes[255 - (bit >> 3)]! & (1 << (bit & 7))) !== 0));
  };
}
