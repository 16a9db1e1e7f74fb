/** What a token last traded at in an hour. */
export interface HourlyClose {
  /** End of the hour, Unix seconds. */
  readonly endS: number;
  /** 1e-6 USD. */
  readonly price: number;
  /** Of the trade: block x 2^20 + log index. */
  readonly place: number;
}

/** Seven bits of a number per byte, the lowest first; the eighth bit says that more follow. */
const VARINT_RADIX = 128;
const MAX_VARINT_BYTES = 8;

/**
 * Closes by their ends, as one text of some nine bytes each: hours and places as steps from the close before, which never fall, as no trade of a later
 * hour stands before one of an earlier hour. Numbers up to 2^53.
 */
export function packCloses(closes: readonly HourlyClose[]): string {
  const bytes = Buffer.allocUnsafe(closes.length * 3 * MAX_VARINT_BYTES);
  let at = 0;
  const put = (number: number) => {
    let rest = number;
    while (rest >= VARINT_RADIX) {
      bytes[at++] = (rest % VARINT_RADIX) + VARINT_RADIX;
      rest = Math.floor(rest / VARINT_RADIX);
    }
    bytes[at++] = rest;
  };
  let [endS, place] = [0, 0];
  for (const close of closes) {
    put(close.endS - endS);
    put(close.price);
    put(Math.max(0, close.place - place));
    ({ endS, place } = close);
  }
  return bytes.toString('latin1', 0, at);
}

/** The closes of a text of `packCloses`, by their ends. */
export function unpackCloses(text: string): HourlyClose[] {
  const closes: HourlyClose[] = [];
  let at = 0;
  const next = (): number => {
    let number = 0;
    for (let scale = 1; ; scale *= VARINT_RADIX) {
      const byte = text.charCodeAt(at++);
      if (byte < VARINT_RADIX) return number + byte * scale;
      number += (byte - VARINT_RADIX) * scale;
    }
  };
  let [endS, place] = [0, 0];
  while (at < text.length) {
    endS += next();
    const price = next();
    place += next();
    closes.push({ endS, price, place });
  }
  return closes;
}
