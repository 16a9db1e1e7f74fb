import type { ChainPosition } from './position.js';

/**
 * Where walks by offset began. Newest first, every arriving row moves the offsets of all older ones; so the first page of a walk fixes its
 * newest row, and later pages of the same caller and question count from there. Kept per process: a walk that reaches another process counts
 * from the newest row there; cursors need no memory.
 */
export interface Walks<Place = ChainPosition> {
  /** Offset 0 of a walk was answered with this newest row; null: with nothing. */
  begin(walk: string, newest: Place | null): void;
  /** The newest row of the walk, or null where none is known. */
  boundOf(walk: string): Place | null;
}

const KEPT_MS = 15 * 60_000;
const MAX_WALKS = 20_000;

/** A walk is forgotten a quarter of an hour after its last page; the one longest unused goes first when there are too many. */
export function createWalks<Place = ChainPosition>(options: { nowMs: () => number }): Walks<Place> {
  const walks = new Map<string, { readonly newest: Place; usedMs: number }>();
  return {
    begin(walk, newest) {
      walks.delete(walk);
      if (newest === null) return;
      walks.set(walk, { newest, usedMs: options.nowMs() });
      while (walks.size > MAX_WALKS) {
        const oldest = walks.keys().next();
        if (oldest.done === true) break;
        walks.delete(oldest.value);
      }
    },
    boundOf(walk) {
      const found = walks.get(walk);
      if (found === undefined) return null;
      walks.delete(walk);
      if (options.nowMs() - found.usedMs > KEPT_MS) return null;
      found.usedMs = options.nowMs();
      walks.set(walk, found);
      return found.newest;
    },
  };
}

/** Names a walk: who asks, what, and by what filters; the place within it is left out. */
export function walkName(
  accountId: string | undefined,
  path: string,
  filters: Readonly<Record<string, unknown>>,
): string {
  const text = JSON.stringify(filters, (name, value: unknown) => {
    if (name === 'limit' || name === 'offset' || name === 'cursor') return undefined;
    return typeof value === 'bigint' ? `${value}n` : value;
  });
  return `${accountId ?? ''} ${path} ${text}`;
}
