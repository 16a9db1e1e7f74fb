import fc from 'fast-check';
import { hashTypedData } from 'viem';
import { describe, expect, it } from 'vitest';
import { addresses, settlementExchange } from '../contracts.js';
import type { Hex } from '../source.js';
import { orderHash } from './order-hash.js';

const word = (value: bigint | Hex): string => BigInt(value).toString(16).padStart(64, '0');
const exchange = (address: Hex) => settlementExchange(address)!;
const ones: Hex = `0x${'11'.repeat(20)}`;
const twos: Hex = `0x${'22'.repeat(20)}`;

const v2Words = (
  salt: bigint,
  maker: Hex,
  signer: Hex,
  token: bigint,
  made: bigint,
  took: bigint,
  side: bigint,
  type: bigint,
  timestamp: bigint,
) => [salt, maker, signer, token, made, took, side, type, timestamp, 0n, 0n].map(word).join('');

describe('order hash', () => {
  it('equals hashOrder of the deployed V2 exchange', () => {
    const words = v2Words(
      479249096354n,
      ones,
      ones,
      105366567478328005392567869753167454028138413658796937240111452331819204147927n,
      5_200_000n,
      10_000_000n,
      0n,
      0n,
      1790693394000n,
    );
    expect(orderHash(exchange(addresses.exchangeV2), words)).toBe(
      '0x683dcb48ddb035f0b7a838120bbf04b90cc69cc17bf995cfa5a3156ca3e52eb0',
    );
  });

  const same = v2Words(12345n, twos, ones, 777n, 30_000_000n, 50_000_000n, 0n, 2n, 1790000000000n);
  it.each([
    [addresses.exchangeV2, '0xd4df801d473c3e61d43ab9e63906e8dd1bfd8ff48d4a019de57b3c8ac87cdcce'],
    [addresses.exchangeV2NegRiskA, '0x9b853eb93ac925f19a1f716f8a57ad8c35f143c075d28dce2e4f8498b84372a1'],
    [addresses.exchangeV3, '0xadb8aabc6159b2c822a0ddf2f760d9dfdd483890a6ab087aaffa796ef2adabc7'],
  ] as const)('of one V2 order on %s is %s', (address, expected) => {
    expect(orderHash(exchange(address), same)).toBe(expected);
  });

  it('of a V1 order with the same values', () => {
    const words = [12345n, twos, ones, 0n, 777n, 30_000_000n, 50_000_000n, 0n, 0n, 0n, 0n, 2n].map(word).join('');
    expect(orderHash(exchange(addresses.exchangeV1), words)).toBe(
      '0x8dc0398cf2b728b08f145fab83b3573b13677654369b6fe1d01a4df4681d8447',
    );
  });

  it('agrees with the hash of viem for any V2 order', () => {
    const field = (name: string, type: string) => ({ name, type });
    const types = {
      Order: [
        field('salt', 'uint256'),
        field('maker', 'address'),
        field('signer', 'address'),
        field('tokenId', 'uint256'),
        field('makerAmount', 'uint256'),
        field('takerAmount', 'uint256'),
        field('side', 'uint8'),
        field('signatureType', 'uint8'),
        field('timestamp', 'uint256'),
        field('metadata', 'bytes32'),
        field('builder', 'bytes32'),
      ],
    };
    const uint = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n });
    fc.assert(
      fc.property(uint, uint, uint, uint, fc.bigInt({ min: 0n, max: 1n }), (salt, tokenId, made, took, side) => {
        const order = { maker: twos, signer: ones, signatureType: 1, timestamp: 5n, salt, tokenId };
        const zero: Hex = `0x${'00'.repeat(32)}`;
        expect(
          orderHash(exchange(addresses.exchangeV2), v2Words(salt, twos, ones, tokenId, made, took, side, 1n, 5n)),
        ).toBe(
          hashTypedData({
            domain: {
              name: 'Polymarket CTF Exchange',
              version: '2',
              chainId: 137,
              verifyingContract: addresses.exchangeV2,
            },
            types,
            primaryType: 'Order',
            message: {
              ...order,
              makerAmount: made,
              takerAmount: took,
              side: Number(side),
              metadata: zero,
              builder: zero,
            },
          }),
        );
      }),
      { numRuns: 30 },
    );
  });
});
