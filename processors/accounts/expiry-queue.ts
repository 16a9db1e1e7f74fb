/** Entities by the time at which they expire, earliest first and then by name: an order that does not depend on when they were added. */
export interface ExpiryQueue {
  add(entity: string, expiresAtMs: number): void;
  /** The earliest entry, or undefined. */
  first(): { readonly entity: string; readonly expiresAtMs: number } | undefined;
  removeFirst(): void;
  readonly size: number;
}

interface Entry {
  readonly entity: string;
  readonly expiresAtMs: number;
}

const precedes = (a: Entry, b: Entry): boolean =>
  a.expiresAtMs !== b.expiresAtMs ? a.expiresAtMs < b.expiresAtMs : a.entity < b.entity;

/** A binary heap: O(log n) per entry. An entity that was removed or extended meanwhile keeps its old entry; the reader checks. */
export function createExpiryQueue(): ExpiryQueue {
  const heap: Entry[] = [];
  const at = (index: number): Entry => heap[index] as Entry;
  const swap = (a: number, b: number) => {
    const entry = at(a);
    heap[a] = at(b);
    heap[b] = entry;
  };
  return {
    add(entity, expiresAtMs) {
      heap.push({ entity, expiresAtMs });
      let index = heap.length - 1;
      while (index > 0) {
        const parent = (index - 1) >> 1;
        if (!precedes(at(index), at(parent))) return;
        swap(index, parent);
        index = parent;
      }
    },
    first: () => heap[0],
    removeFirst() {
      const last = heap.pop();
      if (last === undefined || heap.length === 0) return;
      heap[0] = last;
      let index = 0;
      for (;;) {
        let least = index;
        for (const child of [2 * index + 1, 2 * index + 2])
          if (child < heap.length && precedes(at(child), at(least))) least = child;
        if (least === index) return;
        swap(index, least);
        index = least;
      }
    },
    get size() {
      return heap.length;
    },
  };
}
