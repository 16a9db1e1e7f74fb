import { FatalError } from '../../infra/errors.js';
import type { Log } from '../../infra/log/port.js';
import { readChunk } from './chunk-reader.js';
import type { TableStore } from './table-store.js';

/**
 * Rejects with FatalError when the last record whose rows are in the tables, by `sink_progress`, is another one in the log. Offsets alone do not show that
 * the tables were filled from another log. Resolves if one of the two records is unknown.
 */
export async function requireSameLog(options: {
  store: Pick<TableStore, 'query'>;
  log: Pick<Log, 'read'>;
  sink: string;
  topic: string;
  partition: number;
  /** Last offset of the rows in the tables. */
  lastOffset: number;
  signal: AbortSignal;
}): Promise<void> {
  const { store, log, sink, topic, partition, lastOffset, signal } = options;
  const [inserted] = await store.query<{ record_key: string; record_ms: string }>(
    `SELECT record_key, toString(toUnixTimestamp64Milli(record_time)) AS record_ms FROM sink_progress
     WHERE sink = {sink:String} AND topic = {topic:String} AND partition = {partition:UInt16} AND next_offset = {nextOffset:UInt64} LIMIT 1`,
    { sink, topic, partition, nextOffset: lastOffset + 1 },
  );
  const range = { firstOffset: lastOffset, lastOffset };
  const record = (await readChunk({ log, topic, partition, signal, ...range })).records[0];
  if (inserted === undefined || record === undefined) return;
  if (inserted.record_key === record.key && Number(inserted.record_ms) === record.timestampMs) return;
  const text = (key: string, timeMs: number) => `record ${key} of ${new Date(timeMs).toISOString()}`;
  throw new FatalError(
    `The rows of ${sink} end with ${text(inserted.record_key, Number(inserted.record_ms))} at offset ${lastOffset} of ${topic}/${partition}, where the log has ${text(record.key, record.timestampMs)}: tables and log do not belong together. Restore the log, or fill an empty database`,
  );
}
