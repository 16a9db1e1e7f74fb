import { tsvArrayItem, tsvString, utcSeconds } from './tsv.js';

/** A value outside the range of its column type. The record that carries it is dead-lettered. */
export class InvalidColumnValueError extends Error {
  override name = 'UnfitValueError';
}

/** One column: its ClickHouse type and the serialization of a value as a TabSeparated field. */
export interface Column<T> {
  readonly type: string;
  /** Throws InvalidColumnValueError when the value is outside the type's range. */
  readonly write: (value: T) => string;
}

const rejectValue = (type: string, value: unknown): never => {
  throw new InvalidColumnValueError(`${String(value).slice(0, 100)} does not fit ${type}`);
};

function unsigned(bits: 8 | 16 | 32): Column<number> {
  const type = `UInt${bits}`;
  const max = 2 ** bits - 1;
  return {
    type,
    write: (value) =>
      Number.isInteger(value) && value >= 0 && value <= max ? String(value) : rejectValue(type, value),
  };
}

const MAX_UINT64 = 2n ** 64n - 1n;
const MAX_UINT256 = 2n ** 256n - 1n;
const MAX_DECIMAL = 10n ** 38n;
const MAX_SAFE_DIGITS_256 = 77;

const text = (type: string): Column<string> => ({ type, write: tsvString });

export const string = text('String');
export const lowCardinality = text('LowCardinality(String)');
export const uint8 = unsigned(8);
export const uint16 = unsigned(16);
export const uint32 = unsigned(32);
export const bool: Column<boolean> = { type: 'Bool', write: (value) => (value ? 'true' : 'false') };
export const float64: Column<number> = {
  type: 'Float64',
  write: (value) => (Number.isFinite(value) ? String(value) : rejectValue('Float64', value)),
};

/** Offsets and block numbers are numbers; amounts are bigint base units. */
export const uint64: Column<number | bigint> = {
  type: 'UInt64',
  write: (value) => {
    const fits =
      typeof value === 'bigint' ? value >= 0n && value <= MAX_UINT64 : Number.isSafeInteger(value) && value >= 0;
    return fits ? String(value) : rejectValue('UInt64', value);
  },
};

const MAX_INT64 = 2n ** 63n - 1n;

/** Signed amounts in base units. */
export const int64: Column<bigint> = {
  type: 'Int64',
  write: (value) => (value <= MAX_INT64 && value >= -MAX_INT64 - 1n ? String(value) : rejectValue('Int64', value)),
};

/** Token ids and payout numerators: decimal text without sign or leading zeros. */
export const uint256: Column<string> = {
  type: 'UInt256',
  write: (value) => {
    if (!/^(0|[1-9][0-9]{0,77})$/.test(value)) return rejectValue('UInt256', value);
    return value.length <= MAX_SAFE_DIGITS_256 || BigInt(value) <= MAX_UINT256 ? value : rejectValue('UInt256', value);
  },
};

/** Seconds; takes Unix milliseconds and drops the fraction. */
export const dateTime: Column<number> = {
  type: "DateTime('UTC')",
  write: (timestampMs) => {
    const seconds = Math.floor(timestampMs / 1000);
    return seconds >= 0 && seconds < 2 ** 32 ? utcSeconds(seconds) : rejectValue('DateTime', timestampMs);
  },
};

const DATETIME64_MIN_MS = Date.UTC(1900, 0, 1);
const DATETIME64_END_MS = Date.UTC(2300, 0, 1);

/** Takes Unix milliseconds. */
export const dateTime64: Column<number> = {
  type: "DateTime64(3, 'UTC')",
  write: (timestampMs) => {
    if (!(timestampMs >= DATETIME64_MIN_MS && timestampMs < DATETIME64_END_MS))
      return rejectValue('DateTime64', timestampMs);
    const seconds = Math.floor(timestampMs / 1000);
    return `${utcSeconds(seconds)}.${String(timestampMs - seconds * 1000).padStart(3, '0')}`;
  },
};

/** Takes the unscaled value: 1.5 at scale 18 is 1500000000000000000n. */
export function decimal38(scale: number): Column<bigint> {
  const type = `Decimal(38, ${scale})`;
  return {
    type,
    write: (value) => {
      if (value >= MAX_DECIMAL || value <= -MAX_DECIMAL) return rejectValue(type, value);
      const digits = (value < 0n ? -value : value).toString().padStart(scale + 1, '0');
      const point = digits.length - scale;
      return `${value < 0n ? '-' : ''}${digits.slice(0, point)}.${digits.slice(point)}`;
    },
  };
}

export function enum8<T extends string>(...names: readonly T[]): Column<T> {
  const type = `Enum8(${names.map((name, index) => `'${name}' = ${index}`).join(', ')})`;
  const known = new Set<string>(names);
  return { type, write: (value) => (known.has(value) ? value : rejectValue(type, value)) };
}

export function nullable<T>(inner: Column<T>): Column<T | null> {
  return { type: `Nullable(${inner.type})`, write: (value) => (value === null ? '\\N' : inner.write(value)) };
}

export const stringArray: Column<readonly string[]> = {
  type: 'Array(String)',
  write: (values) => `[${values.map(tsvArrayItem).join(',')}]`,
};

function array<T>(inner: Column<T>): Column<readonly T[]> {
  return { type: `Array(${inner.type})`, write: (values) => `[${values.map(inner.write).join(',')}]` };
}

export const uint64Array = array(uint64);

export const uint256Array: Column<readonly string[]> = {
  type: 'Array(UInt256)',
  write: (values) => `[${values.map(uint256.write).join(',')}]`,
};
