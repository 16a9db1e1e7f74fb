import type { TableStore } from './table-store.js';

/** A sink's newest chunk: all offsets before `nextOffset`, and the tables of its rows. */
export interface NewestChunk {
  readonly sink: string;
  readonly topic: string;
  readonly partition: number;
  readonly nextOffset: number;
  readonly tables: readonly string[];
}

/**
 * Whether all rows of the chunk are in the tables: `sink_progress` says so, and was written after each of the tables was created or changed. Tables
 * that were restored from a backup are newer: a backup may contain the progress of a chunk without its rows. ClickHouse rounds the times of tables
 * down to seconds, so progress of the same second does not count.
 */
export async function isChunkCommitted(store: Pick<TableStore, 'query'>, chunk: NewestChunk): Promise<boolean> {
  const rows = await store.query(
    `SELECT next_offset FROM (
       SELECT max(p.next_offset) AS next_offset, max(p.written_at) AS written_at FROM sink_progress AS p
       WHERE p.sink = {sink:String} AND p.topic = {topic:String} AND p.partition = {partition:UInt16}
     )
     WHERE next_offset = {nextOffset:UInt64} AND written_at >= (
       SELECT max(metadata_modification_time) + INTERVAL 1 SECOND FROM system.tables WHERE database = currentDatabase() AND name IN {tables:Array(String)}
     )`,
    { ...chunk },
  );
  return rows.length > 0;
}
