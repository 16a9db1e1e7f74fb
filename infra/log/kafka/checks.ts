import { LogArgumentError } from '../errors.js';
import type { NewRecord, TopicPartitionOffset, TopicSpec } from '../port.js';
import { type EncodableRecord, recordBytes } from './record-batch.js';

/** Largest stored batch; topics are created with this limit. */
export const MAX_BATCH_BYTES = 64 * 1024 * 1024;
/** The limit of the LMDB engine, so that both accept the same records. */
const MAX_TIMESTAMP_MS = 2 ** 48 - 1;
const MAX_PARTITIONS = 0xffff;

/** Returns the record with its key as bytes. Throws LogArgumentError for a record that no log can store. */
export function checkRecord(topic: string, record: NewRecord): EncodableRecord {
  const { timestampMs, value } = record;
  const where = `Record for topic "${topic}"`;
  if (typeof record.key !== 'string') throw new LogArgumentError(`${where}: the key is not a string`);
  if (!Number.isInteger(timestampMs) || timestampMs < 0 || timestampMs > MAX_TIMESTAMP_MS) {
    throw new LogArgumentError(`${where}: timestampMs ${timestampMs} is not a Unix time in milliseconds`);
  }
  if (value !== null && !(value instanceof Uint8Array)) {
    throw new LogArgumentError(`${where}: the value is neither bytes nor null`);
  }
  const encodable = { key: Buffer.from(record.key, 'utf8'), value, timestampMs };
  const bytes = recordBytes(encodable);
  if (bytes > MAX_BATCH_BYTES - 100) {
    throw new LogArgumentError(`${where}: ${bytes} bytes, the limit is ${MAX_BATCH_BYTES - 100}`);
  }
  return encodable;
}

export function checkGroup(group: string): string {
  if (group === '' || Buffer.byteLength(group) > 255) {
    throw new LogArgumentError(`Group name "${group}": 1 to 255 bytes`);
  }
  return group;
}

export function checkOffset(position: TopicPartitionOffset): TopicPartitionOffset {
  const { nextOffset } = position;
  if (!Number.isSafeInteger(nextOffset) || nextOffset < 0) {
    throw new LogArgumentError(`Position ${nextOffset} of topic "${position.topic}" is not an offset`);
  }
  return position;
}

export function checkSpec(spec: TopicSpec): void {
  const { name, partitions, retentionMs } = spec;
  if (!/^[a-zA-Z0-9._-]{1,249}$/.test(name) || name === '.' || name === '..') {
    throw new LogArgumentError(`Topic name "${name}": 1 to 249 letters, digits, dots, underscores or hyphens`);
  }
  if (!Number.isInteger(partitions) || partitions < 1 || partitions > MAX_PARTITIONS) {
    throw new LogArgumentError(`Topic "${name}": partitions must be 1 to ${MAX_PARTITIONS}, not ${partitions}`);
  }
  if (retentionMs !== null && !(Number.isSafeInteger(retentionMs) && retentionMs > 0)) {
    throw new LogArgumentError(`Topic "${name}": retentionMs must be a positive integer or null`);
  }
}
