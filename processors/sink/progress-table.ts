import type { Migration, TableSpec } from '../../infra/clickhouse/ddl.js';
import type { Logger } from '../../infra/telemetry/logger.js';
import { dateTime64, lowCardinality, string, uint16, uint64 } from './columns.js';
import { defineTable, encodeRows } from './sink-definition.js';
import { SINK_FORMAT, type TableStore } from './table-store.js';

const spec: TableSpec = {
  name: 'sink_progress',
  columns: `
      sink LowCardinality(String),
      topic LowCardinality(String),
      partition UInt16,
      next_offset UInt64,
      record_key String,
      record_time DateTime64(3, 'UTC'),
      written_at DateTime64(3, 'UTC')`,
  engine: 'ReplacingMergeTree',
  engineArgs: ['next_offset'],
  orderBy: '(sink, topic, partition)',
  placement: 'everywhere',
};

/**
 * `sink_progress`: committed position of each sink. All rows of a partition before `next_offset` are in the tables; `record_key` and
 * `record_time` belong to the last record before it. `chunks` lists planned ranges, whose inserts may still be in flight.
 */
export const sinkProgressTable: Migration = {
  id: '0048_sink_progress',
  statements: (ddl) => [...ddl.table(spec)],
};

const table = defineTable(spec.name, {
  sink: lowCardinality,
  topic: lowCardinality,
  partition: uint16,
  next_offset: uint64,
  record_key: string,
  record_time: dateTime64,
  written_at: dateTime64,
});

export interface SinkProgress {
  readonly sink: string;
  readonly topic: string;
  readonly partition: number;
  readonly nextOffset: number;
  /** Key of the last record before `nextOffset`. */
  readonly recordKey: string;
  readonly recordTimeMs: number;
}

export interface ProgressWriter {
  /** Records that a sink's rows before `nextOffset` are in the tables. Written with the next batch of all sinks. */
  report(progress: SinkProgress): void;
  /** Writes until the signal, and once more then. Never rejects: a failed write is retried. */
  run(signal: AbortSignal): Promise<void>;
}

const WRITE_INTERVAL_MS = 1_000;

/** Writes the newest progress of all sinks of a process in one insert, at most once a second. */
export function createProgressWriter(options: {
  store: Pick<TableStore, 'insertBytes'>;
  logger: Logger;
  everyMs?: number;
  nowMs?: () => number;
}): ProgressWriter {
  const { store, logger, everyMs = WRITE_INTERVAL_MS, nowMs = Date.now } = options;
  const waiting = new Map<string, SinkProgress>();
  const write = async (): Promise<void> => {
    if (waiting.size === 0) return;
    const taken = [...waiting];
    waiting.clear();
    const rows = taken.map(([, { sink, topic, partition, nextOffset, recordKey, recordTimeMs }]) => ({
      sink,
      topic,
      partition,
      next_offset: nextOffset,
      record_key: recordKey,
      record_time: recordTimeMs,
      written_at: nowMs(),
    }));
    try {
      await store.insertBytes(table.name, SINK_FORMAT, encodeRows(table, rows), { columns: table.columns });
    } catch (error) {
      logger.warn({ err: error }, 'cannot write the progress of the sinks, trying again');
      for (const [key, progress] of taken) if (!waiting.has(key)) waiting.set(key, progress);
    }
  };
  return {
    report(progress) {
      waiting.set(`${progress.sink}/${progress.topic}/${progress.partition}`, progress);
    },
    async run(signal) {
      while (!signal.aborted) {
        await write();
        await new Promise<void>((resolve) => {
          const timer = setTimeout(end, everyMs);
          signal.addEventListener('abort', end, { once: true });
          function end() {
            clearTimeout(timer);
            signal.removeEventListener('abort', end);
            resolve();
          }
        });
      }
      // So that the next start does not insert these chunks again.
      await write();
    },
  };
}
