import { dateTime64, lowCardinality, uint16, uint64 } from './columns.js';
import { defineTable, encodeRows } from './sink-definition.js';
import { SINK_FORMAT, type TableStore } from './table-store.js';

export const chunksTable = defineTable('chunks', {
  sink: lowCardinality,
  topic: lowCardinality,
  partition: uint16,
  first_offset: uint64,
  last_offset: uint64,
  planned_at: dateTime64,
});

export type ChunkRow = Parameters<typeof chunksTable.write>[1];

export interface ChunkRecorder {
  /** Resolves when the row is in `chunks`; rejects with the error of its insert, after which the row may be there. A repeated row has no effect. */
  record(row: ChunkRow): Promise<void>;
}

/** Sinks of one topic plan their chunks within a few milliseconds. */
const SHARED_WAIT_MS = 20;

/**
 * Inserts rows into `chunks`. One recorder for all sinks of a process (`shared`) inserts rows together that are recorded within 20 ms or while an insert is
 * in flight: most chunks of a live source have few rows, and then the row of `chunks` costs as much as the chunk.
 */
export function createChunkRecorder(options: {
  store: Pick<TableStore, 'insertBytes'>;
  shared?: boolean;
}): ChunkRecorder {
  const { store, shared = false } = options;
  let waiting: { readonly row: ChunkRow; resolve(): void; reject(error: unknown): void }[] = [];
  let isInserting = false;

  const insertAll = async (): Promise<void> => {
    isInserting = true;
    while (waiting.length > 0) {
      if (shared) await new Promise((resolve) => setTimeout(resolve, SHARED_WAIT_MS));
      const taken = waiting;
      waiting = [];
      try {
        const rows = encodeRows(
          chunksTable,
          taken.map(({ row }) => row),
        );
        await store.insertBytes(chunksTable.name, SINK_FORMAT, rows, { columns: chunksTable.columns });
        for (const { resolve } of taken) resolve();
      } catch (error) {
        for (const { reject } of taken) reject(error);
      }
    }
    isInserting = false;
  };

  return {
    record(row) {
      return new Promise((resolve, reject) => {
        waiting.push({ row, resolve, reject });
        if (!isInserting) void insertAll();
      });
    },
  };
}
