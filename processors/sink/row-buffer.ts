const DEFAULT_BYTES = 64 * 1024;
/** Largest number of UTF-8 bytes per UTF-16 code unit. */
const MAX_BYTES_PER_UNIT = 3;
/** The length of a text of up to this number of code units takes one byte, whatever its characters. */
const MAX_UNITS_OF_SHORT_TEXT = Math.floor(0x7f / MAX_BYTES_PER_UNIT);
const UINT32_VALUES = 2 ** 32;

const viewOf = (bytes: Buffer) => new DataView(bytes.buffer, bytes.byteOffset, bytes.length);

/**
 * Rows in the RowBinary format in one growing buffer (https://clickhouse.com/docs/interfaces/formats/RowBinary): little-endian numbers, text with its length
 * before it. Values are not checked: columns do that. Rows added since the last `commit` can be discarded.
 */
export class RowBuffer {
  private bytes: Buffer;
  /** Of `bytes`: V8 compiles its methods inline, those of a Buffer are JavaScript that splits every number. */
  private view: DataView;
  private end: number;
  private committed: number;
  private uncommittedRows = 0;
  /** Number of committed rows. */
  rows = 0;

  /** `header`: bytes before the first row. */
  constructor(header: Buffer, expectedBytes = DEFAULT_BYTES) {
    this.bytes = Buffer.allocUnsafe(Math.max(expectedBytes, header.length));
    this.view = viewOf(this.bytes);
    this.end = header.copy(this.bytes);
    this.committed = this.end;
  }

  uint8(value: number): void {
    this.reserve(1);
    this.bytes[this.end++] = value;
  }

  uint16(value: number): void {
    this.reserve(2);
    this.view.setUint16(this.end, value, true);
    this.end += 2;
  }

  uint32(value: number): void {
    this.reserve(4);
    this.view.setUint32(this.end, value, true);
    this.end += 4;
  }

  uint64(value: number | bigint): void {
    this.reserve(8);
    if (typeof value === 'bigint') {
      this.view.setBigUint64(this.end, value, true);
    } else {
      const high = Math.floor(value / UINT32_VALUES);
      this.view.setUint32(this.end, value - high * UINT32_VALUES, true);
      this.view.setUint32(this.end + 4, high, true);
    }
    this.end += 8;
  }

  int64(value: bigint): void {
    this.reserve(8);
    this.view.setBigInt64(this.end, value, true);
    this.end += 8;
  }

  /** Two's complement. */
  int128(value: bigint): void {
    this.uint64(BigInt.asUintN(64, value));
    this.int64(BigInt.asIntN(64, value >> 64n));
  }

  uint256(value: bigint): void {
    for (let shift = 0n; shift < 256n; shift += 64n) this.uint64(BigInt.asUintN(64, value >> shift));
  }

  float64(value: number): void {
    this.reserve(8);
    this.view.setFloat64(this.end, value, true);
    this.end += 8;
  }

  /** A length in LEB128: of a text or an array. */
  length(value: number): void {
    this.reserve(5);
    let rest = value;
    while (rest > 0x7f) {
      this.bytes[this.end++] = (rest & 0x7f) | 0x80;
      rest >>>= 7;
    }
    this.bytes[this.end++] = rest;
  }

  text(value: string): void {
    if (value.length > MAX_UNITS_OF_SHORT_TEXT) {
      const size = Buffer.byteLength(value, 'utf8');
      this.length(size);
      this.reserve(size);
      this.end += this.bytes.write(value, this.end, 'utf8');
      return;
    }
    this.reserve(1 + value.length * MAX_BYTES_PER_UNIT);
    const size = this.bytes.write(value, this.end + 1, 'utf8');
    this.bytes[this.end] = size;
    this.end += 1 + size;
  }

  /** The bytes of hexadecimal digits, without a length. Returns their number: less than half the digits if one of them is no digit. */
  hex(digits: string): number {
    this.reserve(digits.length / 2);
    const size = this.bytes.write(digits, this.end, 'hex');
    this.end += size;
    return size;
  }

  endRow(): void {
    this.uncommittedRows += 1;
  }

  commit(): void {
    this.committed = this.end;
    this.rows += this.uncommittedRows;
    this.uncommittedRows = 0;
  }

  /** Discards everything since the last `commit`, an unfinished row included. */
  rollback(): void {
    this.end = this.committed;
    this.uncommittedRows = 0;
  }

  /** The header and the committed rows. The buffer must not be written afterwards. */
  content(): Buffer {
    return this.bytes.subarray(0, this.committed);
  }

  private reserve(size: number): void {
    const needed = this.end + size;
    if (needed <= this.bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(needed, this.bytes.length * 2));
    this.bytes.copy(larger, 0, 0, this.end);
    this.bytes = larger;
    this.view = viewOf(larger);
  }
}
