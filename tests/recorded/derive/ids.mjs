// Identity math of the Conditional Tokens Framework, written from its published rules; independent of schemas/primitives.
import { keccak256 } from 'viem';

const P = 21888242871839275222246405745257275088696311157297823662689037894645226208583n;
export const CRYPTO_ORACLE = '0x58e1745bedda7312c4cddb72618923da1b90efde';
export const NEG_RISK_ADAPTER = '0xd91e80cf2e7be2e162c6513ced06f1dd0da35296';
export const USDC_E = '0x2791bca1f2de4661ed88a30c99a7a9449aa84174';
export const WRAPPED_COLLATERAL = '0x3a3bd7bb9528e159577f7c2e685cc81a765002e2';

export const keccakHex = (bytes) => keccak256(bytes);
const word = (value) => Buffer.from(value.toString(16).padStart(64, '0'), 'hex');
const bytesOf = (hex) => Buffer.from(hex.slice(2), 'hex');

function powMod(base, exponent) {
  let result = 1n;
  for (let b = base % P, e = exponent; e > 0n; e >>= 1n, b = (b * b) % P) if (e & 1n) result = (result * b) % P;
  return result;
}

export function conditionId(oracle, questionId) {
  return keccakHex(Buffer.concat([bytesOf(oracle), bytesOf(questionId), word(2n)]));
}

/** Collection id with no parent: a point of alt_bn128 found from the hash, compressed to x with y's parity in bit 254. */
function collectionId(condition, indexSet) {
  let x = BigInt(keccakHex(Buffer.concat([bytesOf(condition), word(BigInt(indexSet))])));
  const odd = x >> 255n !== 0n;
  let y = 0n;
  for (let found = false; !found; ) {
    x = (x + 1n) % P;
    const yy = (x * x * x + 3n) % P;
    y = powMod(yy, (P + 1n) / 4n);
    found = (y * y) % P === yy;
  }
  if (odd !== (y % 2n === 1n)) y = P - y;
  return y % 2n === 1n ? x ^ (1n << 254n) : x;
}

export function tokenIds(condition, collateral) {
  return [1, 2].map((set) =>
    BigInt(keccakHex(Buffer.concat([bytesOf(collateral), word(collectionId(condition, set))]))).toString(),
  );
}

export const questionIdOfSlug = (slug) => keccakHex(Buffer.from(slug, 'utf8'));
