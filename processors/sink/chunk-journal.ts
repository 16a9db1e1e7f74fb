import { type ChunkRecorder, chunksTable, createChunkRecorder } from './chunk-recorder.js';
import type { TableStore } from './table-store.js';

export interface OffsetRange {
  readonly firstOffset: number;
  readonly lastOffset: number;
}

/**
 * The `chunks` rows of one (sink, topic, partition): the planned ranges as recorded in ClickHouse. A range is recorded before any of its rows
 * is inserted, and only after all rows of the previous range are committed, so at most the newest range is incomplete.
 */
export function createChunkJournal(options: {
  store: TableStore;
  sink: string;
  topic: string;
  partition: number;
  /** The recorder of all sinks of the process. */
  recorder?: ChunkRecorder;
}) {
  const { store, sink, topic, partition, recorder = createChunkRecorder(options) } = options;
  const tokenFor = (range: OffsetRange, table: string) =>
    `${sink}-${topic}-${partition}-${range.firstOffset}-${range.lastOffset}-${table}`;
  const record = (range: OffsetRange): Promise<void> =>
    recorder.record({
      sink,
      topic,
      partition,
      first_offset: range.firstOffset,
      last_offset: range.lastOffset,
      planned_at: Date.now(),
    });
  return {
    tokenFor,
    record,
    async newest(): Promise<OffsetRange | null> {
      // A range acknowledged by another replica must be visible here: after an older one, its offsets would be chunked differently, with other tokens.
      await store.syncReplica?.(chunksTable.name);
      const rows = await store.query<{ first_offset: string; last_offset: string }>(
        `SELECT toString(first_offset) AS first_offset, toString(last_offset) AS last_offset FROM chunks
         WHERE sink = {sink:String} AND topic = {topic:String} AND partition = {partition:UInt16}
         ORDER BY chunks.first_offset DESC, chunks.last_offset DESC LIMIT 1`,
        { sink, topic, partition },
      );
      const row = rows[0];
      return row === undefined ? null : { firstOffset: Number(row.first_offset), lastOffset: Number(row.last_offset) };
    },
  };
}
