import { describe, expect, it } from 'vitest';
import { murmur2, partitionForKey } from './partitioner.js';

describe('partitioner', () => {
  // Vectors of Apache Kafka's UtilsTest, and values of its Java implementation as Akka's Murmur2Spec lists them.
  const vectors: Readonly<Record<string, number>> = {
    '21': -973932308,
    foobar: -790332482,
    'a-little-bit-long-string': -985981536,
    'a-little-bit-longer-string': -1486304829,
    lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8: -58897971,
    abc: 479470107,
    '1': -1993445489,
    '12': 126087238,
    '123': -267702483,
    '1234': -1614185708,
    '12345': -1188365604,
  };

  it.each(Object.entries(vectors))('hashes %s as Kafka does', (key, hash) => {
    expect(murmur2(Buffer.from(key))).toBe(hash);
  });

  it.each(Object.entries(vectors))('partitions %s as Kafka does', (key, hash) => {
    const positive = hash < 0 ? hash + 2 ** 31 : hash;
    for (const partitions of [1, 4, 12])
      expect(partitionForKey(Buffer.from(key), partitions)).toBe(positive % partitions);
  });
});
