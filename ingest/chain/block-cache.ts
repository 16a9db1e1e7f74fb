import type { BlockRecords } from './block-records.js';
import type { Hex } from './source.js';

/**
 * Canonical blocks that the head tracker has decoded, for the final writer. Bounded by record count; the lowest blocks are evicted first.
 */
export interface BlockCache {
  put(block: BlockRecords): void;
  /** Removes every block from this number up. */
  rollback(fromNumber: number): void;
  get(number: number): BlockRecords | undefined;
  hashAt(number: number): Hex | undefined;
  dropThrough(number: number): void;
  readonly records: number;
}

export function createBlockCache(options: { maxRecords: number }): BlockCache {
  // Insertion order is ascending: a rollback removes blocks from the top before their replacements are added.
  const blocks = new Map<number, BlockRecords>();
  let records = 0;
  const remove = (number: number) => {
    const block = blocks.get(number);
    if (block === undefined) return;
    blocks.delete(number);
    records -= block.eventRecords.length + 1;
  };
  return {
    put(block) {
      remove(block.number);
      blocks.set(block.number, block);
      records += block.eventRecords.length + 1;
      for (const number of blocks.keys()) {
        if (records <= options.maxRecords || number === block.number) break;
        remove(number);
      }
    },
    rollback(fromNumber) {
      for (const number of [...blocks.keys()]) if (number >= fromNumber) remove(number);
    },
    get: (number) => blocks.get(number),
    hashAt: (number) => blocks.get(number)?.hash,
    dropThrough(number) {
      for (const cachedNumber of blocks.keys()) {
        if (cachedNumber > number) break;
        remove(cachedNumber);
      }
    },
    get records() {
      return records;
    },
  };
}
