/**
 * Keys inside the LMDB environment. All are big-endian, so that byte order equals iteration order.
 *
 * chunks: topic u16, partition u16, offset u48    -> chunk (see chunk.ts); the chunk's base offset
 * times:  topic u16, partition u16, timestamp u48 -> offset f64 (see time-index.ts)
 * meta:   one tag byte, then:
 *   'V'                                           -> format version and topic-table version
 *   'T' topic name                                -> topic record (JSON)
 *   'P' topic u16, partition u16                  -> partition state (see partition-state.ts)
 *   'G' length u16, group, topic u16, partition u16 -> committed offset f64
 *   'C' group                                     -> epoch of its newest owner f64
 *   'L'                                           -> maintenance lease (JSON)
 */
export const MAX_OFFSET = 2 ** 48 - 1;
export const MAX_TIMESTAMP_MS = 2 ** 48 - 1;
export const MAX_PARTITIONS = 0xffff;

/** `at` is an offset in `chunks`, a timestamp in `times`. */
export function entryKey(topicId: number, partition: number, at: number): Buffer {
  const key = Buffer.allocUnsafe(10);
  key.writeUInt16BE(topicId, 0);
  key.writeUInt16BE(partition, 2);
  key.writeUIntBE(at, 4, 6);
  return key;
}

export function chunkBaseOffset(key: Uint8Array): number {
  return (
    (key[4]! * 0x100 + key[5]!) * 0x100000000 + (((key[6]! << 24) | (key[7]! << 16) | (key[8]! << 8) | key[9]!) >>> 0)
  );
}

export const VERSION_KEY = Buffer.from('V');
export const LEASE_KEY = Buffer.from('L');

export const topicPrefix = Buffer.from('T');
/** First key after every topic key. */
export const topicEnd = Buffer.from('U');

export function topicKey(name: string): Buffer {
  return Buffer.concat([topicPrefix, Buffer.from(name, 'utf8')]);
}

export function partitionKey(topicId: number, partition: number): Buffer {
  const key = Buffer.allocUnsafe(5);
  key[0] = 0x50;
  key.writeUInt16BE(topicId, 1);
  key.writeUInt16BE(partition, 3);
  return key;
}

export function ownershipKey(group: string): Buffer {
  return Buffer.concat([Buffer.from('C'), Buffer.from(group, 'utf8')]);
}

/** Without `partition`: the prefix of all positions of the group in that topic. */
export function committedOffsetKey(group: string, topicId: number, partition?: number): Buffer {
  const name = Buffer.from(group, 'utf8');
  const key = Buffer.alloc(5 + name.length + (partition === undefined ? 0 : 2));
  key[0] = 0x47;
  key.writeUInt16BE(name.length, 1);
  name.copy(key, 3);
  key.writeUInt16BE(topicId, 3 + name.length);
  if (partition !== undefined) key.writeUInt16BE(partition, 5 + name.length);
  return key;
}
