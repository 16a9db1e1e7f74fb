/** Last trade of a token in an hour. */
export interface HourlyClose {
  /** End of the hour, Unix seconds. */
  readonly endS: number;
  /** 1e-6 USD. */
  readonly price: number;
  /** Log position of the trade: block x 2^20 + log index. */
  readonly place: number;
}

/** Varint: seven bits per byte, lowest first; the eighth bit is set if more bytes follow. */
const VARINT_RADIX = 128;
const MAX_VARINT_BYTES = 8;

/**
 * Encodes closes in the order of their ends as one text of about nine bytes each. Hours and log positions are encoded as differences to the previous close; both
 * never decrease. Numbers up to 2^53.
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

/** Decodes a text of `packCloses`. */
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
