import type { IdList } from './id-list.js';

/** One page of a ranking, and whether more follows. */
export interface RankedPage {
  readonly ids: readonly string[];
  readonly hasMore: boolean;
}

/**
 * Pages of lists whose order is no chain order and changes as data arrives (by volume, by count). The first page of a walk keeps the whole
 * order; later pages of the same caller and question are cut from it. Kept per process: a walk that reaches another process is cut from the
 * order as it is there.
 */
export interface Rankings {
  page(options: { walk: string; offset: number; limit: number; load: () => Promise<IdList> }): Promise<RankedPage>;
}

const KEPT_MS = 15 * 60_000;
const MAX_IDS = 150_000;
/** An order of nothing takes its place too. */
const weightOf = (ids: IdList) => ids.length + 10;

/** A walk is forgotten a quarter of an hour after its last page, and earlier when all of them hold more than 150,000 ids. */
export function createRankings(options: { nowMs: () => number }): Rankings {
  const kept = new Map<string, { readonly ids: IdList; usedMs: number }>();
  let held = 0;
  const forget = (walk: string) => {
    const ids = kept.get(walk)?.ids;
    if (ids !== undefined) held -= weightOf(ids);
    kept.delete(walk);
  };
  const keep = (walk: string, ids: IdList) => {
    forget(walk);
    kept.set(walk, { ids, usedMs: options.nowMs() });
    held += weightOf(ids);
    for (const oldest of kept.keys()) {
      if (held <= MAX_IDS || oldest === walk) break;
      forget(oldest);
    }
  };
  return {
    async page({ walk, offset, limit, load }) {
      const found = kept.get(walk);
      const fresh = found !== undefined && options.nowMs() - found.usedMs <= KEPT_MS;
      const ids = offset > 0 && fresh ? found.ids : await load();
      keep(walk, ids);
      return { ids: ids.slice(offset, offset + limit), hasMore: ids.length > offset + limit };
    },
  };
}
