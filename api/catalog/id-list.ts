/** Ordered ids from which pages are cut; an array is one. */
export interface IdList {
  readonly length: number;
  /** Like `Array.prototype.slice`. */
  slice(from: number, to: number): readonly string[];
  /** All ids as one text with `width` characters per id. */
  readonly fixedWidth?: { readonly text: string; readonly width: number };
}

/** Ids of equal width concatenated in one text: a single object for the garbage collector. */
export const fixedWidthIds = (text: string, width: number): IdList => ({
  length: text.length / width,
  slice: (from, to) =>
    Array.from({ length: Math.max(0, Math.min(to, text.length / width) - from) }, (_, n) =>
      text.slice((from + n) * width, (from + n + 1) * width),
    ),
  fixedWidth: { text, width },
});

/** Encodes ids as one text. Ids contain no blanks. */
export const packIds = (ids: IdList): string =>
  ids.fixedWidth === undefined
    ? `0 ${ids.slice(0, ids.length).join(' ')}`
    : `${ids.fixedWidth.width} ${ids.fixedWidth.text}`;

/** Decodes a text of `packIds`. */
export function unpackIds(text: string): IdList {
  const blank = text.indexOf(' ');
  const width = Number(text.slice(0, blank));
  const rest = text.slice(blank + 1);
  if (width > 0) return fixedWidthIds(rest, width);
  return rest === '' ? [] : rest.split(' ');
}
