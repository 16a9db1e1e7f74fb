import type { Sql } from '../tables/port.js';

export interface SinkProgressRow {
  readonly sink: string;
  readonly partition: number;
  readonly next: string;
  readonly key: string;
  readonly time_ms: string;
}

/** Committed progress of each sink partition. */
export const sinkProgressSql: Sql = {
  text: `SELECT toString(sink) AS sink, partition, toString(max(next_offset)) AS next, argMax(record_key, next_offset) AS key,
      toString(toUnixTimestamp64Milli(argMax(record_time, next_offset))) AS time_ms
    FROM sink_progress GROUP BY sink, partition`,
  params: {},
  singleChunk: true,
};

export interface SnapshotRow {
  readonly taken_ms: string;
  readonly ranked: string;
}

/** Time of the newest leaderboard snapshot (0: none), and whether any snapshot contains a wallet. */
export const newestSnapshotSql: Sql = {
  text: `SELECT toString(toUnixTimestamp64Milli(max(taken_at))) AS taken_ms,
      toString((SELECT count() FROM (SELECT 1 FROM leaderboards LIMIT 1))) AS ranked FROM venue_totals`,
  params: {},
  singleChunk: true,
};
