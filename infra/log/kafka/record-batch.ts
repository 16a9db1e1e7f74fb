import { promisify } from 'node:util';
import { gunzip, gunzipSync, gzip, gzipSync } from 'node:zlib';
import { LogCorruptError } from '../errors.js';
import type { LogRecord } from '../port.js';
import { crc32c } from './crc32c.js';
import { readInt64, varintBytes, WireReader, writeInt64, writeVarint } from './wire.js';

/**
 * Kafka's record batch, magic 2 (Kafka documentation, "Implementation", "Message Format"): a 61-byte header, then the records, which are
 * compressed as one. Offsets and timestamps inside are relative to the header's.
 */
const HEADER_BYTES = 61;
const HEADER_OFFSETS = {
  baseOffset: 0,
  length: 8,
  leaderEpoch: 12,
  magic: 16,
  crc: 17,
  attributes: 21,
  lastOffsetDelta: 23,
  baseTimestamp: 27,
  maxTimestamp: 35,
  producerId: 43,
  producerEpoch: 51,
  baseSequence: 53,
  count: 57,
} as const;
const GZIP = 1;
const CODEC_MASK = 0x07;
const LOG_APPEND_TIME = 0x08;
const TRANSACTIONAL = 0x10;
const CONTROL = 0x20;
/** Below this a batch is not worth compressing. */
const COMPRESSION_MIN_BYTES = 1024;
/** Above this compression runs on the thread pool instead of blocking the event loop. */
const ASYNC_COMPRESSION_MIN_BYTES = 32 * 1024;
/** Level 1: three times the speed of the default for a tenth more bytes. */
const GZIP_LEVEL = 1;

const gzipAsync = promisify(gzip) as (bytes: Buffer, options: { level: number }) => Promise<Buffer>;
const gunzipAsync = promisify(gunzip) as (bytes: Buffer) => Promise<Buffer>;

export interface EncodableRecord {
  readonly key: Buffer;
  readonly value: Buffer | null;
  readonly timestampMs: number;
}

/** Identity of a batch's producer, for the broker's duplicate check. */
export interface ProducerState {
  readonly id: number;
  readonly epoch: number;
}

/** Upper bound of the bytes a record takes inside a batch, before compression. */
export function recordBytes(record: EncodableRecord): number {
  return record.key.length + (record.value?.length ?? 0) + 36;
}

/** Encode a non-empty batch. The producer's identity and sequence are set by `stampBatch` before each first sending. */
export async function encodeBatch(
  records: readonly EncodableRecord[],
  options: { transactional: boolean; compress: boolean },
): Promise<Buffer> {
  const first = records[0];
  if (first === undefined) throw new RangeError('A batch must contain at least one record');
  const base = first.timestampMs;
  let maxTimestamp = base;
  let size = 0;
  const bodies = records.map(({ key, value, timestampMs }, delta) => {
    if (timestampMs > maxTimestamp) maxTimestamp = timestampMs;
    const valueBytes = value === null ? varintBytes(-1) : varintBytes(value.length) + value.length;
    const keyBytes = varintBytes(key.length) + key.length;
    const body = 2 + varintBytes(timestampMs - base) + varintBytes(delta) + keyBytes + valueBytes;
    size += varintBytes(body) + body;
    return body;
  });
  const raw = Buffer.allocUnsafe(HEADER_BYTES + size);
  let at = HEADER_BYTES;
  for (const [delta, { key, value, timestampMs }] of records.entries()) {
    at = writeVarint(raw, bodies[delta]!, at);
    raw[at++] = 0;
    at = writeVarint(raw, timestampMs - base, at);
    at = writeVarint(raw, delta, at);
    at = writeVarint(raw, key.length, at);
    at += key.copy(raw, at);
    at = writeVarint(raw, value === null ? -1 : value.length, at);
    if (value !== null) {
      raw.set(value, at);
      at += value.length;
    }
    raw[at++] = 0;
  }
  let batch = raw;
  let attributes = options.transactional ? TRANSACTIONAL : 0;
  if (options.compress && size >= COMPRESSION_MIN_BYTES) {
    const body = raw.subarray(HEADER_BYTES);
    const settings = { level: GZIP_LEVEL };
    const packed = size < ASYNC_COMPRESSION_MIN_BYTES ? gzipSync(body, settings) : await gzipAsync(body, settings);
    if (packed.length < size) {
      batch = Buffer.concat([raw.subarray(0, HEADER_BYTES), packed]);
      attributes |= GZIP;
    }
  }
  writeInt64(batch, 0, HEADER_OFFSETS.baseOffset);
  batch.writeInt32BE(batch.length - HEADER_OFFSETS.leaderEpoch, HEADER_OFFSETS.length);
  batch.writeInt32BE(-1, HEADER_OFFSETS.leaderEpoch);
  batch.writeInt8(2, HEADER_OFFSETS.magic);
  batch.writeInt16BE(attributes, HEADER_OFFSETS.attributes);
  batch.writeInt32BE(records.length - 1, HEADER_OFFSETS.lastOffsetDelta);
  writeInt64(batch, base, HEADER_OFFSETS.baseTimestamp);
  writeInt64(batch, maxTimestamp, HEADER_OFFSETS.maxTimestamp);
  batch.writeInt32BE(records.length, HEADER_OFFSETS.count);
  return batch;
}

/** Sets the producer's identity, the first sequence number and the checksum. */
export function stampBatch(batch: Buffer, producer: ProducerState, baseSequence: number): void {
  writeInt64(batch, producer.id, HEADER_OFFSETS.producerId);
  batch.writeInt16BE(producer.epoch, HEADER_OFFSETS.producerEpoch);
  batch.writeInt32BE(baseSequence, HEADER_OFFSETS.baseSequence);
  batch.writeUInt32BE(crc32c(batch, HEADER_OFFSETS.attributes), HEADER_OFFSETS.crc);
}

/** One batch as fetched: its header read, its records not yet unpacked. */
export interface FetchedBatch {
  readonly baseOffset: number;
  readonly lastOffset: number;
  readonly maxTimestampMs: number;
  readonly producerId: number;
  readonly producerEpoch: number;
  readonly baseSequence: number;
  readonly transactional: boolean;
  /** A commit or abort marker; it has no records for readers. */
  readonly control: boolean;
  readonly count: number;
  /** The whole batch, not copied. */
  readonly bytes: Buffer;
}

/** The complete batches of a fetch response; a cut-off last one is left out. */
export function splitBatches(records: Buffer): FetchedBatch[] {
  const batches: FetchedBatch[] = [];
  for (let at = 0; at + HEADER_BYTES <= records.length; ) {
    const end = at + HEADER_OFFSETS.leaderEpoch + records.readInt32BE(at + HEADER_OFFSETS.length);
    if (end > records.length) break;
    const magic = records.readInt8(at + HEADER_OFFSETS.magic);
    if (magic !== 2)
      throw new LogCorruptError(`A record batch of format ${magic}; Kafka 0.11 and later write format 2`);
    const baseOffset = readInt64(records, at + HEADER_OFFSETS.baseOffset);
    const attributes = records.readInt16BE(at + HEADER_OFFSETS.attributes);
    batches.push({
      baseOffset,
      lastOffset: baseOffset + records.readInt32BE(at + HEADER_OFFSETS.lastOffsetDelta),
      maxTimestampMs: readInt64(records, at + HEADER_OFFSETS.maxTimestamp),
      producerId: readInt64(records, at + HEADER_OFFSETS.producerId),
      producerEpoch: records.readInt16BE(at + HEADER_OFFSETS.producerEpoch),
      baseSequence: records.readInt32BE(at + HEADER_OFFSETS.baseSequence),
      transactional: (attributes & TRANSACTIONAL) !== 0,
      control: (attributes & CONTROL) !== 0,
      count: records.readInt32BE(at + HEADER_OFFSETS.count),
      bytes: records.subarray(at, end),
    });
    at = end;
  }
  return batches;
}

/** Whether a control batch is an abort marker. (Control record key: version int16, type int16; 0 aborts, 1 commits.) */
export function isAbort(batch: FetchedBatch): boolean {
  const reader = new WireReader(batch.bytes, HEADER_BYTES);
  reader.uvarint();
  reader.int8();
  reader.uvarint();
  reader.uvarint();
  reader.uvarint();
  reader.int16();
  return reader.int16() === 0;
}

/** Unpack a batch: its records from `fromOffset` on. Throws LogCorruptError when checksum, codec or sizes are wrong. */
export async function decodeBatch(batch: FetchedBatch, fromOffset: number): Promise<LogRecord[]> {
  const { bytes, baseOffset } = batch;
  const where = `Record batch at offset ${baseOffset}`;
  if (bytes.readUInt32BE(HEADER_OFFSETS.crc) !== crc32c(bytes, HEADER_OFFSETS.attributes))
    throw new LogCorruptError(`${where}: bad checksum`);
  const attributes = bytes.readInt16BE(HEADER_OFFSETS.attributes);
  const baseTimestamp = readInt64(bytes, HEADER_OFFSETS.baseTimestamp);
  const body = await decompress(bytes.subarray(HEADER_BYTES), attributes & CODEC_MASK, where);
  const records: LogRecord[] = [];
  let at = 0;
  /** Plain arithmetic instead of shifts: timestamps need more than 32 bits. */
  const varint = (): number => {
    let byte = body[at++]!;
    if (byte < 0x80) return byte & 1 ? -((byte + 1) >> 1) : byte >> 1;
    let value = byte & 0x7f;
    let scale = 0x80;
    do {
      byte = body[at++]!;
      value += (byte & 0x7f) * scale;
      scale *= 0x80;
    } while (byte >= 0x80);
    return value % 2 === 1 ? -(value + 1) / 2 : value / 2;
  };
  for (let i = 0; i < batch.count; i++) {
    const length = varint();
    const end = at + length;
    if (!(length > 0 && end <= body.length)) throw new LogCorruptError(`${where}: record ${i} of impossible size`);
    at++;
    const timestamp = baseTimestamp + varint();
    const offset = baseOffset + varint();
    const keyLength = varint();
    const keyEnd = at + Math.max(0, keyLength);
    if (offset >= fromOffset) {
      const key = keyLength > 0 ? body.toString('utf8', at, keyEnd) : '';
      at = keyEnd;
      const valueLength = varint();
      if (at + valueLength > end) throw new LogCorruptError(`${where}: record ${i} of impossible size`);
      records.push({
        offset,
        key,
        value: valueLength < 0 ? null : body.subarray(at, at + valueLength),
        timestampMs: attributes & LOG_APPEND_TIME ? batch.maxTimestampMs : timestamp,
      });
    }
    at = end;
  }
  return records;
}

async function decompress(packed: Buffer, codec: number, where: string): Promise<Buffer> {
  if (codec === 0) return packed;
  if (codec !== GZIP) {
    const name = ['', '', 'snappy', 'lz4', 'zstd'][codec] ?? `codec ${codec}`;
    throw new LogCorruptError(
      `${where} is compressed with ${name}; set the topic's compression.type to producer or gzip`,
    );
  }
  try {
    return packed.length < ASYNC_COMPRESSION_MIN_BYTES ? gunzipSync(packed) : await gunzipAsync(packed);
  } catch (error) {
    throw new LogCorruptError(`${where}: ${(error as Error).message}`);
  }
}
