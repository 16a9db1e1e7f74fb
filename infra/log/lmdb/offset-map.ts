import { hash } from 'node:crypto';

const SLOT_BYTES = 24;

/**
 * Newest offset per key, for compaction: open addressing over the 128-bit MD5 of the key, 24 bytes per entry for any key
 * length (the idea of Kafka's log cleaner). Two keys that share a digest would lose a record; at 128 bits that does not happen.
 */
export interface OffsetMap {
  /** Later offsets replace earlier ones. */
  set(key: Uint8Array, offset: number): void;
  get(key: Uint8Array): number | undefined;
  /** Number of keys. */
  readonly size: number;
  /** Number of keys that can still be added. */
  remainingCapacity(): number;
}

export function createOffsetMap(capacity: number): OffsetMap {
  const entryCount = 2 ** Math.ceil(Math.log2(Math.max(16, capacity * 1.5)));
  const table = Buffer.alloc(entryCount * SLOT_BYTES);
  let size = 0;

  /** Position of the key's entry, or of the free entry where it belongs. */
  const find = (digest: Buffer): number => {
    let index = digest.readUInt32LE(0) & (entryCount - 1);
    for (;;) {
      const at = index * SLOT_BYTES;
      if (table.readDoubleLE(at + 16) === 0 || digest.compare(table, at, at + 16) === 0) return at;
      index = (index + 1) & (entryCount - 1);
    }
  };
  const digestOf = (key: Uint8Array) => hash('md5', key, 'buffer');

  return {
    set(key, offset) {
      const digest = digestOf(key);
      const at = find(digest);
      if (table.readDoubleLE(at + 16) === 0) {
        digest.copy(table, at);
        size++;
      }
      // Offsets are stored plus one, because zero marks a free entry.
      table.writeDoubleLE(offset + 1, at + 16);
    },
    get(key) {
      const stored = table.readDoubleLE(find(digestOf(key)) + 16);
      return stored === 0 ? undefined : stored - 1;
    },
    get size() {
      return size;
    },
    remainingCapacity: () => capacity - size,
  };
}
