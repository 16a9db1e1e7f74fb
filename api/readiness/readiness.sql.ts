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

/**
 * Time of the newest leaderboard snapshot (0: none), and whether any snapshot contains a wallet. The ranks of a snapshot may be missing although its totals
 * are there: then the time is that of the newest ranks.
 */
export const newestSnapshotSql: Sql = {
  text: `SELECT toString(toUnixTimestamp64Milli(if(ranks = 0, totals_at, least(totals_at, ranks_at)))) AS taken_ms, toString(ranks) AS ranked
    FROM (
      SELECT (SELECT max(taken_at) FROM venue_totals) AS totals_at, count() AS ranks, max(taken_at) AS ranks_at
      FROM (SELECT taken_at FROM leaderboards WHERE board = 'total' ORDER BY taken_at DESC LIMIT 1)
    )`,
  params: {},
  singleChunk: true,
};
