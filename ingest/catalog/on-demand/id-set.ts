import { hash } from 'node:crypto';

/**
 * A set of texts as 8 bytes of a hash each, so that millions of ids fit in some tens of megabytes. Open addressing with linear probing. Two texts
 * with the same 64 bits count as one (probability about n^2 / 2^65).
 */
export interface IdSet {
  add(id: string): void;
  has(id: string): boolean;
  readonly size: number;
}

const MAX_LOAD = 0.6;

export function createIdSet(initialSlots = 1 << 14): IdSet {
  let table = new Uint32Array(initialSlots * 2);
  let size = 0;
  const find = (low: number, high: number): number => {
    const mask = table.length / 2 - 1;
    for (let slot = low & mask; ; slot = (slot + 1) & mask) {
      const at = slot * 2;
      if (table[at] === low && table[at + 1] === high) return at;
      if (table[at] === 0 && table[at + 1] === 0) return at;
    }
  };
  const put = (low: number, high: number) => {
    const at = find(low, high);
    const isNew = table[at] === 0 && table[at + 1] === 0;
    table[at] = low;
    table[at + 1] = high;
    return isNew;
  };
  const grow = () => {
    const old = table;
    table = new Uint32Array(old.length * 2);
    for (let at = 0; at < old.length; at += 2) {
      const [low = 0, high = 0] = [old[at], old[at + 1]];
      if (low !== 0 || high !== 0) put(low, high);
    }
  };
  return {
    add(id) {
      if (size + 1 > (table.length / 2) * MAX_LOAD) grow();
      if (put(...hashWords(id))) size++;
    },
    has(id) {
      const [low, high] = hashWords(id);
      const at = find(low, high);
      return table[at] === low && table[at + 1] === high;
    },
    get size() {
      return size;
    },
  };
}

function hashWords(id: string): [number, number] {
  const digest = hash('sha1', id, 'buffer');
  const [low, high] = [digest.readUInt32LE(0), digest.readUInt32LE(4)];
  return low === 0 && high === 0 ? [1, 0] : [low, high];
}
