// The container format: columns of numbers as varints, brotli over all, cut into files below the size limit.
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';

const MAX_FILE = 1_900_000;

/** LEB128 of a non-negative safe integer or bigint. */
function pushVarint(out, value) {
  if (typeof value === 'bigint') {
    while (value > 127n) {
      out.push(Number(value & 127n) | 128);
      value >>= 7n;
    }
    out.push(Number(value));
    return;
  }
  if (!Number.isSafeInteger(value) || value < 0) throw new Error(`not a non-negative safe integer: ${value}`);
  while (value > 127) {
    out.push((value % 128) | 128);
    value = Math.floor(value / 128);
  }
  out.push(value);
}

const zigzag = (value) => (value < 0 ? -2 * value - 1 : 2 * value);

/** `columns`: name -> {values, delta?}. Layout: 4-byte LE length of a JSON head, the head, then the columns one after another. */
export function packColumns(columns) {
  const bodies = [];
  const head = [];
  for (const [name, { values, delta = false }] of Object.entries(columns)) {
    const out = [];
    let last = 0;
    for (const value of values) {
      pushVarint(out, delta ? zigzag(value - last) : value);
      if (delta) last = value;
    }
    const body = Buffer.from(out);
    bodies.push(body);
    head.push({ name, count: values.length, bytes: body.length, delta });
  }
  const headBytes = Buffer.from(JSON.stringify(head));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(headBytes.length);
  return Buffer.concat([length, headBytes, ...bodies]);
}

/** Writes `name.<n>.bin` files and returns their manifest entry. Hashes do not compress: `raw` keeps them as they are. */
export function writePart(folder, name, bytes, { raw = false } = {}) {
  const body = raw
    ? bytes
    : brotliCompressSync(bytes, {
        params: {
          [constants.BROTLI_PARAM_QUALITY]: 11,
          [constants.BROTLI_PARAM_LGWIN]: 24,
          [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
        },
      });
  const files = [];
  for (let from = 0; from < body.length; from += MAX_FILE) {
    const chunk = body.subarray(from, from + MAX_FILE);
    const file = `${name}.${files.length}.bin`;
    writeFileSync(path.join(folder, file), chunk);
    files.push({ file, bytes: chunk.length, sha256: createHash('sha256').update(chunk).digest('hex') });
  }
  return { encoding: raw ? 'raw' : 'brotli', bytes: bytes.length, files };
}
