import { crc32 } from 'node:zlib';
import { LogCorruptError } from '../errors.js';
import type { LogRecord } from '../port.js';

/**
 * A chunk is one LMDB value that holds consecutive records of one partition. Storing a run of records under one key costs one
 * tree insert and one copy instead of hundreds; that is where the engine's throughput comes from.
 *
 * Header, 40 bytes, little-endian:
 *   0 u8  format (1)          1 u8 flags (bit 0: contains tombstones)   2 u16 zero   4 u32 crc32 of everything from byte 8
 *   8 u32 record count       12 u32 offset span: the chunk covers offsets [base, base + span)
 *  16 f64 largest timestamp  24 f64 tombstone horizon (Unix ms; 0: not yet seen by compaction)
 *  32 u32 delta of the first record   36 u32 delta of the last record
 * Record: u32 offset delta to the chunk's base, f64 timestampMs, u32 key length, i32 value length (-1: tombstone), key (UTF-8), value.
 * The base offset is in the key, not here, so that a chunk is encoded before its offset is known.
 */
const FORMAT = 1;
const HEADER = 40;
const RECORD_HEADER = 20;
const FLAG_TOMBSTONES = 1;

/** Chunks grow to about this size before a new one starts. A larger record gets a separate chunk. */
export const CHUNK_TARGET_BYTES = 64 * 1024;
/** Largest key plus value. */
export const MAX_RECORD_BYTES = 64 * 1024 * 1024;

export interface ChunkHeader {
  readonly count: number;
  readonly offsetSpan: number;
  readonly maxTimestampMs: number;
  readonly hasTombstones: boolean;
  readonly tombstoneHorizonMs: number;
  readonly firstDelta: number;
  readonly lastDelta: number;
}

/** A record to encode. */
export interface ChunkEntry {
  readonly delta: number;
  readonly timestampMs: number;
  readonly key: Uint8Array;
  readonly value: Uint8Array | null;
}

export function entryBytes(keyBytes: number, value: Uint8Array | null): number {
  return RECORD_HEADER + keyBytes + (value?.length ?? 0);
}

/** Encode one or more entries in delta order. `offsetSpan` must exceed the last delta. */
export function encodeChunk(entries: readonly ChunkEntry[], offsetSpan: number, tombstoneHorizonMs = 0): Buffer {
  let size = HEADER;
  for (const entry of entries) size += entryBytes(entry.key.length, entry.value);
  const chunk = Buffer.allocUnsafeSlow(size);
  const view = new DataView(chunk.buffer, chunk.byteOffset, size);
  let at = HEADER;
  let maxTimestampMs = 0;
  let flags = 0;
  for (const { delta, timestampMs, key, value } of entries) {
    if (timestampMs > maxTimestampMs) maxTimestampMs = timestampMs;
    view.setUint32(at, delta, true);
    view.setFloat64(at + 4, timestampMs, true);
    view.setUint32(at + 12, key.length, true);
    view.setInt32(at + 16, value === null ? -1 : value.length, true);
    at += RECORD_HEADER;
    chunk.set(key, at);
    at += key.length;
    if (value === null) flags |= FLAG_TOMBSTONES;
    else {
      chunk.set(value, at);
      at += value.length;
    }
  }
  view.setUint8(0, FORMAT);
  view.setUint8(1, flags);
  view.setUint16(2, 0, true);
  view.setUint32(8, entries.length, true);
  view.setUint32(12, offsetSpan, true);
  view.setFloat64(16, maxTimestampMs, true);
  view.setFloat64(24, tombstoneHorizonMs, true);
  view.setUint32(32, entries[0]?.delta ?? 0, true);
  view.setUint32(36, entries.at(-1)?.delta ?? 0, true);
  view.setUint32(4, crc32(chunk.subarray(8)), true);
  return chunk;
}

export function readHeader(chunk: Buffer): ChunkHeader {
  if (chunk.length < HEADER || chunk[0] !== FORMAT) {
    throw new LogCorruptError(`Log chunk of ${chunk.length} bytes has format ${chunk[0]}, expected ${FORMAT}`);
  }
  return {
    count: chunk.readUInt32LE(8),
    offsetSpan: chunk.readUInt32LE(12),
    maxTimestampMs: chunk.readDoubleLE(16),
    hasTombstones: (chunk[1]! & FLAG_TOMBSTONES) !== 0,
    tombstoneHorizonMs: chunk.readDoubleLE(24),
    firstDelta: chunk.readUInt32LE(32),
    lastDelta: chunk.readUInt32LE(36),
  };
}

function verifyChecksum(chunk: Buffer): ChunkHeader {
  const header = readHeader(chunk);
  if (crc32(chunk.subarray(8)) !== chunk.readUInt32LE(4)) throw new LogCorruptError('Log chunk fails its checksum');
  return header;
}

/** Visit the entries of a chunk without copying; key and value are views into it. Stops when `visit` returns false. */
export function visitChunk(chunk: Buffer, visit: (entry: ChunkEntry) => boolean | undefined): ChunkHeader {
  const header = verifyChecksum(chunk);
  let at = HEADER;
  for (let i = 0; i < header.count; i++) {
    const delta = chunk.readUInt32LE(at);
    const timestampMs = chunk.readDoubleLE(at + 4);
    const keyEnd = at + RECORD_HEADER + chunk.readUInt32LE(at + 12);
    const valueBytes = chunk.readInt32LE(at + 16);
    const end = valueBytes < 0 ? keyEnd : keyEnd + valueBytes;
    if (end > chunk.length) throw new LogCorruptError('Log chunk is shorter than its records');
    const key = chunk.subarray(at + RECORD_HEADER, keyEnd);
    const value = valueBytes < 0 ? null : chunk.subarray(keyEnd, end);
    if (visit({ delta, timestampMs, key, value }) === false) break;
    at = end;
  }
  return header;
}

/**
 * Append the chunk's records at or after `fromOffset` and before `endOffset` to `into`, until it contains `maxRecords`.
 * Values share the chunk's memory. Returns the bytes of the appended records.
 */
export function collectRecords(
  chunk: Buffer,
  base: number,
  fromOffset: number,
  endOffset: number,
  maxRecords: number,
  into: LogRecord[],
): number {
  const header = verifyChecksum(chunk);
  let at = HEADER;
  let taken = 0;
  for (let i = 0; i < header.count && into.length < maxRecords; i++) {
    const offset = base + chunk.readUInt32LE(at);
    const keyAt = at + RECORD_HEADER;
    const keyEnd = keyAt + chunk.readUInt32LE(at + 12);
    const valueBytes = chunk.readInt32LE(at + 16);
    const end = valueBytes < 0 ? keyEnd : keyEnd + valueBytes;
    if (end > chunk.length) throw new LogCorruptError('Log chunk is shorter than its records');
    if (offset >= endOffset) break;
    if (offset >= fromOffset) {
      into.push({
        offset,
        key: chunk.toString('utf8', keyAt, keyEnd),
        value: valueBytes < 0 ? null : chunk.subarray(keyEnd, end),
        timestampMs: chunk.readDoubleLE(at + 4),
      });
      taken += end - at;
    }
    at = end;
  }
  return taken;
}
