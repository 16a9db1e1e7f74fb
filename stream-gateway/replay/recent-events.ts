import type { LiveEvent } from '../hub/live-event.js';

/**
 * Ring buffer of the newest events of the stream, contiguous, oldest first, bounded by count and bytes. Snapshots and replays read it before the
 * log.
 */
export interface RecentEvents {
  /** Events must be pushed in seq order. */
  push(event: LiveEvent): void;
  readonly size: number;
  /** Position 0 is the oldest. */
  at(position: number): LiveEvent;
  /** Position of the first event with a greater seq; `size` if there is none. */
  positionAfter(seq: number): number;
  /** The buffer has every event of the stream with a greater seq; -1 before the first event. */
  readonly floorSeq: number;
}

export function createRecentEvents(options: { maxEvents: number; maxBytes: number }): RecentEvents {
  const { maxEvents, maxBytes } = options;
  const ring: (LiveEvent | undefined)[] = [];
  /** Ring index of the oldest event. */
  let first = 0;
  let size = 0;
  let bytes = 0;
  let floorSeq = -1;

  const ringIndexOf = (position: number) => (first + position) % maxEvents;
  const at = (position: number) => ring[ringIndexOf(position)] as LiveEvent;
  const evict = () => {
    const event = at(0);
    ring[first] = undefined;
    first = (first + 1) % maxEvents;
    size--;
    bytes -= event.memoryBytes;
    floorSeq = event.seq;
  };

  return {
    push(event) {
      if (floorSeq === -1 && size === 0) floorSeq = event.seq - 1;
      if (size === maxEvents) evict();
      ring[ringIndexOf(size)] = event;
      size++;
      bytes += event.memoryBytes;
      while (bytes > maxBytes && size > 1) evict();
    },
    at,
    get size() {
      return size;
    },
    positionAfter(seq) {
      let low = 0;
      let high = size;
      while (low < high) {
        const middle = (low + high) >>> 1;
        if (at(middle).seq > seq) high = middle;
        else low = middle + 1;
      }
      return low;
    },
    get floorSeq() {
      return floorSeq;
    },
  };
}
