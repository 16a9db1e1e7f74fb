import { FatalError } from '../../../infra/errors.js';

interface ColumnHead {
  readonly name: string;
  readonly count: number;
  readonly bytes: number;
  readonly delta: boolean;
}

/** Columns of one part of the recorded set. Throws FatalError for a missing column: the set does not match this version. */
export interface Columns {
  /** Non-negative or delta-coded safe integers. */
  numbers(name: string): Float64Array;
  /** Unsigned integers of any size. */
  bigints(name: string): bigint[];
}

/**
 * Opens the container written by the derivation script: 4-byte little-endian length, a JSON head, then per column LEB128 varints, zigzag
 * differences where the head says `delta`.
 */
export function openColumns(bytes: Buffer): Columns {
  const headEnd = 4 + bytes.readUInt32LE(0);
  const head = JSON.parse(bytes.toString('utf8', 4, headEnd)) as ColumnHead[];
  let at = headEnd;
  const columns = new Map<string, ColumnHead & { readonly from: number }>();
  for (const column of head) {
    columns.set(column.name, { ...column, from: at });
    at += column.bytes;
  }
  if (at !== bytes.length) throw new FatalError('Recorded set: column lengths do not add up');
  const columnOf = (name: string) => {
    const found = columns.get(name);
    if (found === undefined) throw new FatalError(`Recorded set: no column ${name}`);
    return found;
  };
  return {
    numbers(name) {
      const column = columnOf(name);
      const values = new Float64Array(column.count);
      let offset = column.from;
      let last = 0;
      for (let i = 0; i < column.count; i++) {
        let value = 0;
        let scale = 1;
        let byte = bytes[offset++]!;
        while (byte > 127) {
          value += (byte - 128) * scale;
          scale *= 128;
          byte = bytes[offset++]!;
        }
        value += byte * scale;
        if (column.delta) {
          last += value % 2 === 0 ? value / 2 : -(value + 1) / 2;
          value = last;
        }
        values[i] = value;
      }
      return values;
    },
    bigints(name) {
      const column = columnOf(name);
      if (column.delta) throw new FatalError(`Recorded set: column ${name} is delta coded`);
      const values: bigint[] = [];
      let offset = column.from;
      for (let i = 0; i < column.count; i++) {
        let value = 0n;
        for (let shift = 0n; ; shift += 7n) {
          const byte = bytes[offset++]!;
          value |= BigInt(byte & 127) << shift;
          if (byte < 128) break;
        }
        values.push(value);
      }
      return values;
    },
  };
}
