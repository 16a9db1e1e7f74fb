import type { Tables } from '../tables/port.js';
import {
  type ChangedRow,
  changesSql,
  type WatchedTable,
  type WatermarkRow,
  watchedTables,
  watermarksSql,
} from './change-feed.sql.js';

/** Receives the ids whose rows changed; null: all rows may have changed. */
export type ChangeListener = (ids: readonly string[] | null, source: WatchedTable) => void;

/** Reports changes of tables, so that values can be cached until they change. */
export interface ChangeFeed {
  subscribe(sources: readonly WatchedTable[], listener: ChangeListener): void;
  /** Resolves when listeners have received all changes that are at least 5 s old. Polls the tables at most once in 2 s, and only when called. */
  sync(): Promise<void>;
}

const POLL_INTERVAL_MS = 2_000;
/** Maximum delay between a change of the tables and its report. */
export const MAX_STALENESS_S = 5;
const MAX_STALENESS_MS = MAX_STALENESS_S * 1000;
/** More changes of a table in one step count as a change of all its rows. */
const MAX_CHANGES = 5_000;

/** Creates a change feed that polls the log offsets of the tables' rows. */
export function createChangeFeed(deps: { tables: Tables; nowMs: () => number }): ChangeFeed {
  const listeners = new Map<WatchedTable, ChangeListener[]>();
  let watermarks: Record<WatchedTable, bigint> | null = null;
  let lastPolledMs = Number.NEGATIVE_INFINITY;
  let lastSyncedMs = Number.NEGATIVE_INFINITY;
  let polling: Promise<void> | null = null;
  let failure: unknown;

  const notify = (source: WatchedTable, ids: readonly string[] | null) => {
    for (const listener of listeners.get(source) ?? []) listener(ids, source);
  };
  const readWatermarks = async (exact: boolean): Promise<Record<WatchedTable, bigint>> => {
    const rows = await deps.tables.rows<WatermarkRow>(watermarksSql(exact));
    const found = new Map(rows.map((row) => [row.source, BigInt(row.next)]));
    return Object.fromEntries(watchedTables.map((source) => [source, found.get(source) ?? 0n])) as Record<
      WatchedTable,
      bigint
    >;
  };
  const poll = async (): Promise<void> => {
    // Changes between earlier reads and the first watermarks are unknown: invalidate everything.
    if (watermarks === null) {
      watermarks = await readWatermarks(false);
      for (const source of watchedTables) notify(source, null);
      return;
    }
    const before = watermarks;
    const rows = await deps.tables.rows<ChangedRow>(changesSql(before, MAX_CHANGES));
    const changed = new Map<WatchedTable, string[]>();
    const next = { ...before };
    for (const row of rows) {
      const ids = changed.get(row.source) ?? [];
      if (ids.length === 0) changed.set(row.source, ids);
      ids.push(row.id);
      const nextOffset = BigInt(row.next);
      if (nextOffset > next[row.source]) next[row.source] = nextOffset;
    }
    const overflowed = [...changed].filter(([, ids]) => ids.length >= MAX_CHANGES).map(([source]) => source);
    if (overflowed.length > 0) {
      const newest = await readWatermarks(true);
      for (const source of overflowed) next[source] = newest[source];
    }
    watermarks = next;
    for (const [source, ids] of changed) notify(source, ids.length >= MAX_CHANGES ? null : ids);
  };

  return {
    subscribe(sources, listener) {
      for (const source of sources) listeners.set(source, [...(listeners.get(source) ?? []), listener]);
    },
    async sync() {
      const nowMs = deps.nowMs();
      // A clock that was set back makes a poll due, too.
      if (polling === null && Math.abs(nowMs - lastPolledMs) >= POLL_INTERVAL_MS) {
        lastPolledMs = nowMs;
        polling = poll()
          .then(() => {
            lastSyncedMs = nowMs;
          })
          .finally(() => {
            polling = null;
          });
        // Requests that need the new rows await the promise below; the others see them at their next read.
        polling.catch((error) => {
          failure = error;
        });
      }
      if (Math.abs(nowMs - lastSyncedMs) < MAX_STALENESS_MS) return;
      if (polling === null) throw failure;
      await polling;
    },
  };
}
