import { type Address, parseAddress } from './address.js';
import { type Hex, keccakOfHex, parseHash } from './hash.js';

/** Prime of the alt_bn128 base field. */
const P = 21888242871839275222246405745257275088696311157297823662689037894645226208583n;
const SIGN_BIT = 1n << 254n;

const word = (value: bigint): string => value.toString(16).padStart(64, '0');

/** conditionId = keccak256(oracle ++ questionId ++ uint256(slots)), as ConditionalTokens derives it. Throws RangeError on bad hex. */
export function conditionId(of: { oracle: string; questionId: string; slots?: number }): Hex {
  const oracle = parseAddress(of.oracle).slice(2);
  const questionId = parseHash(of.questionId).slice(2);
  return keccakOfHex(`${oracle}${questionId}${word(BigInt(of.slots ?? 2))}`);
}

/** Whether `value` is a square modulo P: its Jacobi symbol is not -1. */
function isSquare(value: bigint): boolean {
  let a = value;
  let n = P;
  let negative = false;
  while (a !== 0n) {
    while ((a & 1n) === 0n) {
      a >>= 1n;
      const mod8 = n & 7n;
      if (mod8 === 3n || mod8 === 5n) negative = !negative;
    }
    [a, n] = [n, a];
    if ((a & 3n) === 3n && (n & 3n) === 3n) negative = !negative;
    a %= n;
  }
  return !negative || n !== 1n;
}

/**
 * Collection id of an index set of a condition (no parent collection), as CTHelpers.getCollectionId: the first x at or after
 * keccak(condition ++ indexSet) + 1 on y^2 = x^3 + 3 over alt_bn128, with the hash's top bit choosing the parity of y, kept in bit 254.
 * Without a parent collection no point is added, so only the existence of y matters, not its value.
 */
export function collectionId(condition: string, indexSet: number | bigint): Hex {
  const bits = BigInt(indexSet);
  if (bits < 1n || bits >> 256n !== 0n) throw new RangeError(`Not an index set: ${indexSet}`);
  let x = BigInt(keccakOfHex(`${parseHash(condition).slice(2)}${word(bits)}`));
  const odd = x >> 255n !== 0n;
  do {
    x = (x + 1n) % P;
  } while (!isSquare((x * x * x + 3n) % P));
  return `0x${word(odd ? x ^ SIGN_BIT : x)}`;
}

/** ERC-1155 id of the token of an index set (bit i = outcome i), decimal text. */
export function indexSetTokenId(of: { collateral: string; conditionId: string; indexSet: number | bigint }): string {
  const collection = collectionId(of.conditionId, of.indexSet);
  return BigInt(keccakOfHex(`${parseAddress(of.collateral).slice(2)}${collection.slice(2)}`)).toString();
}

/** ERC-1155 id of an outcome token, decimal text. outcomeIndex 0 is the first outcome (Yes, Up). */
export function tokenId(of: { collateral: string; conditionId: string; outcomeIndex: number }): string {
  return indexSetTokenId({ ...of, indexSet: 2 ** of.outcomeIndex });
}

/** Both outcome tokens of a two-slot condition, in outcome order. */
export function tokenPair(collateral: Address, condition: string): readonly [string, string] {
  return [
    tokenId({ collateral, conditionId: condition, outcomeIndex: 0 }),
    tokenId({ collateral, conditionId: condition, outcomeIndex: 1 }),
  ];
}

/** Question id of a neg-risk market: the market id (last byte zero) with the question's index in the last byte. */
export function negRiskQuestionId(marketId: string, index: number): Hex {
  if (!Number.isInteger(index) || index < 0 || index > 255) throw new RangeError(`Not a question index: ${index}`);
  return `0x${parseHash(marketId).slice(2, 64)}${index.toString(16).padStart(2, '0')}`;
}

/** Market id and question index that a neg-risk question id consists of. */
export function splitNegRiskQuestionId(questionId: string): { marketId: Hex; index: number } {
  const hash = parseHash(questionId);
  return { marketId: `${hash.slice(0, 64)}00` as Hex, index: Number.parseInt(hash.slice(64), 16) };
}

function positionWord(positionId: bigint): string {
  if (positionId < 0n || positionId >> 256n !== 0n) throw new RangeError('Not a uint256 position id');
  return word(positionId);
}

/** Condition id (bytes31, `0x` + 62 hex) of a position of the module-based protocol (combos): the id without its last byte. */
export function positionConditionId(positionId: bigint): Hex {
  return `0x${positionWord(positionId).slice(0, 62)}`;
}

/** Outcome index of such a position, its last byte: 0 = YES, 1 = NO. */
export function positionOutcomeIndex(positionId: bigint): number {
  return Number.parseInt(positionWord(positionId).slice(62), 16);
}
