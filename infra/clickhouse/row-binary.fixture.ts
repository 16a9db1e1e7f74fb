/** Reads rows in ClickHouse's format RowBinaryWithNamesAndTypes, each value as text, `\N` for NULL. */
export function readRowBinary(bytes: Uint8Array): readonly (readonly string[])[] {
  const data = Buffer.from(bytes);
  let at = 0;
  const take = (size: number): Buffer => {
    if (at + size > data.length)
      throw new Error(`RowBinary ends at ${data.length}, in a value of ${size} bytes at ${at}`);
    at += size;
    return data.subarray(at - size, at);
  };
  const length = (): number => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = take(1)[0] as number;
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  const integer = (size: number, signed: boolean): string => {
    const number = BigInt(`0x${Buffer.from(take(size)).reverse().toString('hex')}`);
    return String(signed ? BigInt.asIntN(size * 8, number) : number);
  };
  const value = (type: string): string => {
    const nested = /^(Nullable|Array|LowCardinality)\((.*)\)$/.exec(type);
    if (nested !== null) {
      const [, kind, inner] = nested as unknown as [string, string, string];
      if (kind === 'LowCardinality') return value(inner);
      if (kind === 'Nullable') return take(1)[0] === 1 ? '\\N' : value(inner);
      return `[${Array.from({ length: length() }, () => value(inner)).join(',')}]`;
    }
    const number = /^(U?)Int(\d+)$/.exec(type);
    if (number !== null) return integer(Number(number[2]) / 8, number[1] === '');
    const fixed = /^FixedString\((\d+)\)$/.exec(type);
    if (fixed !== null) return take(Number(fixed[1])).toString('hex');
    if (type === 'String') return take(length()).toString('utf8');
    if (type === 'Bool' || type.startsWith('Enum8(')) return integer(1, false);
    if (type === 'Float64') return String(take(8).readDoubleLE());
    if (type.startsWith('DateTime64(')) return integer(8, true);
    if (type.startsWith('DateTime(')) return integer(4, false);
    if (type.startsWith('Decimal(38')) return integer(16, true);
    throw new Error(`No reader for ${type}`);
  };
  const columns = length();
  const header = Array.from({ length: 2 * columns }, () => value('String'));
  const types = header.slice(columns);
  const rows: string[][] = [];
  while (at < data.length) rows.push(types.map(value));
  return rows;
}
