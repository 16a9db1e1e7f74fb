import type { StreamStatus } from '../../schemas/types.gen.js';

type Newest = Pick<StreamStatus, 'last_event_ms' | 'last_block' | 'last_chain_event_ms' | 'last_tick_ms'>;

/** The newest events of the stream, as its status reports them: by input, since one may lag while the other does not. Times in Unix ms. */
export function createNewestEvents() {
  let newest: Newest = { last_event_ms: null, last_block: null, last_chain_event_ms: null, last_tick_ms: null };
  const later = (one: number | null, other: number) => Math.max(one ?? 0, other);
  return {
    /** Adds an event of the stream by its kind there. */
    add(kind: string, timestampMs: number, blockNumber: number | null): void {
      const source = kind === 'price_feed' ? 'last_tick_ms' : 'last_chain_event_ms';
      newest = {
        ...newest,
        last_event_ms: later(newest.last_event_ms, timestampMs),
        [source]: later(newest[source], timestampMs),
        // The newest one, not the highest: a reorganization starts again at a lower number.
        ...(kind === 'block' ? { last_block: blockNumber } : {}),
      };
    },
    status: () => newest,
  };
}
