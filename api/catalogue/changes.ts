import type { Tables } from '../tables/port.js';
import { type ChangedRow, changesSql, type Followed, followed, type MarkRow, marksSql } from './changes.sql.js';

/**
 * Ids whose rows changed; null: any may have. `sinceS`: nothing older than this changed, Unix seconds; 0 where rows have no time of their own.
 */
export type ChangeListener = (ids: readonly string[] | null, source: Followed, sinceS: number) => void;

/** Tells what changed in the tables, so that what was read of them may be held until it does. */
export interface Changes {
  on(sources: readonly Followed[], listener: ChangeListener): void;
  /** Resolves when listeners have heard of everything that was in the tables 5 s ago. Asks the tables once in 2 s at most, and only when called. */
  current(): Promise<void>;
}

const ASK_EVERY_MS = 2_000;
/** What listeners hold is at most so much older than the tables. */
export const TRUSTED_S = 5;
const TRUSTED_MS = TRUSTED_S * 1000;
/** More changes than this of one table at once: all of it counts as changed. */
const MOST_CHANGES = 5_000;

/** Follows the offsets of the tables' rows. */
export function createChanges(deps: { tables: Tables; nowMs: () => number }): Changes {
  const listeners = new Map<Followed, ChangeListener[]>();
  let marks: Record<Followed, bigint> | null = null;
  let askedMs = Number.NEGATIVE_INFINITY;
  let heardMs = Number.NEGATIVE_INFINITY;
  let asking: Promise<void> | null = null;
  let failure: unknown;

  const tell = (source: Followed, ids: readonly string[] | null, sinceS = 0) => {
    for (const listener of listeners.get(source) ?? []) listener(ids, source, sinceS);
  };
  const marksNow = async (exact: boolean): Promise<Record<Followed, bigint>> => {
    const rows = await deps.tables.rows<MarkRow>(marksSql(exact));
    const found = new Map(rows.map((row) => [row.source, BigInt(row.next)]));
    return Object.fromEntries(followed.map((source) => [source, found.get(source) ?? 0n])) as Record<Followed, bigint>;
  };
  const ask = async (): Promise<void> => {
    // What was held before the marks are known may have changed since it was read.
    if (marks === null) {
      marks = await marksNow(false);
      for (const source of followed) tell(source, null);
      return;
    }
    const known = marks;
    const rows = await deps.tables.rows<ChangedRow>(changesSql(known, MOST_CHANGES));
    const changed = new Map<Followed, { readonly ids: string[]; sinceS: number }>();
    const next = { ...known };
    for (const row of rows) {
      const [found, sinceS] = [changed.get(row.source), Number(row.since)];
      if (found === undefined) changed.set(row.source, { ids: [row.id], sinceS });
      else {
        found.ids.push(row.id);
        found.sinceS = Math.min(found.sinceS, sinceS);
      }
      const behind = BigInt(row.next);
      if (behind > next[row.source]) next[row.source] = behind;
    }
    const flooded = [...changed].filter(([, { ids }]) => ids.length >= MOST_CHANGES).map(([source]) => source);
    if (flooded.length > 0) {
      const newest = await marksNow(true);
      for (const source of flooded) next[source] = newest[source];
    }
    marks = next;
    for (const [source, { ids, sinceS }] of changed) {
      if (ids.length >= MOST_CHANGES) tell(source, null);
      else tell(source, ids, sinceS);
    }
  };

  return {
    on(sources, listener) {
      for (const source of sources) listeners.set(source, [...(listeners.get(source) ?? []), listener]);
    },
    async current() {
      const nowMs = deps.nowMs();
      if (asking === null && nowMs - askedMs >= ASK_EVERY_MS) {
        askedMs = nowMs;
        asking = ask()
          .then(() => {
            heardMs = nowMs;
          })
          .finally(() => {
            asking = null;
          });
        // Whoever needs the answer waits for it below; to the others the next question is soon enough.
        asking.catch((error) => {
          failure = error;
        });
      }
      if (nowMs - heardMs < TRUSTED_MS) return;
      if (asking === null) throw failure;
      await asking;
    },
  };
}
