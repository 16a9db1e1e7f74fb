/** Ids in an order, of which pages are cut; a plain list is one. */
export interface IdList {
  readonly length: number;
  /** As of arrays. */
  slice(from: number, to: number): readonly string[];
}

/** Ids of the same width that stand one after the other in one text: one object for the garbage collector, however many they are. */
export const idsIn = (text: string, width: number): IdList => ({
  length: text.length / width,
  slice: (from, to) =>
    Array.from({ length: Math.max(0, Math.min(to, text.length / width) - from) }, (_, n) =>
      text.slice((from + n) * width, (from + n + 1) * width),
    ),
});
