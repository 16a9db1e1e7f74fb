import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LogCorruptError } from '../errors.js';
import { crc32c } from './crc32c.js';
import {
  decodeBatch,
  type EncodableRecord,
  encodeBatch,
  recordBytes,
  splitBatches,
  stampBatch,
} from './record-batch.js';
import { readInt64, varintBytes, WireReader, writeInt64, writeVarint } from './wire.js';

const record: fc.Arbitrary<EncodableRecord> = fc.record({
  key: fc.string({ maxLength: 20 }).map((text) => Buffer.from(text)),
  value: fc.option(fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes))),
  timestampMs: fc.nat(2 ** 48 - 1),
});

const batchOf = async (records: readonly EncodableRecord[], transactional = false, compress = true) => {
  const bytes = await encodeBatch(records, { transactional, compress });
  stampBatch(bytes, { id: 2 ** 40 + 3, epoch: 7 }, 11);
  return bytes;
};

describe('record batches', () => {
  it('decode to the encoded records, compressed or not, from any offset on', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(record, { minLength: 1, maxLength: 60 }),
        fc.boolean(),
        fc.nat(2 ** 50),
        fc.nat(60),
        async (records, compress, base, skip) => {
          const bytes = await batchOf(records, false, compress);
          writeInt64(bytes, base, 0);
          const [batch] = splitBatches(bytes);
          expect(batch).toMatchObject({
            baseOffset: base,
            lastOffset: base + records.length - 1,
            count: records.length,
          });
          expect(batch!.maxTimestampMs).toBe(Math.max(...records.map(({ timestampMs }) => timestampMs)));
          const decoded = await decodeBatch(batch!, base + skip);
          expect(decoded).toEqual(
            records
              .map(({ key, value, timestampMs }, i) => ({ offset: base + i, key: key.toString(), value, timestampMs }))
              .slice(skip),
          );
          const estimated = records.reduce((sum, one) => sum + recordBytes(one), 0);
          if (!compress) expect(bytes.length - 61).toBeLessThanOrEqual(estimated);
        },
      ),
    );
  });

  it('have the producer at the byte offsets of the format', async () => {
    const bytes = await batchOf(
      [{ key: Buffer.from('k'), value: Buffer.from('v'), timestampMs: 1_700_000_000_000 }],
      true,
    );
    expect(bytes.readInt32BE(8)).toBe(bytes.length - 12);
    expect(bytes[16]).toBe(2);
    expect(bytes.readUInt32BE(17)).toBe(crc32c(bytes.subarray(21)));
    expect(bytes.readInt16BE(21)).toBe(0x10);
    expect(bytes.readBigInt64BE(27)).toBe(1_700_000_000_000n);
    expect(bytes.readBigInt64BE(43)).toBe(2n ** 40n + 3n);
    expect([bytes.readInt16BE(51), bytes.readInt32BE(53), bytes.readInt32BE(57)]).toEqual([7, 11, 1]);
    // length 8 (zigzag 16), attributes 0, deltas 0 and 0, key "k", value "v", no headers.
    expect([...bytes.subarray(61)]).toEqual([16, 0, 0, 0, 2, 0x6b, 2, 0x76, 0]);
    expect(splitBatches(bytes)[0]).toMatchObject({ transactional: true, control: false, producerId: 2 ** 40 + 3 });
  });

  it('are compressed only when that makes them smaller', async () => {
    const large = Buffer.alloc(2000, 'a');
    expect((await batchOf([{ key: large, value: null, timestampMs: 0 }])).length).toBeLessThan(200);
    const small = [{ key: Buffer.from('k'), value: Buffer.alloc(100), timestampMs: 0 }];
    expect((await batchOf(small)).readInt16BE(21) & 7).toBe(0);
  });

  it('splitBatches omits an incomplete last batch', async () => {
    const one = await batchOf([{ key: Buffer.from('a'), value: null, timestampMs: 1 }]);
    const two = await batchOf([{ key: Buffer.from('b'), value: null, timestampMs: 1 }]);
    const both = Buffer.concat([one, two]);
    expect(splitBatches(both)).toHaveLength(2);
    for (let cut = 1; cut <= two.length; cut++) {
      expect(splitBatches(both.subarray(0, both.length - cut))).toHaveLength(1);
    }
    expect(splitBatches(Buffer.alloc(0))).toEqual([]);
  });

  it('are rejected with any flipped bit, an unknown codec or an old format', async () => {
    const bytes = await batchOf([{ key: Buffer.from('key'), value: Buffer.alloc(3000), timestampMs: 1 }]);
    for (let at = 21; at < bytes.length; at++) {
      const broken = Buffer.from(bytes);
      broken[at]! ^= 0x10;
      await expect(decodeBatch(splitBatches(broken)[0]!, 0)).rejects.toBeInstanceOf(LogCorruptError);
    }
    const zstd = Buffer.from(bytes);
    zstd.writeInt16BE(4, 21);
    stampBatch(zstd, { id: 1, epoch: 0 }, 0);
    await expect(decodeBatch(splitBatches(zstd)[0]!, 0)).rejects.toThrow('zstd');
    const old = Buffer.from(bytes);
    old[16] = 1;
    expect(() => splitBatches(old)).toThrow(LogCorruptError);
    const counted = Buffer.from(bytes);
    counted.writeInt32BE(2, 57);
    stampBatch(counted, { id: 1, epoch: 0 }, 0);
    await expect(decodeBatch(splitBatches(counted)[0]!, 0)).rejects.toBeInstanceOf(LogCorruptError);
  });
});

describe('wire numbers', () => {
  it('int64 equals the platform for every safe integer', () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), (value) => {
        const buffer = Buffer.alloc(8);
        writeInt64(buffer, value, 0);
        expect(buffer.readBigInt64BE()).toBe(BigInt(value));
        expect(readInt64(buffer, 0)).toBe(value);
      }),
    );
  });

  it('varints follow the zigzag examples of the Protocol Buffers encoding guide', () => {
    const encoded = (value: number) => {
      const bytes = Buffer.alloc(varintBytes(value));
      expect(writeVarint(bytes, value, 0)).toBe(bytes.length);
      return new WireReader(bytes).uvarint();
    };
    expect([0, -1, 1, -2, 0x7fffffff, -0x80000000].map(encoded)).toEqual([0, 1, 2, 3, 0xfffffffe, 0xffffffff]);
  });

  it('WireReader throws at a read past the end', () => {
    expect(() => new WireReader(Buffer.alloc(3)).int32()).toThrow(RangeError);
    expect(() => new WireReader(Buffer.from([0, 5, 0x61])).string()).toThrow(RangeError);
    expect(() => new WireReader(Buffer.from([0x80, 0x80])).uvarint()).toThrow(RangeError);
  });
});
