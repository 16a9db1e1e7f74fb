const TWO_32 = 0x1_0000_0000;

/** Big-endian int64 as a number. Kafka's offsets, ids and times all fit; -1 (none) does too. */
export function readInt64(bytes: Buffer, at: number): number {
  return bytes.readInt32BE(at) * TWO_32 + bytes.readUInt32BE(at + 4);
}

export function writeInt64(bytes: Buffer, value: number, at: number): void {
  bytes.writeInt32BE(Math.floor(value / TWO_32), at);
  bytes.writeUInt32BE(((value % TWO_32) + TWO_32) % TWO_32, at + 4);
}

/** Bytes a zigzag varint of a safe integer takes. */
export function varintBytes(value: number): number {
  let rest = value < 0 ? -2 * value - 1 : 2 * value;
  let bytes = 1;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes++;
  return bytes;
}

/** Write a zigzag varint of a safe integer; returns the position after it. */
export function writeVarint(bytes: Buffer, value: number, at: number): number {
  let rest = value < 0 ? -2 * value - 1 : 2 * value;
  while (rest >= 0x80) {
    bytes[at++] = (rest % 0x80) | 0x80;
    rest = Math.floor(rest / 0x80);
  }
  bytes[at++] = rest;
  return at;
}

/** Reads values of the Kafka protocol one after another. Reading past the end throws RangeError. */
export class WireReader {
  constructor(
    readonly bytes: Buffer,
    public at = 0,
  ) {}

  int8 = (): number => this.bytes.readInt8(this.#pass(1));
  int16 = (): number => this.bytes.readInt16BE(this.#pass(2));
  int32 = (): number => this.bytes.readInt32BE(this.#pass(4));
  int64 = (): number => readInt64(this.bytes, this.#pass(8));

  string = (): string | null => {
    const length = this.int16();
    return length < 0 ? null : this.bytes.toString('utf8', this.#pass(length), this.at);
  };

  /** Length-prefixed bytes, not copied. Null counts as empty. */
  slice = (): Buffer => {
    const length = Math.max(0, this.int32());
    return this.bytes.subarray(this.#pass(length), this.at);
  };

  array = <T>(item: () => T): T[] => Array.from({ length: Math.max(0, this.int32()) }, item);

  /** The unsigned varint of flexible versions. */
  uvarint = (): number => {
    let value = 0;
    for (let scale = 1; ; scale *= 0x80) {
      const byte = this.bytes.readUInt8(this.#pass(1));
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
  };

  compactString = (): string => {
    const length = Math.max(0, this.uvarint() - 1);
    return this.bytes.toString('utf8', this.#pass(length), this.at);
  };

  compactArray = <T>(item: () => T): T[] => Array.from({ length: Math.max(0, this.uvarint() - 1) }, item);

  skipTags = (): void => {
    for (let tags = this.uvarint(); tags > 0; tags--) {
      this.uvarint();
      this.#pass(this.uvarint());
    }
  };

  #pass(length: number): number {
    const start = this.at;
    this.at += length;
    if (this.at > this.bytes.length) throw new RangeError('The response ends too early');
    return start;
  }
}

/** Builds a request body; large buffers are not copied before `finish`. */
export class WireWriter {
  readonly #buffers: Buffer[] = [];

  int8(value: number): this {
    return this.raw(Buffer.from([value & 0xff]));
  }

  int16(value: number): this {
    const bytes = Buffer.allocUnsafe(2);
    bytes.writeInt16BE(value);
    return this.raw(bytes);
  }

  int32(value: number): this {
    const bytes = Buffer.allocUnsafe(4);
    bytes.writeInt32BE(value);
    return this.raw(bytes);
  }

  int64(value: number): this {
    const bytes = Buffer.allocUnsafe(8);
    writeInt64(bytes, value, 0);
    return this.raw(bytes);
  }

  string(value: string | null): this {
    if (value === null) return this.int16(-1);
    const bytes = Buffer.from(value, 'utf8');
    return this.int16(bytes.length).raw(bytes);
  }

  array<T>(items: readonly T[], write: (item: T, writer: this) => void): this {
    this.int32(items.length);
    for (const item of items) write(item, this);
    return this;
  }

  /** The unsigned varint of flexible versions. */
  uvarint(value: number): this {
    let rest = value;
    while (rest >= 0x80) {
      this.int8((rest % 0x80) | 0x80);
      rest = Math.floor(rest / 0x80);
    }
    return this.int8(rest);
  }

  compactString(value: string): this {
    const bytes = Buffer.from(value, 'utf8');
    return this.uvarint(bytes.length + 1).raw(bytes);
  }

  compactArray<T>(items: readonly T[], write: (item: T, writer: this) => void): this {
    this.uvarint(items.length + 1);
    for (const item of items) write(item, this);
    return this;
  }

  raw(bytes: Buffer): this {
    this.#buffers.push(bytes);
    return this;
  }

  finish(): Buffer {
    return Buffer.concat(this.#buffers);
  }
}
