const M = 0x5bd1e995;
const SEED = 0x9747b28c;

/**
 * murmur2, 32 bit, with the seed of Apache Kafka's Java client (`org.apache.kafka.common.utils.Utils.murmur2`).
 * Returns a signed 32-bit integer, as Java does.
 */
export function murmur2(data: Uint8Array): number {
  const length = data.length;
  let h = SEED ^ length;
  const whole = length & ~3;
  for (let i = 0; i < whole; i += 4) {
    let k = data[i]! | (data[i + 1]! << 8) | (data[i + 2]! << 16) | (data[i + 3]! << 24);
    k = Math.imul(k, M);
    k ^= k >>> 24;
    k = Math.imul(k, M);
    h = Math.imul(h, M) ^ k;
  }
  const rest = length & 3;
  if (rest === 3) h ^= data[whole + 2]! << 16;
  if (rest >= 2) h ^= data[whole + 1]! << 8;
  if (rest >= 1) h = Math.imul(h ^ data[whole]!, M);
  h ^= h >>> 13;
  h = Math.imul(h, M);
  h ^= h >>> 15;
  return h | 0;
}

/** Partition of a key: `toPositive(murmur2(key)) % partitions`, equal to Kafka's default partitioner for keyed records. */
export function partitionForKey(key: Uint8Array, partitions: number): number {
  return partitions === 1 ? 0 : (murmur2(key) & 0x7fffffff) % partitions;
}
