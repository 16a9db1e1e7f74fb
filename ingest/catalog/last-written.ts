import { hash } from 'node:crypto';

/**
 * What was last written per key, as 8 bytes of a hash of the key and 8 of the value: 16 bytes a slot, so that a catalogue of hundreds
 * of thousands of rows fits in a few megabytes. Open addressing with linear probing. Two keys that share 64 bits would be taken for
 * one (chance about n^2 / 2^65).
 */
export interface LastWritten {
  /** Whether this is the value last set for the key. */
  matches(key: string, value: Buffer): boolean;
  set(key: string, value: Buffer): void;
  /** Whether the key has any value. */
  has(key: string): boolean;
  remove(key: string): void;
  /** Keys ever set. */
  readonly size: number;
  /** Size of the table in bytes. */
  readonly bytes: number;
}

const WORDS = 4;
const MAX_LOAD = 0.6;

export function createLastWritten(initialSlots = 1 << 14): LastWritten {
  let slots = initialSlots;
  let table = new Uint32Array(slots * WORDS);
  let size = 0;

  /** Index of the key's entry, or of the empty entry to insert it into. */
  const find = (into: Uint32Array, k0: number, k1: number): number => {
    const mask = into.length / WORDS - 1;
    let slot = k0 & mask;
    for (;;) {
      const at = slot * WORDS;
      const empty = into[at] === 0 && into[at + 1] === 0;
      if (empty || (into[at] === k0 && into[at + 1] === k1)) return at;
      slot = (slot + 1) & mask;
    }
  };
  const grow = () => {
    const wider = new Uint32Array(table.length * 2);
    for (let at = 0; at < table.length; at += WORDS) {
      const k0 = table[at] ?? 0;
      const k1 = table[at + 1] ?? 0;
      if (k0 !== 0 || k1 !== 0) wider.set(table.subarray(at, at + WORDS), find(wider, k0, k1));
    }
    table = wider;
    slots *= 2;
  };
  const put = (key: string, v0: number, v1: number) => {
    const [k0, k1] = hashWords(key);
    let at = find(table, k0, k1);
    if (table[at] === 0 && table[at + 1] === 0) {
      if (size + 1 > slots * MAX_LOAD) {
        grow();
        at = find(table, k0, k1);
      }
      size++;
    }
    table[at] = k0;
    table[at + 1] = k1;
    table[at + 2] = v0;
    table[at + 3] = v1;
  };

  return {
    matches(key, value) {
      const [k0, k1] = hashWords(key);
      const at = find(table, k0, k1);
      if (table[at] !== k0 || table[at + 1] !== k1) return false;
      const [v0, v1] = hashWords(value);
      return table[at + 2] === v0 && table[at + 3] === v1;
    },
    has(key) {
      const [k0, k1] = hashWords(key);
      const at = find(table, k0, k1);
      return table[at] === k0 && table[at + 1] === k1 && (table[at + 2] !== 0 || table[at + 3] !== 0);
    },
    set: (key, value) => put(key, ...hashWords(value)),
    // halves() never returns 0, 0, so a forgotten key equals no value.
    remove: (key) => put(key, 0, 0),
    get size() {
      return size;
    },
    get bytes() {
      return table.byteLength;
    },
  };
}

function hashWords(data: string | Buffer): [number, number] {
  const digest = hash('sha1', data, 'buffer');
  const low = digest.readUInt32LE(0);
  const high = digest.readUInt32LE(4);
  return low === 0 && high === 0 ? [1, 0] : [low, high];
}
