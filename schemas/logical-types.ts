import avsc from 'avsc';

/** The library's cursor over a buffer. */
interface Tap {
  readonly buf: Buffer;
  pos: number;
  readLong(): number;
  writeLong(value: number): void;
}

/**
 * Avro `decimal` over bytes as bigint of base units (the unscaled value), so that any Avro reader shows 12.5 where the code counts 12500000n.
 * Two's complement, big endian, shortest form, at most `precision` digits.
 */
export class DecimalType extends avsc.types.LogicalType {
  private limit = 10n ** 38n;

  constructor(schema: avsc.Schema, options?: object) {
    super(schema as never, options as never);
    const precision = (schema as { precision?: number }).precision;
    if (precision !== undefined) this.limit = 10n ** BigInt(precision);
  }

  protected override _fromValue(bytes: Buffer): bigint {
    return decodeDecimal(bytes);
  }

  protected override _toValue(value: unknown): Buffer | undefined {
    return this.fits(value) ? encodeDecimal(value) : undefined;
  }

  /** As the library's reader, without an intermediate buffer: most fields of most records are amounts. */
  protected _read(tap: Tap): bigint | undefined {
    const length = tap.readLong();
    const start = tap.pos;
    tap.pos = length < 0 ? tap.buf.length + 1 : start + length;
    // Truncated input: the library detects it by the position.
    return tap.pos > tap.buf.length ? undefined : decodeAt(tap.buf, start, length);
  }

  protected _write(tap: Tap, value: unknown): void {
    if (!this.fits(value)) throw new TypeError(`${String(value)} is no decimal of this precision`);
    if (value < SMALL && value >= -SMALL) {
      const small = Number(value);
      const width = smallWidth(small);
      tap.writeLong(width);
      let rest = small;
      // Nothing is written past the end; the library detects it by the position.
      for (let at = tap.pos + width - 1; at >= tap.pos; at--) {
        const byte = ((rest % 256) + 256) % 256;
        tap.buf[at] = byte;
        rest = (rest - byte) / 256;
      }
      tap.pos += width;
      return;
    }
    if (value < MEDIUM && value >= -MEDIUM) {
      const start = toScratch(value);
      tap.writeLong(16 - start);
      for (let at = start; at < 16; at++) tap.buf[tap.pos++] = scratch[at] as number;
      return;
    }
    const bytes = encodeDecimal(value);
    tap.writeLong(bytes.length);
    if (tap.pos + bytes.length <= tap.buf.length) bytes.copy(tap.buf, tap.pos);
    tap.pos += bytes.length;
  }

  private fits(value: unknown): value is bigint {
    return typeof value === 'bigint' && value < this.limit && value > -this.limit;
  }

  protected override _resolve(type: avsc.Type): ((value: Buffer) => bigint) | undefined {
    return avsc.Type.isType(type, 'logical:decimal') || avsc.Type.isType(type, 'bytes') ? decodeDecimal : undefined;
  }
}

/** Unix milliseconds as a number; rejects fractions and values that are not finite dates. */
export class TimestampMillisType extends avsc.types.LogicalType {
  protected override _fromValue(value: number): number {
    return value;
  }

  protected override _toValue(value: unknown): number | undefined {
    return typeof value === 'number' && Number.isSafeInteger(value) ? value : undefined;
  }

  protected override _resolve(type: avsc.Type): ((value: number) => number) | undefined {
    return avsc.Type.isType(type, 'logical:timestamp-millis') || avsc.Type.isType(type, 'long')
      ? (value) => value
      : undefined;
  }
}

const SMALL = 2n ** 47n;
const MEDIUM = 2n ** 127n;
const WORD = 2n ** 64n - 1n;
/** 16 bytes, for one value at a time. */
const scratch = Buffer.alloc(16);
const view = new DataView(scratch.buffer, scratch.byteOffset, 16);

/** Writes the value to the scratch buffer and returns the offset of its shortest form, which has no leading bytes that only repeat the sign. */
function toScratch(value: bigint): number {
  view.setBigInt64(0, value >> 64n);
  view.setBigUint64(8, value & WORD);
  const sign = value < 0n ? 0xff : 0;
  let start = 0;
  while (start < 15 && scratch[start] === sign && ((scratch[start + 1] as number) ^ sign) < 128) start++;
  return start;
}

function smallWidth(small: number): number {
  let width = 1;
  for (let bound = 128; width < 6 && (small >= bound || small < -bound); bound *= 256) width++;
  return width;
}

export function encodeDecimal(value: bigint): Buffer {
  if (value < SMALL && value >= -SMALL) {
    const small = Number(value);
    const width = smallWidth(small);
    const out = Buffer.allocUnsafe(width);
    out.writeIntBE(small, 0, width);
    return out;
  }
  if (value < MEDIUM && value >= -MEDIUM) return Buffer.from(scratch.subarray(toScratch(value)));
  let width = 17;
  while (BigInt.asIntN(width * 8, value) !== value) width++;
  const hex = BigInt.asUintN(width * 8, value).toString(16);
  return Buffer.from(hex.padStart(width * 2, '0'), 'hex');
}

export function decodeDecimal(bytes: Buffer): bigint {
  return decodeAt(bytes, 0, bytes.length);
}

function decodeAt(buf: Buffer, start: number, length: number): bigint {
  if (length === 0) return 0n;
  if (length <= 6) {
    const first = buf[start] as number;
    let small = first < 128 ? first : first - 256;
    for (let at = start + 1; at < start + length; at++) small = small * 256 + (buf[at] as number);
    return BigInt(small);
  }
  if (length <= 16) {
    const sign = (buf[start] as number) < 128 ? 0 : 0xff;
    for (let at = 0; at < 16 - length; at++) scratch[at] = sign;
    for (let at = 0; at < length; at++) scratch[16 - length + at] = buf[start + at] as number;
    if (length <= 8) return view.getBigInt64(8);
    return (view.getBigInt64(0) << 64n) | view.getBigUint64(8);
  }
  return BigInt.asIntN(length * 8, BigInt(`0x${buf.toString('hex', start, start + length)}`));
}
