import type { RowBuffer } from './row-buffer.js';

/** A value outside the range of its column type. The record that carries it is dead-lettered. */
export class InvalidColumnValueError extends Error {
  override name = 'UnfitValueError';
}

/** One column: its ClickHouse type and the serialization of a value in the RowBinary format. */
export interface Column<T> {
  readonly type: string;
  /** Throws InvalidColumnValueError when the value is outside the type's range. */
  readonly write: (into: RowBuffer, value: T) => void;
}

const rejectValue = (type: string, value: unknown): never => {
  throw new InvalidColumnValueError(`${String(value).slice(0, 100)} does not fit ${type}`);
};

/** A 32-byte hash from text: `0x` and 64 hexadecimal digits. */
export const hash: Column<string> = {
  type: 'FixedString(32)',
  write: (into, value) => {
    const isHash = value.length === 66 && value.startsWith('0x') && into.hex(value.slice(2)) === 32;
    if (!isHash) rejectValue('FixedString(32)', value);
  },
};

type IntegerWriter = 'uint8' | 'uint16' | 'uint32';

function unsigned(bits: 8 | 16 | 32): Column<number> {
  const type = `UInt${bits}`;
  const max = 2 ** bits - 1;
  const method: IntegerWriter = `uint${bits}`;
  return {
    type,
    write: (into, value) => {
      if (!(Number.isInteger(value) && value >= 0 && value <= max)) rejectValue(type, value);
      into[method](value);
    },
  };
}

const MAX_UINT64 = 2n ** 64n - 1n;
const MAX_UINT256 = 2n ** 256n - 1n;
const MAX_DECIMAL = 10n ** 38n;

const text = (type: string): Column<string> => ({ type, write: (into, value) => into.text(value) });

export const string = text('String');
export const lowCardinality = text('LowCardinality(String)');
export const uint8 = unsigned(8);
export const uint16 = unsigned(16);
export const uint32 = unsigned(32);
export const bool: Column<boolean> = { type: 'Bool', write: (into, value) => into.uint8(value ? 1 : 0) };
export const float64: Column<number> = {
  type: 'Float64',
  write: (into, value) => {
    if (!Number.isFinite(value)) rejectValue('Float64', value);
    into.float64(value === 0 ? 0 : value);
  },
};

/** Offsets and block numbers are numbers; amounts are bigint base units. */
export const uint64: Column<number | bigint> = {
  type: 'UInt64',
  write: (into, value) => {
    const fits =
      typeof value === 'bigint' ? value >= 0n && value <= MAX_UINT64 : Number.isSafeInteger(value) && value >= 0;
    if (!fits) rejectValue('UInt64', value);
    into.uint64(value);
  },
};

const MAX_INT64 = 2n ** 63n - 1n;

/** Signed amounts in base units. */
export const int64: Column<bigint> = {
  type: 'Int64',
  write: (into, value) => {
    if (value > MAX_INT64 || value < -MAX_INT64 - 1n) rejectValue('Int64', value);
    into.int64(value);
  },
};

/** Token ids and payout numerators: decimal text without sign or leading zeros. */
export const uint256: Column<string> = {
  type: 'UInt256',
  write: (into, value) => {
    if (!/^(0|[1-9][0-9]{0,77})$/.test(value)) rejectValue('UInt256', value);
    const number = BigInt(value);
    if (number > MAX_UINT256) rejectValue('UInt256', value);
    into.uint256(number);
  },
};

/** Seconds; takes Unix milliseconds and drops the fraction. */
export const dateTime: Column<number> = {
  type: "DateTime('UTC')",
  write: (into, timestampMs) => {
    const seconds = Math.floor(timestampMs / 1000);
    if (!(seconds >= 0 && seconds < 2 ** 32)) rejectValue('DateTime', timestampMs);
    into.uint32(seconds);
  },
};

const DATETIME64_MIN_MS = Date.UTC(1900, 0, 1);
const DATETIME64_END_MS = Date.UTC(2300, 0, 1);

/** Takes Unix milliseconds. */
export const dateTime64: Column<number> = {
  type: "DateTime64(3, 'UTC')",
  write: (into, timestampMs) => {
    if (!(timestampMs >= DATETIME64_MIN_MS && timestampMs < DATETIME64_END_MS)) rejectValue('DateTime64', timestampMs);
    into.int64(BigInt(Math.floor(timestampMs)));
  },
};

/** Takes the unscaled value: 1.5 at scale 18 is 1500000000000000000n. */
export function decimal38(scale: number): Column<bigint> {
  const type = `Decimal(38, ${scale})`;
  return {
    type,
    write: (into, value) => {
      if (value >= MAX_DECIMAL || value <= -MAX_DECIMAL) rejectValue(type, value);
      into.int128(value);
    },
  };
}

export function enum8<T extends string>(...names: readonly T[]): Column<T> {
  const type = `Enum8(${names.map((name, index) => `'${name}' = ${index}`).join(', ')})`;
  const numbers = new Map<string, number>(names.map((name, index) => [name, index]));
  return { type, write: (into, value) => into.uint8(numbers.get(value) ?? rejectValue(type, value)) };
}

export function nullable<T>(inner: Column<T>): Column<T | null> {
  return {
    type: `Nullable(${inner.type})`,
    write: (into, value) => {
      into.uint8(value === null ? 1 : 0);
      if (value !== null) inner.write(into, value);
    },
  };
}

function array<T>(inner: Column<T>): Column<readonly T[]> {
  return {
    type: `Array(${inner.type})`,
    write: (into, values) => {
      into.length(values.length);
      for (const value of values) inner.write(into, value);
    },
  };
}

export const stringArray = array(string);
export const uint64Array = array(uint64);
export const uint256Array = array(uint256);
