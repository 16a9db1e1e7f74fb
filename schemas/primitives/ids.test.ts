import fc from 'fast-check';
import { encodePacked, keccak256 } from 'viem';
import { describe, expect, it } from 'vitest';
import { comboPositions, isComboPosition } from './combo-ids.js';
import {
  collectionId,
  conditionId,
  negRiskQuestionId,
  positionConditionId,
  positionOutcomeIndex,
  splitNegRiskQuestionId,
  tokenId,
  tokenPair,
} from './ids.js';
import { recordedMarkets, recordedTrades } from './recorded-ids.fixture.js';

const hash32 = fc
  .uint8Array({ minLength: 32, maxLength: 32 })
  .map((b) => `0x${Buffer.from(b).toString('hex')}` as const);

/** The contract's algorithm: square root by exponentiation, then the parity rule. */
function collectionIdByPower(condition: `0x${string}`, indexSet: number): string {
  const p = 21888242871839275222246405745257275088696311157297823662689037894645226208583n;
  const power = (base: bigint, exponent: bigint) => {
    let result = 1n;
    for (let b = base, e = exponent; e > 0n; e >>= 1n, b = (b * b) % p) if (e & 1n) result = (result * b) % p;
    return result;
  };
  let x = BigInt(keccak256(encodePacked(['bytes32', 'uint256'], [condition, BigInt(indexSet)])));
  const odd = x >> 255n === 1n;
  for (;;) {
    x = (x + 1n) % p;
    const yy = (x ** 3n + 3n) % p;
    let y = power(yy, (p + 1n) / 4n);
    if ((y * y) % p !== yy) continue;
    if (odd !== (y % 2n === 1n)) y = p - y;
    return `0x${(y % 2n === 1n ? x ^ (1n << 254n) : x).toString(16).padStart(64, '0')}`;
  }
}

describe('ids', () => {
  it.each(recordedMarkets)('derives the ids of the recorded market $conditionId', (market) => {
    expect(conditionId(market)).toBe(market.conditionId);
    expect(tokenPair(market.collateral as `0x${string}`, market.conditionId)).toEqual(market.tokenIds);
    if (market.negRisk !== undefined) {
      expect(negRiskQuestionId(market.negRisk.marketId, market.negRisk.index)).toBe(market.questionId);
      expect(splitNegRiskQuestionId(market.questionId)).toEqual(market.negRisk);
    }
  });

  it.each(recordedTrades)('derives the token of a recorded trade on $conditionId', (trade) => {
    expect(tokenId(trade)).toBe(trade.tokenId);
  });

  it('agrees with the square-root form of the algorithm', () => {
    fc.assert(
      fc.property(hash32, fc.integer({ min: 1, max: 2 ** 20 }), (condition, indexSet) => {
        expect(collectionId(condition, indexSet)).toBe(collectionIdByPower(condition, indexSet));
      }),
      { numRuns: 200 },
    );
  });

  it('accepts upper-case input and rejects text that is not hex', () => {
    const market = recordedMarkets[0]!;
    expect(conditionId({ oracle: `0x${market.oracle.slice(2).toUpperCase()}`, questionId: market.questionId })).toBe(
      market.conditionId,
    );
    expect(() => conditionId({ oracle: '0x12', questionId: market.questionId })).toThrow(RangeError);
    expect(() => conditionId({ oracle: market.oracle, questionId: '0xzz' })).toThrow(RangeError);
    expect(() => collectionId(market.conditionId, 0)).toThrow(RangeError);
    expect(() => negRiskQuestionId(market.questionId, 256)).toThrow(RangeError);
  });

  it('reads a combo position id: module 3, outcome in the last byte', () => {
    const id = 0x03aabbccddeeff00112233445566778899000000000000000000000000000501n;
    expect(positionConditionId(id)).toBe('0x03aabbccddeeff001122334455667788990000000000000000000000000005');
    expect(positionOutcomeIndex(id)).toBe(1);
    expect(() => positionConditionId(1n << 256n)).toThrow(RangeError);
    const [yes] = comboPositions(`0x03${'ab'.repeat(16)}0002${'0'.repeat(16)}00010005`);
    expect([yes, id.toString(), '601', (4n << 248n).toString()].map((one) => isComboPosition(one as string))).toEqual([
      true,
      true,
      false,
      false,
    ]);
    // A hash that happens to begin with 3.
    expect(isComboPosition(`${BigInt(`0x03${'f1'.repeat(31)}`)}`)).toBe(false);
  });
});
