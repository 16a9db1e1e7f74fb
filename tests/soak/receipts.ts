import { crc32 } from 'node:zlib';

/** What one subscription received, without the frames themselves. */
export interface Receipts {
  /** An event frame with its seq. */
  event(seq: number, frame: Uint8Array | string): void;
  /** A frame `skipped`: these events will not come. */
  skipped(fromSeq: number, toSeq: number): void;
  readonly first: number | null;
  readonly delivered: number;
  readonly doubled: number;
  readonly outOfOrder: number;
}

export interface Expected {
  readonly seq: number;
  /** Text of the frame in the log. */
  readonly frame: string;
}

export interface Verdict {
  readonly delivered: number;
  readonly lost: number;
  readonly doubled: number;
  readonly outOfOrder: number;
  /** Received though the filters or the log do not contain them. */
  readonly unexpected: number;
  /** Received with another content than the log has. */
  readonly different: number;
  /** Not delivered, as frames `skipped` said. */
  readonly skipped: number;
}

export interface Verifier {
  /** The next event of the log that matches the filters, in log order. */
  expect(event: Expected): void;
  finish(): Verdict;
}

/** Records the events of one subscription, and compares them with the log when it is over. */
export function createReceipts(): Receipts & { verifier(): Verifier } {
  const seqs: number[] = [];
  const checksums: number[] = [];
  const ranges: { readonly from: number; readonly to: number }[] = [];
  let doubled = 0;
  let outOfOrder = 0;

  /** Index of `seq` in the increasing list, -1 if absent. */
  const indexOf = (seq: number): number => {
    let low = 0;
    let high = seqs.length - 1;
    while (low <= high) {
      const middle = (low + high) >> 1;
      const found = seqs[middle] as number;
      if (found === seq) return middle;
      if (found < seq) low = middle + 1;
      else high = middle - 1;
    }
    return -1;
  };

  return {
    event(seq, frame) {
      const last = seqs.at(-1);
      if (last !== undefined && seq <= last) {
        if (indexOf(seq) >= 0) doubled += 1;
        else outOfOrder += 1;
        return;
      }
      seqs.push(seq);
      checksums.push(crc32(frame));
    },
    skipped(from, to) {
      ranges.push({ from, to });
    },
    get first() {
      return seqs[0] ?? null;
    },
    get delivered() {
      return seqs.length;
    },
    get doubled() {
      return doubled;
    },
    get outOfOrder() {
      return outOfOrder;
    },
    verifier() {
      let lost = 0;
      let different = 0;
      let skipped = 0;
      let matched = 0;
      const isSkipped = (seq: number) => ranges.some(({ from, to }) => from <= seq && seq <= to);
      return {
        expect({ seq, frame }) {
          if (seq < (seqs[0] ?? Number.POSITIVE_INFINITY)) return;
          const index = indexOf(seq);
          if (index < 0) {
            if (isSkipped(seq)) skipped += 1;
            else lost += 1;
            return;
          }
          matched += 1;
          if (checksums[index] !== crc32(frame)) different += 1;
        },
        finish: () => ({
          ...{ delivered: seqs.length, lost, doubled, outOfOrder, different, skipped },
          unexpected: seqs.length - matched,
        }),
      };
    },
  };
}
