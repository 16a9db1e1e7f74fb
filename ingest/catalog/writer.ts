import type { NewRecord } from '../../infra/log/port.js';
import type { Metrics } from '../../infra/telemetry/metrics.js';
import { type Codec, CodecError } from '../../schemas/codec.js';
import { topics } from '../../schemas/topics.js';
import { tryDecode } from '../../schemas/try-decode.js';
import type { CatalogMarket } from '../../schemas/types.gen.js';
import type { SourceLog } from '../shared/owned-log.js';
import { createLastWritten } from './last-written.js';
import { type CatalogRow, rowKey } from './source.js';

const TOPIC = topics.catalog.name;

export interface CatalogWriter {
  /** Reads the last written value per key from the compacted topic. Call once, before the first write. Resolves with the number of keys. */
  restore(): Promise<number>;
  /** Appends the rows whose encoded value differs from the last written value, in one batch; resolves with their number when durable. */
  write(rows: readonly CatalogRow[]): Promise<number>;
  /** Whether the market of that condition is in the log. */
  hasMarket(conditionId: string): boolean;
}

/**
 * Writes catalog rows on change only. Any difference in the encoded row is a change. `onRejected` receives rows that do not fit the schema;
 * the rest of the batch is written.
 */
export function createCatalogWriter(deps: {
  log: SourceLog;
  codec: Codec;
  metrics: Metrics;
  onRejected: (reason: string, payload: string) => void;
  /** Called with every market in the log: those of restore(), then each written one. */
  onMarket?: (market: CatalogMarket) => void;
  nowMs?: () => number;
}): CatalogWriter {
  const { log, codec, onRejected, onMarket, nowMs = Date.now } = deps;
  const last = createLastWritten();
  const written = deps.metrics.counter('catalog_rows_written_total', 'Catalog rows appended to the log', ['kind']);
  const unchanged = deps.metrics.counter(
    'catalog_rows_unchanged_total',
    'Catalog rows skipped because they are unchanged',
    ['kind'],
  );
  const known = deps.metrics.gauge('catalog_keys', 'Catalog keys in the log');

  const encode = (row: CatalogRow): Buffer | null => {
    try {
      return codec.encode(row.kind, row.value);
    } catch (error) {
      if (!(error instanceof CodecError)) throw error;
      onRejected(error.message, JSON.stringify(row.value));
      return null;
    }
  };

  const reportMarket = (bytes: Buffer, report: (market: CatalogMarket) => void) => {
    // An unreadable row is written again when the source delivers it.
    const event = tryDecode(codec, bytes, (reason) => onRejected(reason, bytes.toString('base64')));
    if (event?.kind === 'catalog_market') report(event.value);
  };

  return {
    async restore() {
      const partitions = await log.partitions(TOPIC);
      for (let partition = 0; partition < partitions; partition++) {
        for await (const batch of log.read({ topic: TOPIC, partition, from: 'earliest', follow: false })) {
          for (const { key, value } of batch.records) {
            if (value === null) last.remove(key);
            else {
              last.set(key, value);
              if (onMarket !== undefined && key.startsWith('market:')) reportMarket(value, onMarket);
            }
          }
        }
      }
      known.set(last.size);
      return last.size;
    },

    async write(rows) {
      const records: NewRecord[] = [];
      const pending = new Map<string, Buffer>();
      const markets: CatalogMarket[] = [];
      for (const row of rows) {
        const key = rowKey(row);
        const value = encode(row);
        if (value === null) continue;
        const pendingValue = pending.get(key);
        if (pendingValue === undefined ? last.matches(key, value) : pendingValue.equals(value)) {
          unchanged.inc({ kind: row.kind });
          continue;
        }
        pending.set(key, value);
        if (row.kind === 'catalog_market') markets.push(row.value);
        records.push({ key, value, timestampMs: nowMs() });
        written.inc({ kind: row.kind });
      }
      if (records.length === 0) return 0;
      await log.append(TOPIC, records);
      for (const [key, value] of pending) last.set(key, value);
      for (const market of markets) onMarket?.(market);
      known.set(last.size);
      return records.length;
    },

    hasMarket: (conditionId) => last.has(`market:${conditionId}`),
  };
}
