import { describe, expect, it } from 'vitest';
import { RowBuffer } from './row-buffer.js';

const bytesOf = (fill: (buffer: RowBuffer) => void): string => {
  const buffer = new RowBuffer(Buffer.alloc(0));
  fill(buffer);
  buffer.commit();
  return buffer.content().toString('hex');
};

describe('RowBuffer', () => {
  it('writes little-endian integers in two’s complement', () => {
    expect(bytesOf((into) => into.uint16(0x0102))).toBe('0201');
    expect(bytesOf((into) => into.uint64(2 ** 53 - 1))).toBe('ffffffffffff1f00');
    expect(bytesOf((into) => into.uint64(2n ** 64n - 2n))).toBe('feffffffffffffff');
    expect(bytesOf((into) => into.int64(-2n))).toBe('feffffffffffffff');
    expect(bytesOf((into) => into.int128(-(2n ** 64n)))).toBe('0000000000000000ffffffffffffffff');
    expect(bytesOf((into) => into.uint256(2n ** 255n + 1n))).toBe(`01${'00'.repeat(30)}80`);
  });

  it('writes the length of a text in bytes before it, in LEB128', () => {
    expect(bytesOf((into) => into.text('a€'))).toBe('0461e282ac');
    expect(bytesOf((into) => into.text('€'.repeat(42)))).toBe(`7e${'e282ac'.repeat(42)}`);
    expect(bytesOf((into) => into.text('€'.repeat(43)))).toBe(`8101${'e282ac'.repeat(43)}`);
    expect(bytesOf((into) => into.length(300))).toBe('ac02');
  });

  it('grows, retains the header and committed rows and drops discarded ones', () => {
    const buffer = new RowBuffer(Buffer.from('f00d', 'hex'), 1);
    let expected = 'f00d';
    let rows = 0;
    for (let i = 0; i < 2_000; i++) {
      buffer.uint32(i);
      buffer.hex('0aff'.repeat(i % 50));
      buffer.endRow();
      if (i % 3 === 0) {
        buffer.text('an unfinished row');
        buffer.rollback();
        continue;
      }
      buffer.commit();
      const number = Buffer.alloc(4);
      number.writeUInt32LE(i);
      expected += number.toString('hex') + '0aff'.repeat(i % 50);
      rows += 1;
    }
    expect(buffer.rows).toBe(rows);
    expect(buffer.content().toString('hex')).toBe(expected);
  });
});
