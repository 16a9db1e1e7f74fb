import type { LogRecord, NewRecord } from '../infra/log/port.js';
import type { Codec } from '../schemas/codec.js';

/** Base64 of this many bytes is 64 KiB. */
const PAYLOAD_BYTES = 48 * 1024;

/**
 * The `dead.letters` record of an input record that could not be processed. Its value is deterministic: `received_at_ms` is the timestamp of the input
 * record. The record's own time is that of processing, since an old input record would expire with its reason unread.
 */
export function deadLetterRecord(options: {
  readonly codec: Codec;
  /** Name of the processor that rejected the record, e.g. `fills`. */
  readonly by: string;
  readonly topic: string;
  readonly partition: number;
  readonly record: LogRecord;
  readonly reason: string;
}): NewRecord {
  const { codec, by, topic, partition, record, reason } = options;
  const origin = `${topic}-${partition}-${record.offset}`;
  const value = codec.encode('dead_letter', {
    id: `${by}:${origin}`,
    origin,
    stage: `processors/${by}`,
    reason,
    payload: (record.value ?? Buffer.alloc(0)).subarray(0, PAYLOAD_BYTES).toString('base64'),
    received_at_ms: record.timestampMs,
  });
  return { key: origin, value, timestampMs: Date.now() };
}
