import { keccakOfHex } from '../../../schemas/primitives/hash.js';
import type { Hex } from '../source.js';

/** A log or calldata without the shape that its contract defines. The message is the reason in the dead letter. */
export class MalformedError extends Error {
  override name = 'MalformedError';
}

/** Characters of one ABI word. */
export const WORD = 64;
const ZEROS = '0'.repeat(WORD);
const ZEROS_48 = '0'.repeat(48);
/** Exclusive upper bound of fill amounts. */
export const FILL_LIMIT = 1n << 64n;
/** Exclusive upper bound of other amounts: the precision of the schema's decimals. */
export const AMOUNT_LIMIT = 10n ** 38n;

/** Value of a lower-case hex digit by char code, -1 for any other character. */
const HEX_DIGIT_VALUE = new Int8Array(65536).fill(-1);
for (let digit = 0; digit < 16; digit++) HEX_DIGIT_VALUE[digit.toString(16).charCodeAt(0)] = digit;

const HEX = /^[0-9a-f]*$/;

/** Throws unless the text is lower-case hex. For long texts: the expression is compiled to a loop that is three times as fast as `requireHex`. */
export function requireAllHex(text: string): void {
  if (!HEX.test(text)) throw new MalformedError('not lower-case hex');
}

/** Throws unless [from, to) of the text is lower-case hex. */
export function requireHex(text: string, from: number, to: number): void {
  if (to > text.length) throw new MalformedError('data is too short');
  let seen = 0;
  for (let i = from; i < to; i++) seen |= HEX_DIGIT_VALUE[text.charCodeAt(i)]!;
  if (seen < 0) throw new MalformedError('not lower-case hex');
}

/** Number of words in `0x...` data; throws when the length is not a multiple of a word. Digits are checked when a word is read. */
export function wordCount(data: string): number {
  if (typeof data !== 'string' || data.charCodeAt(0) !== 48 || data.charCodeAt(1) !== 120)
    throw new MalformedError('data does not start with 0x');
  const digits = data.length - 2;
  if (digits % WORD !== 0) throw new MalformedError('data length is not a multiple of 32 bytes');
  return digits / WORD;
}

export function requireWords(data: string, words: number): void {
  const have = wordCount(data);
  if (have !== words) throw new MalformedError(`${have} data words, expected ${words}`);
}

export function requireTopics(topics: readonly string[], count: number): void {
  if (topics.length !== count) throw new MalformedError(`${topics.length} topics, expected ${count}`);
}

/** Char position of word `index` of `0x...` data. */
export const wordPosition = (index: number): number => 2 + index * WORD;

/** Eight hex digits from char `position` as an unsigned 32-bit number. Unrolled: most of a fill's decoding time is spent here. */
function uint32At(text: string, position: number): number {
  const a = HEX_DIGIT_VALUE[text.charCodeAt(position)]!;
  const b = HEX_DIGIT_VALUE[text.charCodeAt(position + 1)]!;
  const c = HEX_DIGIT_VALUE[text.charCodeAt(position + 2)]!;
  const d = HEX_DIGIT_VALUE[text.charCodeAt(position + 3)]!;
  const e = HEX_DIGIT_VALUE[text.charCodeAt(position + 4)]!;
  const f = HEX_DIGIT_VALUE[text.charCodeAt(position + 5)]!;
  const g = HEX_DIGIT_VALUE[text.charCodeAt(position + 6)]!;
  const h = HEX_DIGIT_VALUE[text.charCodeAt(position + 7)]!;
  if ((a | b | c | d | e | f | g | h) < 0) throw new MalformedError('not lower-case hex');
  return ((a << 28) | (b << 24) | (c << 20) | (d << 16) | (e << 12) | (f << 8) | (g << 4) | h) >>> 0;
}

/** Unsigned 64-bit value of the word at char `position`; larger ones throw. */
export function uint64At(data: string, position: number): bigint {
  if (!data.startsWith(ZEROS_48, position)) {
    requireHex(data, position, position + WORD);
    throw new MalformedError('amount exceeds 64 bits');
  }
  if (position + WORD > data.length) throw new MalformedError('data is too short');
  const high = uint32At(data, position + 48);
  const low = uint32At(data, position + 56);
  return high < 0x200000 ? BigInt(high * 0x100000000 + low) : (BigInt(high) << 32n) | BigInt(low);
}

/** uint256 of the word at char `position`. */
export function uint256At(data: string, position: number): bigint {
  if (data.startsWith(ZEROS_48, position)) return uint64At(data, position);
  const end = position + WORD;
  // BigInt rejects everything that is not hex, except trailing blanks.
  if (end > data.length || HEX_DIGIT_VALUE[data.charCodeAt(end - 1)]! < 0) throw new MalformedError('not a hex word');
  try {
    return BigInt(`0x${data.slice(position, end)}`);
  } catch {
    throw new MalformedError('not a hex word');
  }
}

/** int256 of the word at char `position`. */
export function int256At(data: string, position: number): bigint {
  return BigInt.asIntN(256, uint256At(data, position));
}

/** Amount in base units that the schemas can hold; larger ones throw. */
export function amountAt(data: string, position: number): bigint {
  const amount = uint256At(data, position);
  if (amount >= AMOUNT_LIMIT) throw new MalformedError('amount exceeds 38 digits');
  return amount;
}

/** Small unsigned number (below 2^31, what an Avro int holds) of the word at char `position`; larger ones throw with `what`. */
export function uint31At(data: string, position: number, what: string): number {
  const value = uint256At(data, position);
  if (value > 0x7fffffffn) throw new MalformedError(`${what} is out of range`);
  return Number(value);
}

/** Address in the word at char `position`; the 12 padding bytes must be zero. */
export function addressAt(data: string, position: number): Hex {
  const start = position + 24;
  const end = position + WORD;
  if (end > data.length) throw new MalformedError('data is too short');
  let padding = 0;
  for (let i = position; i < start; i++) padding |= data.charCodeAt(i) ^ 48;
  if (padding !== 0) throw new MalformedError('non-zero address padding');
  let seen = 0;
  for (let i = start; i < end; i++) seen |= HEX_DIGIT_VALUE[data.charCodeAt(i)]!;
  if (seen < 0) throw new MalformedError('not lower-case hex');
  return `0x${data.slice(start, end)}`;
}

/** 32 bytes of the word at char `position`. */
export function hashAt(data: string, position: number): Hex {
  requireHex(data, position, position + WORD);
  return `0x${data.slice(position, position + WORD)}`;
}

export const isZeroWord = (data: string, position: number): boolean => data.startsWith(ZEROS, position);

/** The leading `bytes` bytes of the word at char `position`; the rest of the word must be zero. */
export function leadingBytesAt(data: string, position: number, bytes: number): Hex {
  const end = position + bytes * 2;
  requireHex(data, position, position + WORD);
  if (!ZEROS.startsWith(data.slice(end, position + WORD))) throw new MalformedError('non-zero padding after an id');
  return `0x${data.slice(position, end)}`;
}

function topic(topics: readonly string[], index: number): string {
  const text = topics[index];
  if (typeof text !== 'string' || text.length !== 2 + WORD || !text.startsWith('0x'))
    throw new MalformedError(`topic ${index} is not 32 bytes`);
  return text;
}

export function topicAddress(topics: readonly string[], index: number): Hex {
  return addressAt(topic(topics, index), 2);
}

export function topicHash(topics: readonly string[], index: number): Hex {
  const text = topic(topics, index);
  requireHex(text, 2, 2 + WORD);
  return text as Hex;
}

export function topicLeadingBytes(topics: readonly string[], index: number, bytes: number): Hex {
  return leadingBytesAt(topic(topics, index), 2, bytes);
}

export function topicUint(topics: readonly string[], index: number): bigint {
  return uint256At(topic(topics, index), 2);
}

/**
 * Position and length of the dynamic value whose offset is in word `head`: char position of its first content word, and the value of its
 * length word. Contents of `unit` characters per item must be inside the data.
 */
function dynamicAt(data: string, head: number, unit: number): { start: number; length: number } {
  const words = wordCount(data);
  if (head >= words) throw new MalformedError('data is too short');
  const offset = uint31At(data, wordPosition(head), 'offset') * 2;
  if (offset % WORD !== 0 || 2 + offset + WORD > data.length) throw new MalformedError('offset is out of range');
  const length = uint31At(data, 2 + offset, 'length');
  const start = 2 + offset + WORD;
  if (start + length * unit > data.length) throw new MalformedError('length is out of range');
  return { start, length };
}

/** uint256[] whose offset is in word `head`. */
export function uintArrayAt(data: string, head: number): bigint[] {
  const { start, length } = dynamicAt(data, head, WORD);
  const values = new Array<bigint>(length);
  for (let i = 0; i < length; i++) values[i] = uint256At(data, start + i * WORD);
  return values;
}

/** address[] whose offset is in word `head`. */
export function addressArrayAt(data: string, head: number): Hex[] {
  const { start, length } = dynamicAt(data, head, WORD);
  return Array.from({ length }, (_, i) => addressAt(data, start + i * WORD));
}

/** `bytes` whose offset is in word `head`, as hex with `0x`. */
export function bytesAt(data: string, head: number): Hex {
  const { start, length } = dynamicAt(data, head, 2);
  requireHex(data, start, start + length * 2);
  return `0x${data.slice(start, start + length * 2)}`;
}

/** Hex quantity of JSON-RPC ("0x1f") below 2^53. */
export function quantity(text: string, what: string): number {
  if (typeof text !== 'string' || text.length < 3 || text.length > 16 || !text.startsWith('0x')) {
    throw new MalformedError(`${what} is not a hex quantity`);
  }
  requireHex(text, 2, text.length);
  const value = Number.parseInt(text.slice(2), 16);
  if (!Number.isSafeInteger(value)) throw new MalformedError(`${what} is out of range`);
  return value;
}

/** keccak256 of `0x...` bytes that are known to be hex. */
export function keccakHex(bytes: string): Hex {
  return keccakOfHex(bytes.slice(2));
}
