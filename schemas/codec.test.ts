import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createCodec } from './codec.js';
import { decodeDecimal, encodeDecimal } from './logical-types.js';

const codec = createCodec();
const retract = {
  id: 'retract-1-2-0xaa',
  from_block: 1,
  to_block: 2,
  block_hashes: ['0xaa', '0xbb'],
  detected_at_ms: 1_790_000_000_123,
};

describe('codec', () => {
  it('writes the Confluent header and decodes to the encoded value', () => {
    const bytes = codec.encode('retract', retract);
    expect(bytes[0]).toBe(0);
    expect(codec.decode(bytes)).toEqual({ kind: 'retract', value: retract });
  });

  it('names the field that does not match the schema', () => {
    expect(() => codec.encode('retract', { ...retract, from_block: 'x' as unknown as number })).toThrow(/from_block/);
  });

  it('rejects other formats, unknown ids, truncated and overlong records', () => {
    const bytes = codec.encode('retract', retract);
    expect(() => codec.decode(Buffer.from('{}'))).toThrow(/wire format/);
    const unknown = Buffer.from(bytes);
    unknown.writeUInt32BE(999_999, 1);
    expect(() => codec.decode(unknown)).toThrow(/999999/);
    expect(() => codec.decode(bytes.subarray(0, bytes.length - 3))).toThrow(/retract/);
    expect(() => codec.decode(Buffer.concat([bytes, Buffer.from([1])]))).toThrow(/retract/);
  });

  it('kindOf reads only the header', () => {
    expect(codec.kindOf(codec.encode('retract', retract).subarray(0, 5))).toBe('retract');
    expect(() => codec.kindOf(Buffer.from([0, 0]))).toThrow(/wire format/);
  });

  it('distinguishes the records of a union', () => {
    const value = {
      entity: 'ip-day:aa:2026-01-01',
      updated_at_ms: 1,
      command_id: 'c',
      state: { 'oddstream.IpDay': { ip_hash: 'aa', utc_day: '2026-01-01', keys_created: 1 } },
    };
    expect(codec.decode(codec.encode('account_state', value))).toEqual({ kind: 'account_state', value });
  });
});

describe('decimal', () => {
  it("is the shortest two's complement form", () => {
    const known: [bigint, string][] = [
      [0n, '00'],
      [127n, '7f'],
      [128n, '0080'],
      [-1n, 'ff'],
      [-128n, '80'],
      [-129n, 'ff7f'],
      [2n ** 47n, '00800000000000'],
      [10n ** 37n, '0785ee10d5da46d900f436a000000000'],
    ];
    for (const [value, hex] of known) expect(encodeDecimal(value).toString('hex')).toBe(hex);
  });

  it('round-trips every value of 38 digits', () => {
    const limit = 10n ** 38n - 1n;
    fc.assert(
      fc.property(fc.bigInt({ min: -limit, max: limit }), (value) => decodeDecimal(encodeDecimal(value)) === value),
    );
  });
});
