import type { NewRecord } from '../../infra/log/port.js';
import type { Metrics } from '../../infra/telemetry/metrics.js';
import { type Codec, CodecError } from '../../schemas/codec.js';
import { topics } from '../../schemas/topics.js';
import type { SourceLog } from '../shared/owned-log.js';
import { createLastWritten } from './last-written.js';
import { type CatalogRow, rowKey } from './source.js';

const TOPIC = topics.catalog.name;

export interface CatalogWriter {
  /** Learn from the compacted topic what was last written per key. Call once, before the first write. Resolves with the number of keys. */
  restore(): Promise<number>;
  /** Append the rows whose encoded value differs from what was last written, in one batch; resolves with their number when durable. */
  write(rows: readonly CatalogRow[]): Promise<number>;
}

/**
 * Writes the catalogue on change only. Any difference in the encoded row counts as a change. `refused` gets rows the schema does not
 * take; the rest of the batch goes on.
 */
export function createCatalogWriter(deps: {
  log: SourceLog;
  codec: Codec;
  metrics: Metrics;
  refused: (reason: string, payload: string) => void;
  nowMs?: () => number;
}): CatalogWriter {
  const { log, codec, refused, nowMs = Date.now } = deps;
  const last = createLastWritten();
  const written = deps.metrics.counter('catalog_rows_written_total', 'Catalogue rows appended to the log', ['kind']);
  const unchanged = deps.metrics.counter('catalog_rows_unchanged_total', 'Catalogue rows that were written before', [
    'kind',
  ]);
  const known = deps.metrics.gauge('catalog_keys', 'Catalogue keys in the log');

  const encode = (row: CatalogRow): Buffer | null => {
    try {
      return codec.encode(row.kind, row.value);
    } catch (error) {
      if (!(error instanceof CodecError)) throw error;
      refused(error.message, JSON.stringify(row.value));
      return null;
    }
  };

  return {
    async restore() {
      const partitions = await log.partitions(TOPIC);
      for (let partition = 0; partition < partitions; partition++) {
        for await (const batch of log.read({ topic: TOPIC, partition, from: 'earliest', follow: false })) {
          for (const { key, value } of batch.records) {
            if (value === null) last.forget(key);
            else last.set(key, value);
          }
        }
      }
      known.set(last.size);
      return last.size;
    },

    async write(rows) {
      const records: NewRecord[] = [];
      const pending = new Map<string, Buffer>();
      for (const row of rows) {
        const key = rowKey(row);
        const value = encode(row);
        if (value === null) continue;
        const waiting = pending.get(key);
        if (waiting === undefined ? last.holds(key, value) : waiting.equals(value)) {
          unchanged.inc({ kind: row.kind });
          continue;
        }
        pending.set(key, value);
        records.push({ key, value, timestampMs: nowMs() });
        written.inc({ kind: row.kind });
      }
      if (records.length === 0) return 0;
      await log.append(TOPIC, records);
      for (const [key, value] of pending) last.set(key, value);
      known.set(last.size);
      return records.length;
    },
  };
}
