import type { LiveEvent } from '../hub/live-event.js';

/**
 * The newest events of the stream without a hole, oldest first, bounded by count and by bytes: what snapshots and replays are answered
 * from as far as it reaches.
 */
export interface RecentEvents {
  /** In seq order. */
  push(event: LiveEvent): void;
  readonly size: number;
  /** Position 0 is the oldest. */
  at(position: number): LiveEvent;
  /** Position of the first event with a greater seq; `size` when there is none. */
  positionAfter(seq: number): number;
  /** Every event of the stream with a seq above this is held; -1 while the stream has had none. */
  readonly floorSeq: number;
}

export function createRecentEvents(options: { maxEvents: number; maxBytes: number }): RecentEvents {
  const { maxEvents, maxBytes } = options;
  const slots: (LiveEvent | undefined)[] = [];
  /** Slot of the oldest event. */
  let first = 0;
  let size = 0;
  let bytes = 0;
  let floorSeq = -1;

  const slotOf = (position: number) => (first + position) % maxEvents;
  const at = (position: number) => slots[slotOf(position)] as LiveEvent;
  const evict = () => {
    const event = at(0);
    slots[first] = undefined;
    first = (first + 1) % maxEvents;
    size--;
    bytes -= event.memoryBytes;
    floorSeq = event.seq;
  };

  return {
    push(event) {
      if (floorSeq === -1 && size === 0) floorSeq = event.seq - 1;
      if (size === maxEvents) evict();
      slots[slotOf(size)] = event;
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
