import { dateTime64, lowCardinality, uint16, uint64 } from './columns.js';
import { defineTable } from './sink-definition.js';
import { SINK_FORMAT, type TableStore } from './table-store.js';

export const chunksTable = defineTable('chunks', {
  sink: lowCardinality,
  topic: lowCardinality,
  partition: uint16,
  first_offset: uint64,
  last_offset: uint64,
  planned_at: dateTime64,
});

export interface OffsetRange {
  readonly firstOffset: number;
  readonly lastOffset: number;
}

/**
 * The `chunks` rows of one (sink, topic, partition): the planned ranges as recorded in ClickHouse. A range is recorded before any of its rows
 * is inserted, and only after all rows of the previous range are committed, so at most the newest range is incomplete.
 */
export function createChunkJournal(options: { store: TableStore; sink: string; topic: string; partition: number }) {
  const { store, sink, topic, partition } = options;
  const tokenFor = (range: OffsetRange, table: string) =>
    `${sink}-${topic}-${partition}-${range.firstOffset}-${range.lastOffset}-${table}`;
  const record = async (range: OffsetRange): Promise<void> => {
    const line = chunksTable.line({
      sink,
      topic,
      partition,
      first_offset: range.firstOffset,
      last_offset: range.lastOffset,
      planned_at: Date.now(),
    });
    await store.insertBytes(chunksTable.name, SINK_FORMAT, Buffer.from(line), {
      columns: chunksTable.columns,
      dedupToken: tokenFor(range, chunksTable.name),
    });
  };
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

export type ChunkJournal = ReturnType<typeof createChunkJournal>;
