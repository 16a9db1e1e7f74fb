import type { Hex } from '../source.js';

/** Block and time of the real chain: block 90,715,029 has the timestamp 2026-07-23T03:32:21Z. */
const ANCHOR_BLOCK = 90_715_029;
const ANCHOR_S = Date.UTC(2026, 6, 23, 3, 32, 21) / 1000;
/** Seconds between blocks after the anchor. Before it there is one block per second, so that recorded rows keep their own time. */
export const BLOCK_S = 2;

/** The first block at or after a time. */
export function blockAt(timeS: number): number {
  const since = timeS - ANCHOR_S;
  return ANCHOR_BLOCK + (since <= 0 ? since : Math.ceil(since / BLOCK_S));
}

/** Header timestamp of a block. */
export function timeOfBlock(number: number): number {
  const since = number - ANCHOR_BLOCK;
  return ANCHOR_S + (since <= 0 ? since : since * BLOCK_S);
}

/** The newest block at a time. */
export function headAt(timeS: number): number {
  const next = blockAt(timeS);
  return timeOfBlock(next) > timeS ? next - 1 : next;
}

function mix(value: number): number {
  let x = value | 0;
  x = Math.imul(x ^ (x >>> 16), 0x7feb352d);
  x = Math.imul(x ^ (x >>> 15), 0x846ca68b);
  return (x ^ (x >>> 16)) >>> 0;
}

const hex8 = (value: number): string => value.toString(16).padStart(8, '0');

/** Hash of a block: seven words derived from its number, then the number. These hashes do not exist on the real chain. */
export function blockHash(number: number): Hex {
  let body = '';
  for (let i = 1; i <= 7; i++) body += hex8(mix(number ^ Math.imul(i, 0x9e3779b9)));
  return `0x${body}${hex8(number)}`;
}

/** Number of the block with that hash; null for other hashes. */
export function blockOfHash(hash: string): number | null {
  const number = Number.parseInt(hash.slice(-8), 16);
  return Number.isSafeInteger(number) && blockHash(number) === hash ? number : null;
}
