import type { ExchangeContract } from '../contracts.js';
import { orderTypeHashes } from '../order-abi.js';
import type { Hex } from '../source.js';
import { keccakHex, WORD } from './hex.js';

/** Words of the ABI tuple that are signed, in the order of the EIP-712 type: everything before the signature. */
const SIGNED_WORDS = { 1: 12, 2: 11, 3: 11 } as const;

/**
 * EIP-712 hash of an order: keccak(0x1901 ++ domain separator ++ keccak(type hash ++ signed words)). `words` is hex without `0x`, the head of the
 * order's ABI tuple: its first words are exactly the struct's encoding.
 */
export function orderHash(exchange: ExchangeContract, words: string): Hex {
  const typeHash = exchange.generation === 1 ? orderTypeHashes.v1 : orderTypeHashes.v2;
  const struct = keccakHex(`${typeHash}${words.slice(0, SIGNED_WORDS[exchange.generation] * WORD)}`);
  return keccakHex(`0x1901${exchange.domainSeparator.slice(2)}${struct.slice(2)}`);
}
